import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createDispatcher } from "../../src/tools/dispatch.ts";
import { defineTool, type Tool, type ToolContext } from "../../src/tools/tool.ts";
import { ASKER } from "../fakes/asker.ts";
import { nothingHeld } from "../fakes/encoder.ts";

const input = z.strictObject({ name: z.string(), host: z.string().optional() });
type Changes = Partial<Tool<z.infer<typeof input>>>;
type Permit = (args: object) => Promise<string | undefined>;

/** Calls a tool that tries what the test says, with a program and a connection at hand. */
function stage(changes: Changes) {
  const tool = defineTool({
    name: "act",
    description: "For tests.",
    input,
    effect: "read",
    timeoutMs: 5_000,
    run: async () => ({ text: "" }),
    ...changes,
  });
  const dispatcher = createDispatcher({
    host: "stage",
    tools: [tool],
    exec: async () => ({
      exitCode: 0,
      signal: undefined,
      stdout: "ran",
      stderr: "",
      droppedBytes: 0,
    }),
    network: {
      dial: () => Promise.reject(new Error("dialed")),
      dialSocket: () => Promise.reject(new Error("dialed")),
      resolve: async (name) => [`address of ${name}`],
    },
    encoder: nothingHeld,
  });
  const { signal } = new AbortController();
  const nowhere = () => Promise.reject(new Error("there are no artifacts here"));
  const options = { signal, startedAt: 0, asker: ASKER, keep: nowhere, artifact: nowhere };
  return async (name = "web", permit?: Permit) => {
    const { args } = await dispatcher.prepare("act", { name }, signal);
    return dispatcher.run("act", args, permit === undefined ? options : { ...options, permit });
  };
}

const ran = async (ctx: ToolContext) => (await ctx.exec(["df"])).stdout;
const dialed = (host: string, ctx: ToolContext) => ctx.dial(host, 443).then(String, String);
const kinds = { name: "url" } as const;

describe("a tool that does not declare what it uses", () => {
  test("runs no program unless it is bound to a machine, nor looks with one before it is run", async () => {
    const run: Changes["run"] = async (_, ctx) => ({ text: await ran(ctx) });
    const refused = "act runs programs and is not declared hostBound.";
    expect(await stage({ run })()).toMatchObject({ outcome: "error", text: refused });
    expect((await stage({ run, hostBound: true })()).text).toBe("stage · ran");
    await expect(stage({ precheck: async (_, ctx) => void (await ran(ctx)) })()).rejects.toThrow(
      refused,
    );
  });

  test.each([
    ["https://web.test/x", "web.test", true],
    ["https://WEB.test:444/x", "web.test.", true],
    ["http://[::1]/", "[::1]", true],
    ["http://0x7f.1/", "127.0.0.1", true],
    ["https://web.test/x", "evil.test", false],
    ["https://web.test/?u=evil.test", "evil.test", false],
    ["https://web.test/x", "a.web.test", false],
    ["no url", "no url", false],
  ])("with %s connects to %s: %s", async (name, host, may) => {
    const run: Changes["run"] = async (_, ctx) => ({ text: await dialed(host, ctx) });
    const { text } = await stage({ kinds, run })(name);
    expect(text).toMatch(may ? /^Error: dialed$/ : /^TypeError: act connects to/);
    expect((await stage({ run })(name)).text).toMatch(/^TypeError: act connects to/);
  });

  test("connects elsewhere only once it was permitted to go on there", async () => {
    const run: Changes["run"] = async (_, ctx) => {
      const refusal = await ctx.permit({ name: "https://next.test/" });
      return { text: `${refusal} ${await dialed("next.test", ctx)}` };
    };
    const call = stage({ kinds, run });
    const from = "https://web.test/";
    expect((await call(from, async () => undefined)).text).toBe("undefined Error: dialed");
    expect((await call(from, async () => "no")).text).toMatch(/^no TypeError/);
  });
});
