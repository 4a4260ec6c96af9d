import { type ChatCompletionRequest, type FixtureResponse, LLMock } from "@copilotkit/aimock";

/** A way to reach the fake provider: the environment of a program that uses this wire. */
export interface Wire {
  model: string;
  env(url: string): Record<string, string>;
}

export const WIRES = {
  anthropic: {
    model: "anthropic/claude-sonnet-5-5",
    env: (url: string) => ({
      ANTHROPIC_API_KEY: "sk-ant-fake-key-of-a-test",
      ANTHROPIC_BASE_URL: url,
    }),
  },
  openai: {
    model: "openai/gpt-6-sol",
    env: (url: string) => ({
      OPENAI_API_KEY: "sk-fake-key-of-a-test",
      OPENAI_BASE_URL: `${url}/v1`,
    }),
  },
  "openai-compatible": {
    model: "openai-compatible/qwen3",
    env: (url: string) => ({ OPENAI_BASE_URL: `${url}/v1` }),
  },
} satisfies Record<string, Wire>;

export interface Provider {
  env: Record<string, string>;
  /** Requests so far, as chat messages whatever the wire. */
  requests: ChatCompletionRequest[];
  /** Twice is once. */
  stop(): Promise<void>;
}

/** What the provider answers to its `n`-th request (from 0), knowing how many results of tools it holds. */
export type Answers = (request: {
  n: number;
  results: number;
  body: ChatCompletionRequest;
}) => FixtureResponse | Promise<FixtureResponse>;

/** A model provider on loopback that speaks all three wires; `cuts` is how many of its first responses end half-way. */
export async function startProvider(wire: Wire, answers: Answers, cuts = 0): Promise<Provider> {
  const mock = new LLMock({ port: 0, strict: true, logLevel: "silent" });
  const requests: ChatCompletionRequest[] = [];
  const answer = (body: ChatCompletionRequest) => {
    const results = body.messages.filter(({ role }) => role === "tool").length;
    requests.push(body);
    return answers({ n: requests.length - 1, results, body });
  };
  const half = { chunkSize: 4, truncateAfterChunks: 3 };
  mock.on({ predicate: () => requests.length < cuts }, answer, half);
  mock.on({ predicate: () => true }, answer);
  await mock.start();
  let stopped: Promise<void> | undefined;
  return {
    env: { MODEL: wire.model, ...wire.env(mock.url) },
    requests,
    async stop() {
      stopped ??= mock.stop();
      await stopped;
    },
  };
}
