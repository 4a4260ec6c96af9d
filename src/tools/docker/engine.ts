import { BotError, messageOf } from "../../core/errors.ts";
import { noSuch } from "../../core/suggest.ts";
import { oneLine } from "../../core/text.ts";
import { isRecord, type Item, recordsOf, textOf, tryParse, wordOf } from "../decode.ts";
import type { Endpoint, HttpResponse } from "../http.ts";
import { instanceOf } from "../instances.ts";
import { clip } from "../labels.ts";
import { Refusal } from "../refusal.ts";
import { type Params, withQuery } from "../rest.ts";
import type { ToolContext } from "../tool.ts";

/** What is asked of the Docker Engine API, and how its answers are read. */

export type Endpoints = Readonly<Record<string, Endpoint>>;

/** The newest form of the API that these tools were written for; an engine speaks that or an older one. */
const NEWEST = [1, 47] as const;
/** `docker stop` gives a container this long before it is killed. */
export const GRACE_S = 10;
const MAX_BYTES = 4 * 1024 * 1024;

export type Engine = Awaited<ReturnType<typeof openEngine>>;

/** @throws BotError CONNECTION_FAILED; Refusal */
export async function openEngine(
  endpoints: Endpoints,
  input: { instance?: string | undefined },
  ctx: ToolContext,
) {
  const endpoint = instanceOf(input, endpoints);
  const about = await ask("version");
  const api = versionFor(about);

  async function request(url: string, maxBytes = MAX_BYTES): Promise<HttpResponse> {
    const response = await ctx.http({ endpoint, url, maxBytes });
    if (response.status >= 200 && response.status < 300) return response;
    throw refusal(response, ctx);
  }

  async function ask(path: string, params: Params = {}): Promise<Item> {
    const { text, isWhole } = await request(withQuery(path, params));
    const body = tryParse(text);
    if (isWhole && isRecord(body)) return body;
    throw new Refusal("The engine answered in a form that it does not have.");
  }

  async function list(path: string, params: Params = {}): Promise<Item[]> {
    const { text, isWhole } = await request(withQuery(`v${api}/${path}`, params));
    const body = tryParse(text);
    if (isWhole && Array.isArray(body)) return recordsOf(body);
    throw new Refusal("The engine answered in a form that it does not have, or with too much.");
  }

  const at = (id: string) => `v${api}/containers/${encodeURIComponent(id)}`;

  return {
    /** `Podman Engine 4.3.1, API 1.41` */
    words: wordsOf(about, api),
    list,
    get: (path: string, params: Params = {}) => ask(`v${api}/${path}`, params),
    stats: (id: string) => ask(`${at(id)}/stats`, { stream: "false" }),
    /** One that is not there: the error names those that are. @throws BotError INPUT_INVALID */
    async inspect(name: string): Promise<Item> {
      const response = await ctx.http({ endpoint, url: `${at(name)}/json`, maxBytes: MAX_BYTES });
      const body = tryParse(response.text);
      if (response.status === 200 && isRecord(body)) return body;
      if (response.status !== 404) throw refusal(response, ctx);
      const names = (await list("containers/json", { all: "true" })).map(nameOf);
      throw new BotError("INPUT_INVALID", noSuch("container", name, names));
    },
    /** The last lines that it wrote, oldest first, encoded: fewer where they would not fit. */
    async log(
      container: Item,
      {
        tail,
        since,
        timestamps,
      }: { tail: number; since?: number | undefined; timestamps: boolean },
    ): Promise<string> {
      const isTty = partOf(container, "Config")["Tty"] === true;
      for (let lines = tail; ; lines = Math.ceil(lines / 8)) {
        const params = {
          stdout: "true",
          stderr: "true",
          timestamps: String(timestamps),
          tail: lines,
          ...(since !== undefined && { since: Math.floor(since / 1_000) }),
        };
        const { bytes, isWhole } = await request(
          withQuery(`${at(textOf(container["Id"]))}/logs`, params),
        );
        // What is too long is cut at its newest end, so fewer lines are asked for.
        if (!isWhole && lines > 1) continue;
        const text = isTty ? Buffer.from(bytes).toString() : framed(bytes);
        const { aside } = ctx.encoder;
        return isWhole
          ? aside.encode(text)
          : aside.encodeCut(text, { before: false, behind: true });
      }
    },
    /** As they came. */
    async events(since: number, filters: Readonly<Record<string, string[]>>): Promise<Item[]> {
      const { text } = await request(withQuery(`v${api}/events`, eventsUntilNow(since, filters)));
      return text.split("\n").map(tryParse).filter(isRecord);
    },
    /** @throws Refusal for what was surely not done; BotError ABORTED, TIMEOUT */
    async act(id: string, action: "start" | "stop" | "restart"): Promise<void> {
      const params: Params = action === "start" ? {} : { t: GRACE_S };
      const url = withQuery(`${at(id)}/${action}`, params);
      const response = await ctx.http({ endpoint, url, method: "POST", timeoutMs: 45_000 });
      if (!isDone(response)) throw failureOf(action, response, ctx);
    },
  };
}

/** Without an end the engine would go on telling. Podman tells nothing where the end is over already. */
function eventsUntilNow(since: number, filters: Readonly<Record<string, string[]>>): Params {
  return {
    since: Math.floor(since / 1_000),
    until: Math.ceil(Date.now() / 1_000) + 1,
    ...(Object.keys(filters).length > 0 && { filters: JSON.stringify(filters) }),
  };
}

/** An object inside of another; an empty one where there is none. */
export function partOf(raw: Item, ...path: string[]): Item {
  let found: unknown = raw;
  for (const name of path) found = isRecord(found) ? found[name] : undefined;
  return isRecord(found) ? found : {};
}

function versionFor(about: Item): string {
  const [own, least] = [about["ApiVersion"], about["MinAPIVersion"]].map((value) =>
    (/^(\d+)\.(\d+)$/.exec(textOf(value)) ?? []).slice(1).map(Number),
  );
  const [major = 0, minor = 0] = own ?? [];
  const [, leastMinor = 0] = least ?? [];
  if (major !== NEWEST[0] || leastMinor > NEWEST[1]) {
    const text = `It speaks API ${wordOf(about["ApiVersion"]) || "of no version"}; these tools know 1.x up to ${NEWEST.join(".")}.`;
    throw new BotError("NOT_AVAILABLE", text);
  }
  return `1.${Math.min(minor, NEWEST[1])}`;
}

function wordsOf(about: Item, api: string): string {
  const [first] = recordsOf(about["Components"]);
  const name = textOf(first?.["Name"]) || "Docker Engine";
  return `${oneLine(name)} ${oneLine(textOf(about["Version"]))}, API ${api}`;
}

/** `cart`; the engine writes `/cart`. */
export function nameOf(container: Item): string {
  const [first] = Array.isArray(container["Names"]) ? container["Names"] : [container["Name"]];
  return oneLine(textOf(first)).replace(/^\//, "") || textOf(container["Id"]).slice(0, 12);
}

function refusal({ status, text }: HttpResponse, { encoder }: ToolContext): Error {
  const body = tryParse(text);
  const words = clip(textOf(isRecord(body) ? body["message"] : ""), 300, encoder);
  return new Refusal(`The engine refused with ${status}${words === "" ? "" : `: ${words}`}.`);
}

/** 304: it is so already. */
function isDone({ status }: HttpResponse): boolean {
  return status === 304 || (status >= 200 && status < 300);
}

/** A restart that failed may have stopped it, and not started it again. */
function failureOf(action: string, response: HttpResponse, ctx: ToolContext): Error {
  const error = refusal(response, ctx);
  const isHalfDone = action === "restart" && response.status >= 500;
  return isHalfDone ? new BotError("ABORTED", error.message) : error;
}

const HEADER_BYTES = 8;

/** Without a terminal each piece has a header: where it was written to, three zeros, and its length in four bytes. */
function framed(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes);
  const parts: Buffer[] = [];
  let start = 0;
  while (start + HEADER_BYTES <= buffer.length) {
    const end = start + HEADER_BYTES + buffer.readUInt32BE(start + 4);
    parts.push(buffer.subarray(start + HEADER_BYTES, end));
    start = end;
  }
  return Buffer.concat(parts).toString();
}

/** A look at one container of several that failed does not fail the others. */
export async function orElse<T>(
  work: Promise<T>,
  other: T,
  failed: (why: string) => void,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof BotError)) throw error;
    failed(messageOf(error));
    return other;
  }
}
