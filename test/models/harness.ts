import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import type {
  FileBlock,
  Model,
  ModelRequest,
  ModelResponse,
  Turn,
} from "../../src/models/model.ts";
import type { ModelError } from "../../src/models/model.ts";
import { type ModelServer, type Reply, startModelServer } from "../fakes/model-server.ts";
import type { Answer, Dialect } from "./dialects.ts";

export const PIXEL: FileBlock = {
  kind: "file",
  name: "graph.png",
  mediaType: "image/png",
  data: "iVBORw0KGgo=",
};
export const CALLS = [
  { id: "toolu_1", name: "read_log", input: '{"path":"/var/log/a.log","lines":10}' },
  { id: "toolu_2", name: "http_check", input: '{ "url": "https://shop.example/ü" }' },
];

export function requestOf(
  turns: readonly Turn[],
  changes: Partial<ModelRequest> = {},
): ModelRequest {
  return {
    system: "You are on call.",
    tools: [
      {
        name: "read_log",
        description: "Reads a log.",
        schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      },
      {
        name: "http_check",
        description: "Checks a URL.",
        schema: { type: "object", properties: { url: { type: "string" } } },
      },
    ],
    turns,
    toolChoice: "auto",
    maxOutputTokens: 1024,
    ...changes,
  };
}

export function said(text: string): Turn {
  return { role: "user", content: [{ kind: "text", text }] };
}

/** The BotError that it fails with. */
export async function failureOf(promise: Promise<unknown>): Promise<ModelError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BotError);
  return error as ModelError;
}

/** A model of this dialect and the server it speaks to; both are there within tests only. */
export interface Harness {
  server: ModelServer;
  model: Model;
  signal: AbortSignal;
  /** The response to a request that is answered so. */
  answered(answer: Answer, request?: ModelRequest): Promise<ModelResponse>;
  /** The error of a request that is answered so. */
  failed(reply: Reply, request?: ModelRequest): Promise<ModelError>;
  /** The body that is sent for these turns. */
  sent(turns: readonly Turn[], changes?: Partial<ModelRequest>): Promise<string>;
}

/** Registers the server's start and end with the describe block it is called in. */
export function harness(dialect: Dialect): Harness {
  const usual = requestOf([said("Is the shop up?")]);
  const { signal } = new AbortController();
  const under = {
    signal,
    async answered(answer: Answer, request = usual) {
      under.server.answer({ pieces: dialect.events(answer) });
      return under.model.generate(request, { signal });
    },
    async failed(reply: Reply, request = usual) {
      under.server.answer(reply);
      return failureOf(under.model.generate(request, { signal }));
    },
    async sent(turns: readonly Turn[], changes: Partial<ModelRequest> = {}) {
      await under.answered({ text: ["ok"] }, requestOf(turns, changes));
      return under.server.seen.at(-1)?.body ?? "";
    },
  } as Harness;
  beforeAll(async () => {
    under.server = await startModelServer();
  });
  afterAll(() => under.server.close());
  beforeEach(() => {
    under.server.seen.length = 0;
    under.server.answer();
    under.model = dialect.create({ baseURL: under.server.url });
  });
  return under;
}
