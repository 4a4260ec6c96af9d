import { type CliCommand, EXIT, printLines } from "./command.ts";

const MARKS = { ok: "ok     ", absent: "–      ", broken: "BROKEN " };

export const doctor: CliCommand = {
  name: "doctor",
  forms: [{ form: "npm start -s -- doctor", about: "what works here and what does not" }],
  async run({ config, envFile }) {
    const { pino } = await import("pino");
    const { loadModel } = await import("../../models/load.ts");
    const { loadPlatforms } = await import("../platforms.ts");
    const { readStore, storeName } = await import("../store.ts");
    const { loadToolset } = await import("../toolset.ts");
    const { examine } = await import("./examine.ts");
    const { id } = config.model;
    let isBroken = false;
    const parts = {
      nodeVersion: process.version,
      envFile,
      storeName: storeName(config),
      warnings: config.warnings,
      openJournal: (warn: (text: string) => void) => readStore(config, warn),
      loadModel: id === undefined ? undefined : () => loadModel(id, config.model),
      platforms: await loadPlatforms(config, pino({ level: "silent" })),
      ...(await loadToolset(config)),
    };
    async function* lines(): AsyncIterable<string> {
      for await (const { state, subject, text } of examine(parts)) {
        isBroken ||= state === "broken";
        yield `${MARKS[state]}${subject.padEnd(16)} ${text}`;
      }
    }
    await printLines(lines());
    return isBroken ? EXIT.failed : EXIT.answered;
  },
};
