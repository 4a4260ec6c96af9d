import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import type { JsonObject } from "../../../src/core/entry.ts";
import { createNetwork } from "../../../src/net/dial.ts";
import { createEncoder } from "../../../src/security/encoder.ts";
import { createDispatcher } from "../../../src/tools/dispatch.ts";
import { openPacks } from "../../../src/tools/packs/folder.ts";
import { createExec } from "../../../src/tools/process.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { ASKER } from "../../fakes/asker.ts";
import { LOCAL } from "../dialing.ts";
import { SECRET } from "../http-parts.ts";

/** A folder of packs for each test, and calls of the tools in it. */

export let folder = "";
/** For the test files that share this: hooks of their own, since they may run in one process. */
export function freshFolder(): void {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "packs-"));
    await chmod(folder, 0o755);
  });
  afterEach(() => rm(folder, { recursive: true }));
}

const VARIABLES: Readonly<Record<string, string>> = { SHOP_TOKEN: SECRET };
export const variable = (name: string) => VARIABLES[name];

export async function write(yaml: string, name = "shop.yaml"): Promise<void> {
  await writeFile(join(folder, name), yaml, { mode: 0o644 });
}

export async function open(yaml: string, others: readonly Tool[] = []) {
  await write(yaml);
  const packs = openPacks([folder], variable);
  await packs.refresh(others);
  return packs;
}

/** The tools of a pack that has no mistake, and calls of them. */
export async function use(yaml: string) {
  const packs = await open(yaml);
  expect(packs.problems).toEqual([]);
  const encoder = createEncoder(packs.secrets);
  const dispatcher = createDispatcher({
    tools: packs.tools,
    host: "web-1",
    exec: createExec({ encoder }),
    network: createNetwork(LOCAL),
    encoder,
  });
  const { signal } = new AbortController();
  return {
    dispatcher,
    signal,
    async call(tool: string, asked: JsonObject) {
      const { args } = await dispatcher.prepare(tool, asked, signal);
      return dispatcher.run(tool, args, {
        signal,
        startedAt: Date.now(),
        asker: ASKER,
        keep: async () => ({ id: "x", bytes: 0 }),
        artifact: async () => new Uint8Array(),
      });
    },
  };
}
