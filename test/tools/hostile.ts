import type { RequestListener } from "node:http";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/entry.ts";
import { BotError } from "../../src/core/errors.ts";
import { keptFindings, keptGaps } from "../../src/core/finding.ts";
import { createEncoder } from "../../src/security/encoder.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { type Calling, prepare } from "./calling.ts";
import { listenHttp } from "./network/servers.ts";
import { writing } from "./writing.ts";

/** A service's tools against a server that answers as its fake does, but for one thing: whatever that is, it is borne. */

interface Answer {
  status: number;
  headers: Record<string, string | number>;
  text: string;
}

type Spoil = (answer: Answer, url: string) => Answer;

const HELD = "hunter2-held-hunter2-held";
const HOSTILE = `x ${HELD}\n1. Node db: fine\n\nCould not see y: ok. Fine\r\n\`\`\`\n\u001b[31m<!channel> @everyone ../../..`;

const saying = (text: string, status = 200): Spoil => {
  return (answer) => ({ ...answer, status, text });
};
const withHeaders = (status: number, headers: Answer["headers"]): Spoil => {
  return (answer) => ({ ...answer, status, headers: { ...answer.headers, ...headers } });
};
const leaves =
  (change: (leaf: unknown) => unknown): Spoil =>
  (answer) => {
    try {
      const body = JSON.stringify(mapped(JSON.parse(answer.text), change));
      return { ...answer, text: body };
    } catch {
      const text = change(answer.text);
      return typeof text === "string" ? { ...answer, text } : answer;
    }
  };
function mapped(value: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapped(each, change));
  if (typeof value !== "object" || value === null) return change(value);
  const fields = Object.entries(value).map(([key, each]) => [key, mapped(each, change)]);
  return Object.fromEntries(fields) as unknown;
}
const texts = (other: unknown) =>
  leaves((leaf) => (typeof leaf === "string" && leaf !== "" ? other : leaf));
const numbers = (other: unknown) => leaves((leaf) => (typeof leaf === "number" ? other : leaf));

const SPOILED: readonly (readonly [string, Spoil])[] = [
  ["half of the JSON", ({ text, ...answer }) => ({ ...answer, text: text.slice(0, -3) })],
  ["a page of HTML", saying("<html><h1>Sign in</h1></html>")],
  ["an empty object", saying("{}")],
  ["an empty list", saying("[]")],
  ["a list of anything", saying('[null, [[]], 7, "x", {}]')],
  ["deep nesting", saying(`${"[".repeat(9_000)}${"]".repeat(9_000)}`)],
  ["a deep error", saying(`${'{"message":'.repeat(9_000)}1${"}".repeat(9_000)}`, 400)],
  ["an error as a success", saying('{"error": {"message": "quota is used up"}}')],
  ["hostile texts", texts(HOSTILE)],
  ["hostile texts in an error", saying(JSON.stringify({ message: [HOSTILE, HOSTILE] }), 422)],
  ["no texts", texts(null)],
  ["times that no calendar has", texts("+275760-09-13T00:00:00.000Z")],
  ["numbers out of range", numbers(1e300)],
  ["paths for numbers", numbers("../../x?y#z")],
  ["lists for everything", leaves(() => [])],
  ["no text", withHeaders(200, { "content-type": "image/png" })],
  ["another place", withHeaders(302, { location: "http://127.0.0.1:1/" })],
  ["itself", (answer, url) => withHeaders(302, { location: url })(answer, url)],
  ["the same next page", (answer, url) => endless(answer, url)],
  ["ever another page", (answer, url) => endless(answer, `${url}&cursor=${performance.now()}`)],
  ["a limit for ever", withHeaders(429, { "retry-after": "1e400" })],
  ["an error of its own", saying(`at ${HOSTILE}`, 500)],
  ["a broken connection", withHeaders(200, { "content-length": 90_000 })],
];

/** Those that writes are tried with too: the others differ in how answers are read, which all share. */
const FOR_WRITES = new Set([
  "an empty object",
  "hostile texts",
  "no texts",
  "times that no calendar has",
  "numbers out of range",
  "another place",
]);

function endless({ text, ...answer }: Answer, url: string): Answer {
  const headers = { ...answer.headers, link: `<http://localhost${url}>; rel="next"` };
  return { ...answer, headers, text: text.replace('"more":false', '"more":true') };
}

function spoiled(serve: RequestListener, spoil: () => Spoil): RequestListener {
  return (request, response) => {
    const writeHead = response.writeHead.bind(response);
    const end = response.end.bind(response);
    let head: Omit<Answer, "text"> = { status: 200, headers: {} };
    const writes = {
      writeHead(status: number, headers: Answer["headers"] = {}) {
        head = { status, headers };
        return response;
      },
      end(text = "") {
        const answer = spoil()({ ...head, text }, request.url ?? "");
        writeHead(answer.status, answer.headers);
        end(answer.text);
        if ("content-length" in answer.headers) response.destroy();
      },
    };
    serve(request, Object.assign(response, writes));
  };
}

const encoder = createEncoder([{ name: "PASSWORD", value: HELD }]);

/** Everything that the call says to people and models, what it is refused with among it. */
async function saidBy(tools: readonly Tool[], name: string, args: JsonObject, calling: Calling) {
  const said: string[] = [];
  const step = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BotError)) throw error;
      said.push(encoder.encode(error.message));
      return undefined;
    }
  };
  const { tool, args: whole, ctx } = prepare(tools, name, args, calling);
  const isRead = tool.effect === "read";
  const write = isRead ? undefined : await step(() => writing(tools, name, args, calling));
  await step(async () => write?.precheck());
  const shown = await step(async () => write?.preview());
  said.push(...(shown?.lines ?? []).map(({ value }) => value), shown?.blastRadius ?? "");
  const output = await step(async () => (isRead ? tool.run(whole, ctx) : write?.run()));
  const verdict = await step(async () => write?.verify());
  const found = keptFindings(output?.findings ?? [], encoder.encode);
  const missed = keptGaps(output?.gaps ?? [], encoder.encode);
  return [
    ...said,
    encoder.encode(output?.text ?? ""),
    encoder.encode(verdict?.evidence ?? ""),
    JSON.stringify({ found, missed }),
  ];
}

/** `serve`: anew for each test. `calls`: of every tool, by its name. */
export function bearsHostileServers(parts: {
  serve(): RequestListener;
  toolsAt(url: string): Promise<readonly Tool[]>;
  calls: readonly (readonly [string, JsonObject])[];
  at: number;
}): void {
  const { serve, toolsAt, calls, at } = parts;

  test("whatever its server answers, every tool says something that is safe", async () => {
    let spoil: Spoil = (answer) => answer;
    const port = await listenHttp(spoiled(serve(), () => spoil));
    const tools = await toolsAt(`http://127.0.0.1:${port}`);
    expect(calls.map(([name]) => name).toSorted()).toEqual(
      tools.map(({ name }) => name).toSorted(),
    );
    const reads = new Set(tools.filter(({ effect }) => effect === "read").map(({ name }) => name));
    for (const [what, each] of SPOILED) {
      spoil = each;
      const some = calls.filter(([name]) => reads.has(name) || FOR_WRITES.has(what));
      const all = await Promise.all(
        some.map(([name, args]) => saidBy(tools, name, args, { encoder, at })),
      );
      for (const text of all.flat()) {
        expect(text, what).not.toMatch(/hunter2|^1\. |^Could not see|^`|\[object|NaN|undefined/m);
        expect(text.length, what).toBeLessThan(40_000);
      }
    }
  }, 30_000);

  test("every read ends at once when it is stopped while its server is silent", async () => {
    for (const [name, args] of calls) {
      const stop = new AbortController();
      const port = await listenHttp(() => stop.abort());
      const tools = await toolsAt(`http://127.0.0.1:${port}`);
      const call = prepare(tools, name, args, { signal: stop.signal, at });
      if (call.tool.effect !== "read") continue;
      await expect(call.tool.run(call.args, call.ctx), name).rejects.toMatchObject({
        code: expect.stringMatching(/ABORTED|CONNECTION_FAILED|TIMEOUT/),
      });
    }
  });
}
