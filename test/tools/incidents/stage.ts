import { onTestFinished } from "vitest";
import { readText } from "../../../src/commands/grammar.ts";
import { encodeText } from "../../../src/security/sanitize.ts";
import type { JsonObject } from "../../../src/core/entry.ts";
import { createRedactor } from "../../../src/security/redaction.ts";
import { createLedger } from "../../fakes/ledger.ts";
import { openMemoryJournal } from "../../fakes/memory-journal.ts";
import { readArguments } from "../../../src/tools/arguments.ts";
import { createDispatcher } from "../../../src/tools/dispatch.ts";
import { createTools } from "../../../src/tools/registry.ts";
import type { Asker } from "../../../src/tools/tool.ts";
import { encoderOf } from "../../fakes/encoder.ts";
import { noWorld } from "../../fakes/tool-context.ts";

const ID = /inc-\d{8}-[a-z2-7]{4}/;

/** The tools as a worker runs them, over a store in memory; the clock starts on Friday 2026-11-20, 13:00 in Madrid. */
export async function createStage() {
  const clock = { now: Date.parse("2026-11-20T12:00:00Z") };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const encode = (text: string) => encodeText(text, createRedactor([]));
  const ledger = createLedger(journal, encode);
  const nowhere = () => Promise.reject(new Error("no such thing on this stage"));
  const kept = new Map<string, Uint8Array>();
  const keep = async (bytes: Uint8Array) => {
    const id = `f${kept.size + 1}`;
    kept.set(id, bytes);
    return { id, bytes: bytes.byteLength };
  };
  const tools = await createTools({}, { ledger: () => ledger });
  const dispatcher = createDispatcher({
    host: "stage",
    tools,
    ...noWorld,
    encoder: encoderOf(encode),
  });
  const { signal } = new AbortController();
  let calls = 0;
  const asker = (changes: Partial<Asker> = {}): Asker => ({
    key: "test:thread",
    call: `r${++calls}.t1`,
    account: "test:ana",
    person: "ana",
    name: "Ana",
    timezone: async () => "Europe/Madrid",
    audience: async () => undefined,
    tenants: async () => ["test"],
    outside: async () => false,
    link: "https://chat.example/C1/p1",
    ...changes,
  });
  async function run(tool: string, args: JsonObject, from = asker()) {
    const prepared = await dispatcher.prepare(tool, args, signal);
    const options = { signal, startedAt: clock.now, keep, artifact: nowhere, asker: from };
    return dispatcher.run(tool, prepared.args, options);
  }
  /** What a person's command comes to, from its text to the text of the answer. */
  async function say(text: string, changes: Partial<Asker> = {}): Promise<string> {
    const reading = readText(text);
    if (reading.kind !== "command" || reading.command.name !== "run") {
      throw new Error(`${text} is no call: ${JSON.stringify(reading)}`);
    }
    const { command } = reading;
    const tool = tools.find(({ name }) => name === command.tool);
    if (tool === undefined) throw new Error(`no tool ${command.tool}`);
    const read = readArguments(tool, command.args);
    if (!read.ok) return read.problem;
    const { outcome, text: said } = await run(tool.name, read.args, asker(changes));
    return outcome === "ok" ? said : `${outcome}: ${said}`;
  }
  return { clock, kept, ledger, dispatcher, tools, signal, asker, run, say };
}

export const idIn = (text: string) => ID.exec(text)?.[0] ?? "no id";
