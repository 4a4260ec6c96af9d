import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { BotError, messageOf } from "../../core/errors.ts";
import { counted } from "../../core/text.ts";
import {
  type CliCommand,
  type CommandInput,
  EXIT,
  printLines,
  textOption,
  withStore,
} from "./command.ts";

export const incidents: CliCommand = {
  name: "incidents",
  forms: {
    'incidents export <id>… | --period "last month" [--format markdown|jsonl]':
      "records of incidents as Markdown, or whole as JSON lines, one each",
    "incidents import <file>":
      "takes over the records of such JSON lines, each whole;\nnothing where a line is wrong, and nothing twice",
  },
  options: { period: "text", format: "text" },
  words: { min: 1, max: 10_000 },
  run(input) {
    const [verb] = input.words;
    if (verb === "export") return exportThem(input);
    if (verb === "import") return importThem(input);
    throw new BotError("USAGE", "incidents: expected incidents export or incidents import");
  },
};

const FORMATS = ["markdown", "jsonl"] as const;

async function exportThem(input: CommandInput): Promise<number> {
  const { config, words } = input;
  const [, ...named] = words;
  const period = textOption(input, "period");
  const written = textOption(input, "format") ?? "markdown";
  const format = FORMATS.find((each) => each === written);
  if (format === undefined) throw new BotError("USAGE", "--format takes markdown or jsonl.");
  if (named.length > 0 === (period !== undefined))
    throw new BotError("USAGE", 'incidents export takes ids, or --period "last month".');
  const zone = config.timezone ?? "UTC";
  const [{ recordMarkdown }, { readPeriod }, { idsIn, lineOf, recordsOf }] = await Promise.all([
    import("../../incidents/markdown.ts"),
    import("../../incidents/period.ts"),
    import("../../incidents/transfer.ts"),
  ]);
  const asked =
    period === undefined ? undefined : await readPeriod(period, { zone, now: Date.now() });
  await withStore(config, async (journal) => {
    const ids = asked === undefined ? [...new Set(named)] : await idsIn(journal, asked);
    const records = await recordsOf(journal, ids);
    await printLines(
      records.map((record, i) => {
        if (format === "jsonl") return lineOf(record);
        return `${i === 0 ? "" : "\n---\n\n"}${recordMarkdown(record.incident, zone)}`;
      }),
    );
  });
  return EXIT.answered;
}

async function importThem({ config, folder, words, options }: CommandInput): Promise<number> {
  const [, file = "", ...more] = words;
  const isMore = more.length > 0 || Object.keys(options).length > 0;
  if (file === "" || isMore)
    throw new BotError("USAGE", "incidents import takes one file of JSON lines.");
  const text = readText(resolve(folder, file));
  const [{ importRecords }, { createEncoder }, { chosenStore }] = await Promise.all([
    import("../../incidents/transfer.ts"),
    import("../../security/encoder.ts"),
    import("../../journal/stores.ts"),
  ]);
  const { encode } = createEncoder(config.secrets);
  const journal = await chosenStore(config.values).open();
  try {
    const done = await importRecords(journal, encode, text, Date.now());
    if (done.kind === "wrong") {
      const lines = done.wrong.map(({ line, problem }) => `line ${line}: ${encode(problem)}`);
      await printLines([...lines, "Nothing was imported."]);
      return EXIT.failed;
    }
    const { written, known } = done;
    const there = known.length === 0 ? "" : `; ${known.length} there already`;
    await printLines([...written, `Imported ${counted(written.length, "incident")}${there}.`]);
    return EXIT.answered;
  } finally {
    await journal.close();
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new BotError("USAGE", `${path} could not be read: ${messageOf(error)}`, { cause: error });
  }
}
