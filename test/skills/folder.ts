import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { loadSkills } from "../../src/skills/load.ts";

export const plain = (text: string): string => text;

/** A new folder with these files, that goes with the test. */
export async function folderWith(files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "skills-test-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

export function skillText(name: string, more = "", body = `How ${name} is done.`): string {
  return `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n\n${body}\n`;
}

/** Loads the one skill of a folder. */
export async function loadOne(folder: string) {
  const { skills, problems } = await loadSkills([folder], plain);
  const [skill] = skills;
  if (skill === undefined) throw new Error(`no skill: ${JSON.stringify(problems)}`);
  return skill;
}
