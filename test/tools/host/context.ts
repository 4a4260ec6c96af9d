import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { DEFAULT_PATH } from "../../../src/tools/executable.ts";
import { createExec } from "../../../src/tools/process.ts";
import type { ToolContext } from "../../../src/tools/tool.ts";
import { nothingHeld } from "../../fakes/encoder.ts";
import type { Encoder } from "../../../src/security/encoder.ts";
import { idleContext } from "../../fakes/tool-context.ts";

/** A new folder that goes with the test. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "host-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** What a tool gets, with the real supervisor; `programs`, a folder, comes first on its search path. */
export function hostContext(
  programs?: string,
  signal = new AbortController().signal,
  encoder: Encoder = nothingHeld,
): ToolContext {
  const exec = createExec({ encoder, path: searchPath(programs) });
  return idleContext({
    signal,
    encoder,
    exec: (argv, options) => exec(argv, { ...options, signal }),
  });
}

export function searchPath(programs?: string): string {
  return programs === undefined ? DEFAULT_PATH : `${programs}:${DEFAULT_PATH}`;
}

/** Writes a shell script that can be executed. */
export async function writeProgram(folder: string, name: string, script: string): Promise<string> {
  const file = join(folder, name);
  await mkdir(folder, { recursive: true });
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}
