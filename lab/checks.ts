import { randomUUID } from "node:crypto";
import { Writable } from "node:stream";
import { createAsk } from "../src/adapters/terminal/ask.ts";
import { assemble } from "../src/app/assemble.ts";
import { account, createLogger, logFile } from "../src/app/process.ts";
import { loadConfig } from "../src/config/config.ts";

/**
 * `node lab/checks.ts "<question>"` asks the whole program without a model, as `ask --json` does, and prints what it answered and how
 * soon, as JSON.
 */
export interface Looked {
  /** By their names, as the answer names them. */
  skills: string[];
  /** What is said to be the cause, the likeliest first, each as people read it. */
  causes: string[];
  /** The whole answer. */
  text: string;
  /** Until the first call that found something came back; undefined: none did. */
  firstMs: number | undefined;
  allMs: number;
}

/** The JSON that `ask` prints, as far as it is read here. */
interface Printed {
  text: string | null;
  results: { call: string; findings: unknown[] }[];
}

async function lookInto(question: string): Promise<Looked> {
  const config = await loadConfig(process.env);
  const bot = await assemble(config, createLogger(config, logFile(config)), { local: true });
  const key = `terminal:${randomUUID()}` as const;
  const printed: string[] = [];
  const ended = new Map<string, number>();
  const ask = createAsk({
    key,
    queries: bot.queries,
    ...account(),
    out: collect(printed),
    err: collect([]),
    json: true,
    color: false,
    now: Date.now,
  });
  bot.start({
    ...ask,
    view(wanted) {
      const view = ask.view(wanted);
      return (
        view && {
          ...view,
          progress(update) {
            if (update.kind === "tool_finished") ended.set(update.call, performance.now());
            view.progress(update);
          },
        }
      );
    },
  });
  try {
    const began = performance.now();
    await bot.inbox.post(key, randomUUID(), { kind: "text", actor: account(), text: question });
    await ask.finished;
    const allMs = performance.now() - began;
    const { text, results }: Printed = JSON.parse(printed.join(""));
    const found = results.filter(({ findings }) => findings.length > 0);
    const times = found.flatMap(({ call }) => ended.get(call) ?? []);
    const firstMs = times.length === 0 ? undefined : Math.min(...times) - began;
    return { ...readAnswer(text ?? ""), firstMs, allMs };
  } finally {
    await bot.stop();
  }
}

/** The cause and the rows below it; what is only seen beside it has a head of its own. */
function readAnswer(text: string): Pick<Looked, "skills" | "causes" | "text"> {
  const [first = "", rows = ""] = text.split("\n\n");
  const [, cause] = /^\*\*LIKELY: (.*)\*\*/.exec(first) ?? [];
  const more = rows.startsWith("- ") ? rows.split("\n").map((row) => row.slice(2)) : [];
  const mark = text.split("\n").findLast((line) => line.startsWith("_Without a model")) ?? "";
  return {
    text,
    causes: cause === undefined ? [] : [cause, ...more],
    skills: [...mark.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  };
}

function collect(into: string[]): Writable & { columns?: number } {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      into.push(chunk.toString());
      done();
    },
  });
}

const looked = await lookInto(process.argv.slice(2).join(" "));
process.stdout.write(JSON.stringify(looked), () => process.exit());
