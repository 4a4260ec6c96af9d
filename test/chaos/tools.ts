import { setTimeout as pause } from "node:timers/promises";
import * as z from "zod";
import { approvalPolicy } from "../../src/config/policy.ts";
import { type ApprovalPolicy } from "../../src/approvals/policy-form.ts";
import { BotError } from "../../src/core/errors.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { defineTool, type Tool, type ToolContext } from "../../src/tools/tool.ts";
import type { Cross } from "./faults.ts";
import type { ToolName } from "./plan.ts";
import { readWitness, type ToolSight, type Witness } from "./witness.ts";

/** What every tool takes: who asked where, and how long it takes to do it and to say so. */
export const input = z.strictObject({
  thread: z.string(),
  name: z.string(),
  ms: z.int(),
  bytes: z.int().default(0),
  note: z.string().default(""),
});
type Input = z.infer<typeof input>;

export interface ToolParts {
  witness: Witness;
  witnessPath: string;
  cross: Cross;
  /** The journal's last entry, on a connection that is not the worker's. */
  lastOf(key: JournalKey): number;
}

/** Tools whose only effect is a line in the witness's file. */
export function witnessTools({ witness, witnessPath, cross, lastOf }: ToolParts): Tool[] {
  function see(what: ToolSight["what"], tool: ToolName, args: Input): void {
    const key = args.thread as JournalKey;
    witness.see({ what, key, tool, name: args.name, args, last: lastOf(key) });
  }

  function write(name: ToolName, changes: Partial<Tool<Input>> = {}): Tool {
    const tool = defineTool<Input>({
      name,
      description: "Changes the world by one line.",
      input,
      effect: "write",
      timeoutMs: 10_000,
      preview: async (args) => ({
        lines: [{ label: "Name", value: args.name }],
        blastRadius: "one line",
        undo: "none",
      }),
      async run(args, ctx) {
        see("begin", name, args);
        cross("tool:begin");
        await work(args.ms, ctx);
        cross("tool:before-effect");
        see("effect", name, args);
        cross("tool:after-effect");
        await work(args.ms, ctx);
        see("end", name, args);
        cross("tool:end");
        return { text: `did ${args.name}` };
      },
      ...changes,
    });
    return tool;
  }

  function read(name: ToolName, enter: (args: Input) => void): Tool {
    const tool = defineTool<Input>({
      name,
      description: "Looks at the world.",
      input,
      effect: "read",
      timeoutMs: 10_000,
      async run(args, ctx) {
        enter(args);
        cross("read:begin");
        await work(args.ms, ctx);
        cross("read:end");
        return { text: `saw ${args.name} ${"x".repeat(args.bytes)}` };
      },
    });
    return tool;
  }

  const sights = () => {
    const reader = readWitness(witnessPath);
    const lines = reader.more();
    reader.close();
    return lines;
  };
  const poison = () => {
    const deaths = sights().filter((line) => line.what === "trap" && line.point === POISON).length;
    if (deaths >= POISON_DOSES) return;
    witness.see({ what: "trap", point: POISON, signal: "SIGKILL" });
    process.kill(process.pid, "SIGKILL");
  };

  const question = defineTool<Input>({
    name: "ask",
    description: "Asks people whether to go on.",
    input,
    effect: "read",
    timeoutMs: 1_000,
    question: ({ note }) => ({ text: note, choices: ["yes", "no"] }),
    run: () => Promise.reject(new Error("a question is not run")),
  });

  return [
    read("look", () => {}),
    read("poison", poison),
    question,
    write("act"),
    write("nudge"),
    write("brief"),
    write("banned"),
    write("wreck", {
      effect: "destructive",
      async verify(args) {
        cross("verify:begin");
        const done = sights().some((line) => line.what === "effect" && line.name === args.name);
        cross("verify:end");
        return { verdict: done ? "done" : "not done", evidence: done ? "a line" : "no line" };
      },
    }),
  ];
}

/** Where the poisoned read kills its worker, the first two times that it is run. */
export const POISON = "poison";
const POISON_DOSES = 2;

async function work(ms: number, { signal }: ToolContext): Promise<void> {
  try {
    await pause(ms, undefined, { signal });
  } catch (error) {
    throw new BotError("ABORTED", "It was cut.", { cause: error });
  }
}

/** `brief` expires after this time, which no configuration can say: its shortest is a minute. */
const BRIEF_MS = 600;

/** Writes and destructive calls ask, as built in; the exceptions here are what `invariants.ts` expects. */
export function chaosPolicy(): ApprovalPolicy {
  const policy = approvalPolicy.parse({
    rules: [
      { match: { tool: "nudge" }, decide: "allow" },
      { match: { tool: "banned" }, decide: "deny" },
      { match: { tool: "wreck" }, decide: "ask", quorum: 2 },
      { match: { tool: "brief" }, decide: "ask", expiresInMinutes: 1 },
    ],
  });
  const rules = policy.rules.map((rule) =>
    rule.expiresInMinutes === undefined ? rule : { ...rule, expiresInMinutes: BRIEF_MS / 60_000 },
  );
  return { ...policy, rules };
}
