import type { JsonObject } from "../../../src/core/entry.ts";
import type { ReverseCall } from "../../../src/core/tool-call.ts";
import { createNetwork } from "../../../src/net/dial.ts";
import { createEncoder, type Encoder } from "../../../src/security/encoder.ts";
import { createDispatcher, type Dispatcher } from "../../../src/tools/dispatch.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { ASKER } from "../../fakes/asker.ts";
import { noWorld } from "../../fakes/tool-context.ts";

/** Calls of tools through the dispatcher, as runs make them. */

/** On no machine of its own, so that only the endpoints' exception lets it reach loopback. */
export function dispatcherOf(
  tools: readonly Tool[],
  encoder: Encoder = createEncoder([]),
): Dispatcher {
  const network = createNetwork({ allow: [], local: false });
  return createDispatcher({ ...noWorld, network, encoder, host: "here", tools });
}

const quiet = () => new AbortController().signal;

/** Prepares, shows and runs it. */
export async function call(
  dispatcher: Dispatcher,
  tool: string,
  args: Record<string, unknown>,
  options: { signal?: AbortSignal } = {},
) {
  const { signal = quiet() } = options;
  const prepared = await dispatcher.prepare(tool, args as never, signal);
  const preview =
    prepared.effect === "read" ? undefined : await dispatcher.preview(prepared, signal);
  const finished = await runPrepared(dispatcher, tool, prepared.args, signal);
  return { ...finished, prepared, preview };
}

export function runPrepared(
  dispatcher: Dispatcher,
  tool: string,
  args: JsonObject,
  signal: AbortSignal,
) {
  return dispatcher.run(tool, args, {
    signal,
    keep: async (bytes) => ({ id: "kept", bytes: bytes.length }),
    artifact: async () => new Uint8Array(),
    startedAt: Date.now(),
    asker: ASKER,
  });
}

/** Everything that a card shows. */
export function cardText(preview: Awaited<ReturnType<typeof call>>["preview"]): string {
  const { lines = [], blastRadius = "", undo = "" } = preview ?? {};
  return [...lines.map(({ label, value }) => `${label}: ${value}`), blastRadius, undo].join("\n");
}

/** Makes the call that takes one back, as the program does: its checks, then itself. */
export async function takeBack(dispatcher: Dispatcher, reverse: ReverseCall | undefined) {
  if (reverse === undefined) throw new Error("It has no reverse.");
  const { tool, args } = reverse;
  const prepared = await dispatcher.prepare(tool, args, quiet(), { by: "bot" });
  await dispatcher.preview(prepared, quiet());
  return runPrepared(dispatcher, tool, prepared.args, quiet());
}
