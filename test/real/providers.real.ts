import { randomUUID } from "node:crypto";
import { PassThrough } from "node:stream";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAsk, readQuestion } from "../../src/adapters/terminal/ask.ts";
import { assemble } from "../../src/app/assemble.ts";
import { loadConfig } from "../../src/config/config.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { collect, type Ended, Program } from "../fakes/program.ts";
import { type Answers, startProvider, type Wire, WIRES } from "../fakes/provider.ts";

/** A provider that has a bad day, and a program that is configured for it. */
async function begin(wire: Wire, answers: Answers, cuts = 0) {
  const provider = await startProvider(wire, answers, cuts);
  onTestFinished(() => provider.stop());
  const program = new Program({ ...provider.env, LOG_LEVEL: "error" });
  onTestFinished(() => program.remove());
  return { provider, program, env: { ...provider.env, DATA_DIR: program.folder } };
}

/** What `ask` prints and ends with, all of the program but for its process. */
async function ask(
  env: Record<string, string>,
  text: string,
  { json = true } = {},
): Promise<Omit<Ended, "err">> {
  const config = await loadConfig(env, { cwd: env["DATA_DIR"] ?? "" });
  const bot = await assemble(config, pino({ level: "silent" }), { local: true });
  const key: JournalKey = `terminal:${randomUUID()}`;
  const me = { account: "terminal:ana", name: "ana" };
  const [out, err] = [new PassThrough(), Object.assign(new PassThrough(), { columns: 80 })];
  const said = collect(out);
  const view = createAsk({
    key,
    queries: bot.queries,
    ...me,
    out,
    err,
    json,
    color: false,
    now: Date.now,
  });
  bot.start(view);
  try {
    await bot.inbox.post(key, randomUUID(), await readQuestion(text, me, config.dataDir));
    return { code: await view.finished, out: said() };
  } finally {
    await bot.stop();
  }
}

/** No skill's checks fit it: the model alone answers. */
const QUESTION = "what do you make of it?";

const looks: Answers = ({ results }) =>
  results === 0
    ? { toolCalls: [{ id: "call_1", name: "disk_usage", arguments: "{}" }] }
    : { content: "CONFIRMED: the disks have room [T1]." };

const overloaded = {
  error: { message: "Overloaded", type: "overloaded_error", code: "overloaded" },
  status: 529,
};

describe.each(Object.entries(WIRES))("a provider behind %s", (_, wire) => {
  // As a user starts it. What follows is the same without a process of its own.
  test("that is overloaded twice and then answers is asked again, and nobody notices", async () => {
    const answers: Answers = (request) => (request.n < 2 ? overloaded : looks(request));
    const { provider, program } = await begin(wire, answers);
    const { code, out } = await program.run(["ask", "--json", QUESTION]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      status: "completed",
      text: "CONFIRMED: the disks have room [T1].",
      results: [{ tool: "disk_usage", outcome: "ok" }],
      spent: { steps: 2 },
    });
    expect(provider.requests).toHaveLength(4);
  });

  test("whose response is cut off is asked again, and nothing of the first half is used", async () => {
    const { provider, env } = await begin(wire, looks, 1);
    const { code, out } = await ask(env, QUESTION);
    expect(code).toBe(0);
    const { results } = JSON.parse(out) as { results: object[] };
    expect(results).toHaveLength(1);
    expect(provider.requests).toHaveLength(3);
  });

  test("that goes down half-way is given up after three tries, and what was found is told with what to do", async () => {
    const answers: Answers = (request) => (request.results === 0 ? looks(request) : overloaded);
    const { provider, env } = await begin(wire, answers);
    const { code, out } = await ask(env, QUESTION);
    expect(code).toBe(1);
    const { status, text } = JSON.parse(out) as { status: string; text: string };
    expect(status).toBe("failed");
    expect(text).toMatch(/overloaded[^]*tried 3 times[^]*\[T1\] disk_usage: ok[^]*write again/i);
    expect(provider.requests).toHaveLength(4);
  });

  test("that refuses the key is not asked twice, and direct commands go on working", async () => {
    const { provider, env } = await begin(wire, () => ({
      error: {
        message: "invalid x-api-key",
        type: "authentication_error",
        code: "invalid_api_key",
      },
      status: 401,
    }));
    const { code, out } = await ask(env, QUESTION);
    expect(code).toBe(1);
    expect((JSON.parse(out) as { text: string }).text).toMatch(/key/i);
    expect(provider.requests).toHaveLength(1);
    expect(await ask(env, "run disk_usage")).toMatchObject({ code: 0 });
  });

  test("that is not there at all says so within two minutes, and what works without it", async () => {
    const { provider, env } = await begin(wire, looks);
    await provider.stop();
    const { code, out } = await ask(env, QUESTION, { json: false });
    expect(code).toBe(1);
    expect(out).toMatch(/couldn't reach[^]*tried 3 times[^]*commands work without the AI/);
  });
});
