import { afterEach, describe, expect, test } from "vitest";
import { Program } from "./fakes/program.ts";
import { type Answers, type Provider, startProvider, type Wire, WIRES } from "./fakes/provider.ts";

/** The program as a user starts it, on a provider that has a bad day. Each test starts processes of their own. */
const TIMEOUT_MS = 30_000;

let provider: Provider | undefined;
let program: Program | undefined;
afterEach(async () => {
  program?.remove();
  await provider?.stop();
});

async function ask(wire: Wire, answers: Answers, cuts = 0) {
  provider = await startProvider(wire, answers, cuts);
  program = new Program({ ...provider.env, LOG_LEVEL: "error" });
  return program.run(["ask", "--json", "how full are the disks?"]);
}

const looks: Answers = ({ results }) =>
  results === 0
    ? { toolCalls: [{ id: "call_1", name: "disk_usage", arguments: "{}" }] }
    : { content: "CONFIRMED: the disks have room [T1]." };

const overloaded = {
  error: { message: "Overloaded", type: "overloaded_error", code: "overloaded" },
  status: 529,
};

describe.each(Object.entries(WIRES))("a provider behind %s", (_, wire) => {
  test(
    "that is overloaded twice and then answers is asked again, and nobody notices",
    async () => {
      const { code, out } = await ask(wire, (request) =>
        request.n < 2 ? overloaded : looks(request),
      );
      expect(code).toBe(0);
      expect(JSON.parse(out)).toMatchObject({
        status: "completed",
        text: "CONFIRMED: the disks have room [T1].",
        results: [{ tool: "disk_usage", outcome: "ok" }],
        spent: { steps: 2 },
      });
      expect(provider?.requests).toHaveLength(4);
    },
    TIMEOUT_MS,
  );

  test(
    "whose response is cut off is asked again, and nothing of the first half is used",
    async () => {
      const { code, out } = await ask(wire, looks, 1);
      expect(code).toBe(0);
      const { results } = JSON.parse(out) as { results: object[] };
      expect(results).toHaveLength(1);
      expect(provider?.requests).toHaveLength(3);
    },
    TIMEOUT_MS,
  );

  test(
    "that goes down half-way is given up after three tries, and what was found is told with what to do",
    async () => {
      const { code, out } = await ask(wire, (request) =>
        request.results === 0 ? looks(request) : overloaded,
      );
      expect(code).toBe(1);
      const { status, text } = JSON.parse(out) as { status: string; text: string };
      expect(status).toBe("failed");
      expect(text).toMatch(/overloaded[^]*Tried 3 times[^]*\[T1\] disk_usage: ok[^]*write again/i);
      expect(provider?.requests).toHaveLength(4);
    },
    TIMEOUT_MS,
  );

  test(
    "that refuses the key is not asked twice, and direct commands go on working",
    async () => {
      const { code, out } = await ask(wire, () => ({
        error: {
          message: "invalid x-api-key",
          type: "authentication_error",
          code: "invalid_api_key",
        },
        status: 401,
      }));
      expect(code).toBe(1);
      expect((JSON.parse(out) as { text: string }).text).toMatch(/key/i);
      expect(provider?.requests).toHaveLength(1);
      const direct = await program?.run(["ask", "run disk_usage"]);
      expect(direct?.code).toBe(0);
    },
    TIMEOUT_MS,
  );

  test(
    "that is not there at all says so within two minutes, and what works without it",
    async () => {
      provider = await startProvider(wire, looks);
      const { env } = provider;
      await provider.stop();
      program = new Program({ ...env, LOG_LEVEL: "error" });
      const { code, out } = await program.run(["ask", "why is it slow?"]);
      provider = undefined;
      expect(code).toBe(1);
      expect(out).toMatch(/could not be reached[^]*Tried 3 times[^]*[Dd]irect commands/);
    },
    TIMEOUT_MS,
  );
});
