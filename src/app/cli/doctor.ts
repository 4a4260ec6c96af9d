import { type CliCommand, EXIT, printLines } from "./command.ts";

const MARKS = { ok: "ok     ", absent: "–      ", broken: "BROKEN " };

export const doctor: CliCommand = {
  name: "doctor",
  forms: {
    doctor: "what works here and what does not",
  },
  async run(input) {
    const { examine } = await import("./examine.ts");
    let isBroken = false;
    async function* lines(): AsyncIterable<string> {
      for await (const { state, subject, text } of examine(input)) {
        isBroken ||= state === "broken";
        yield `${MARKS[state]}${subject.padEnd(16)} ${text}`;
      }
    }
    await printLines(lines());
    return isBroken ? EXIT.failed : EXIT.answered;
  },
};
