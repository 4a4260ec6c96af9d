import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { makeFolder } from "../core/folder.ts";
import { tryJson } from "../core/json.ts";
import { shortened } from "../core/text.ts";

/** Requests with the right token that were no alerts: how many, and the last of them, for whoever set their sender up. */

const KEPT = 20;
const MAX_BODY = 2_000;
/** Of a flood only what came last is written. */
const WRITE_MS = 500;

const refusal = z.object({ at: z.number(), source: z.string(), why: z.string(), body: z.string() });
const file = z.object({ count: z.number(), last: z.array(refusal) });

type Refused = z.infer<typeof file>;

export type RefusalLog = (source: string, why: string, body: string) => void;

export function refusalsFile(dataDir: string): string {
  return join(dataDir, "alerts-refused.json");
}

/** What is kept there; undefined: nothing that can be read. */
export function readRefusals(path: string): Refused | undefined {
  try {
    return file.safeParse(tryJson(readFileSync(path, "utf8"))).data;
  } catch {
    return undefined;
  }
}

/** Notes them in a file. `encode`: what every stored text passes. `failed` is told what a write that failed threw. */
export function createRefusalLog(
  path: string,
  { encode, failed }: { encode(text: string): string; failed(error: unknown): void },
): RefusalLog {
  let all: Refused | undefined;
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, WRITE_MS).unref());
    writing = undefined;
    makeFolder(join(path, ".."));
    await writeFile(`${path}.new`, JSON.stringify(all, null, 2), { mode: 0o600 });
    await rename(`${path}.new`, path);
  }

  return (source, why, body) => {
    all ??= readRefusals(path) ?? { count: 0, last: [] };
    const one = {
      at: Date.now(),
      source,
      why: encode(why),
      body: shortened(encode(body.slice(0, 4 * MAX_BODY)), MAX_BODY),
    };
    all = { count: all.count + 1, last: [...all.last, one].slice(-KEPT) };
    writing ??= write().catch(failed);
  };
}
