import type { Network } from "../../src/net/dial.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { nothingHeld } from "./encoder.ts";

const nowhere = () => Promise.reject(new Error("nothing outside is used here"));

const noNetwork: Network = { dial: nowhere, dialSocket: nowhere, resolve: nowhere };

/** What a dispatcher has where nothing is run and nothing is connected to. */
export const noWorld = { exec: nowhere, network: noNetwork };

/** What a tool gets that uses nothing of the world but what the test gives it. */
export function idleContext(changes: Partial<ToolContext> = {}): ToolContext {
  return {
    signal: new AbortController().signal,
    encoder: nothingHeld,
    exec: nowhere,
    dial: nowhere,
    connect: nowhere,
    resolve: nowhere,
    http: nowhere,
    permit: async () => undefined,
    readArtifact: nowhere,
    ...changes,
  };
}
