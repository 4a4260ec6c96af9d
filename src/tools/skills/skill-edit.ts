import { createHash, randomUUID } from "node:crypto";
import {
  access,
  chmod,
  constants,
  mkdir,
  mkdtemp,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import { BotError, codeOf, messageOf } from "../../core/errors.ts";
import { shipped } from "../../core/installation.ts";
import { CHECKS_FILE, HINTS_FILE, isSkillFile, readInside } from "../../skills/files.ts";
import { loadSkills } from "../../skills/load.ts";
import type { Skill } from "../../skills/skill.ts";
import { refused } from "../refusal.ts";
import type { TextChange } from "./text-change.ts";

/** A file of a skill: where it is written, and its bytes as text. */
interface EditedFile {
  /** Its path in the skill's folder. */
  id: string;
  /** Links resolved. */
  path: string;
  /** Undefined: it is not there. */
  text: string | undefined;
  mode: number;
}

/** New files are found by whoever lists the folder, and hide nothing. */
const NEW_FILE = /^\w[\w.-]*(?:\/\w[\w.-]*){0,4}$/;
const NEW_MODE = 0o644;

/** SHA-256 of a file's bytes; "" where there is no file. */
export function hashOf(text: string | undefined): string {
  return text === undefined ? "" : createHash("sha256").update(text).digest("hex");
}

/** Copies of repositories are never edited: they are what their commit says. */
const FROM_GIT = /\/skills-git\/[0-9a-f]{64}\//;

/** @throws BotError PRECHECK_FAILED for a skill outside of these folders, one of the program's own, or one from git */
export async function checkIsOwn(skill: Skill, folders: readonly string[]): Promise<void> {
  const roots = await Promise.all(folders.map((each) => realpath(each).catch(() => "")));
  const isOthers = isIn(skill.folder, shipped("skills")) || FROM_GIT.test(skill.folder);
  const isOwn = !isOthers && roots.some((root) => root !== "" && isIn(skill.folder, root));
  if (!isOwn)
    throw refused(
      `The skill ${skill.name} is not one of your own: only those in skills.folders are changed from here.`,
    );
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}

/**
 * A text file of the skill as it is now, or one that may be made.
 * @throws BotError PATH_REFUSED; PRECHECK_FAILED where it cannot be written
 */
export async function fileOf({ folder, name, files }: Skill, id: string): Promise<EditedFile> {
  const own = ["SKILL.md", "skill.md", CHECKS_FILE, HINTS_FILE];
  const there = new Set((await files()).map((each) => each.id));
  for (const each of own) if (await isThere(join(folder, each))) there.add(each);
  const known = isSkillFile(id) ? (own.find((each) => there.has(each)) ?? id) : id;
  if (there.has(known)) {
    const text = await readInside(folder, known);
    const path = await realpath(join(folder, known));
    const { mode, size } = await stat(path);
    if (Buffer.byteLength(text) !== size)
      throw refused(`${id} begins with a byte order mark: save it without one first.`);
    await checkWritable(dirname(path), id);
    return { id: known, path, text, mode: mode & 0o777 };
  }
  const path = join(folder, id);
  let parent = dirname(path);
  while (!(await isThere(parent))) parent = dirname(parent);
  if (NEW_FILE.test(id) && !isIn(await realpath(parent), folder))
    throw new BotError("PATH_REFUSED", `${id} leads out of its skill's folder.`);
  if (!NEW_FILE.test(id) || (await isThere(path)))
    throw new BotError(
      "PATH_REFUSED",
      `The skill ${name} has no file ${JSON.stringify(id)} that may be changed, and none of that name may be made.`,
    );
  await checkWritable(parent, id);
  return { id, path, text: undefined, mode: NEW_MODE };
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => codeOf(error) !== "ENOENT",
  );
}

async function checkWritable(folder: string, id: string): Promise<void> {
  await access(folder, constants.W_OK).catch(() => {
    throw refused(`${id} cannot be written: the program's user may not write into its folder.`);
  });
}

/** Loads a copy of the skill that has the change. @throws BotError PRECHECK_FAILED with its first mistake */
export async function checkLoads(
  { folder, name }: Skill,
  { id, text: before }: EditedFile,
  after: string,
): Promise<void> {
  const trial = await mkdtemp(join(tmpdir(), "watchkeeper-skill-"));
  try {
    const copy = join(trial, basename(folder));
    await mkdir(copy);
    for (const each of ["SKILL.md", "skill.md", CHECKS_FILE, HINTS_FILE]) {
      if (each === id || !(await isThere(join(folder, each)))) continue;
      await writeFile(join(copy, each), await readInside(folder, each));
    }
    await mkdir(dirname(join(copy, id)), { recursive: true });
    await writeFile(join(copy, id), after);
    // Whatever else is read of a skill is read as a file: it has to be text of a size that can be.
    await readInside(await realpath(copy), id);
    const { problems } = await loadSkills([trial], (text) => text);
    const [mistake] = problems;
    if (mistake === undefined) return;
    const at = basename(mistake.at);
    const what = before === undefined ? "With this file" : "With this change";
    throw refused(`${what} the skill ${name} would not load as it should: ${at}: ${mistake.text}.`);
  } catch (error) {
    if (error instanceof BotError && error.code === "PATH_REFUSED") throw refused(error.message);
    throw error;
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

/** In one step: whoever reads it sees the text from before or the new one. @throws BotError NOT_AVAILABLE */
export async function writeChange(
  { id, path, mode }: EditedFile,
  { after }: TextChange,
): Promise<void> {
  const aside = join(dirname(path), `.${randomUUID()}`);
  try {
    if (after === undefined) return await rm(path);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(aside, after, { mode, flag: "wx", flush: true });
    // The mode above is cut by the process's mask.
    await chmod(aside, mode);
    await rename(aside, path);
  } catch (error) {
    throw new BotError("NOT_AVAILABLE", `${id} cannot be written: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    await rm(aside, { force: true }).catch(() => {});
  }
}
