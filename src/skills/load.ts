import { readdir, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { BotError, messageOf } from "../core/errors.ts";
import { allowedCalls } from "./allowed.ts";
import { readChecks, readHints } from "./checks.ts";
import {
  CHECKS_FILE,
  HINTS_FILE,
  isSkillFile,
  isSkipped,
  listFiles,
  readInside,
  sorted,
} from "./files.ts";
import { type PreparedFolder, preparedIn } from "./prepared.ts";
import { readSkillText } from "./skill-text.ts";
import type { Skill, SkillProblem, Skills } from "./skill.ts";

/** The skills of some folders, which people change while the program runs. */
export interface SkillLibrary extends Skills {
  /** One list, for everybody who looks something up in it. */
  readonly skills: readonly Skill[];
  /** Looks again. True: the skills are others now. */
  refresh(): Promise<boolean>;
}

/** How deep below a configured folder skills are found, and how many folders are searched. */
const MAX_DEPTH = 4;
const MAX_FOLDERS = 2_000;
/** Every search looks at each of them. */
const MAX_SKILLS = 1_000;

/** A folder's skill as it was read last. */
interface Known {
  /** Changes whenever its files may have. */
  stamp: string;
  problems: readonly SkillProblem[];
  /** The newest that could be used. */
  skill: Skill | undefined;
}

/** Finds and loads the skills in `folders` once, as `openSkills` does. */
export async function loadSkills(
  folders: readonly string[],
  encode: (text: string) => string,
): Promise<Skills> {
  const library = openSkills(folders, encode);
  await library.refresh();
  return library;
}

/**
 * Finds and loads the skills in `folders` whenever it is asked, four folders deep, without following links to folders. If two have
 * one name, the later wins and the other becomes a problem. What was not touched is not read again, and one that breaks stays what
 * it was. The list of folders may become another. `encode` removes known secrets from names and descriptions, which are in every request; bodies and files pass it later, as
 * results do. What is as it was `prepared` is not read again. Never throws: a skill that does not load is a problem.
 */
export function openSkills(
  folders: Iterable<string>,
  encode: (text: string) => string,
  prepared?: PreparedFolder,
): SkillLibrary {
  const skills: Skill[] = [];
  let problems: readonly SkillProblem[] = [];
  let known = new Map<string, Known>();

  async function look(place: Found, root: string): Promise<Known> {
    const [stamp, last] = [await stampOf(place), known.get(place.folder)];
    if (last?.stamp === stamp) return last;
    const ready = root === prepared?.folder && asPrepared(place, prepared, encode);
    if (ready) return { stamp, problems: [], skill: ready };
    const found: SkillProblem[] = [];
    const read = await loadSkill(place, encode, found);
    const skill = keptOf(read, last?.skill, place);
    const shown = found.map((each) => ({
      ...each,
      text: `${encode(each.text)}${!each.loaded && skill !== read ? KEPT : ""}`,
    }));
    return { stamp, problems: shown, skill };
  }

  return {
    skills,
    get problems() {
      return problems;
    },
    async refresh() {
      const found: SkillProblem[] = [];
      const next = new Map<string, Known>();
      const byName = new Map<string, Skill>();
      for (const folder of folders) {
        for (const place of await findSkills(folder, found)) {
          const looked = await look(place, folder);
          next.set(place.folder, looked);
          found.push(...looked.problems);
          const { skill } = looked;
          if (skill === undefined) continue;
          const other = byName.get(skill.name);
          if (other !== undefined) {
            const text = `replaced by the skill of the same name in ${skill.folder}`;
            found.push({ at: other.folder, text, loaded: false });
          }
          byName.set(skill.name, skill);
        }
      }
      const all = sorted([...byName.values()]);
      for (const { folder } of all.splice(MAX_SKILLS)) {
        const text = `left out: there are more than ${MAX_SKILLS} skills; only the first by name are loaded`;
        found.push({ at: folder, text, loaded: false });
      }
      const isSame = all.length === skills.length && all.every((each, at) => each === skills[at]);
      known = next;
      problems = found.map((problem) => ({ ...problem, text: encode(problem.text) }));
      skills.splice(0, skills.length, ...all);
      return !isSame;
    },
  };
}

const KEPT = " (what it was before stays in use)";

/** What is used of what was read: a skill that broke, or only its checks or hints, stays what it was. */
function keptOf(
  read: Skill | undefined,
  last: Skill | undefined,
  { hasChecks, hasHints }: Found,
): Skill | undefined {
  if (read === undefined || last === undefined) return read ?? last;
  const { checks, checkAt, hints, hintAt } = last;
  const isOf = { checks: hasChecks && !read.checks, hints: hasHints && !read.hints };
  if (!(isOf.checks && checks) && !(isOf.hints && hints)) return read;
  return {
    ...read,
    ...(isOf.checks && checkAt && { checks, checkAt }),
    ...(isOf.hints && hintAt && { hints, hintAt }),
  };
}

/** What cannot be looked at is told when it is read. */
async function stampOf({ folder, file }: Found): Promise<string> {
  const stamps = [file, CHECKS_FILE, HINTS_FILE].map(async (name) => {
    const info = await stat(join(folder, name)).catch(() => undefined);
    return info === undefined ? "" : `${info.mtimeMs} ${info.size} ${info.ino} ${info.mode}`;
  });
  return (await Promise.all(stamps)).join("|");
}

/** A folder with a skill, the name of its `SKILL.md`, and what stands beside it. */
interface Found {
  folder: string;
  file: string;
  hasChecks: boolean;
  hasHints: boolean;
}

/** The folders with a SKILL.md, in order; the search does not go on inside them. */
async function findSkills(root: string, problems: SkillProblem[]): Promise<Found[]> {
  const places: Found[] = [];
  const fail = (at: string, text: string) => void problems.push({ at, text, loaded: false });
  let count = 0;
  const walk = async (folder: string, depth: number): Promise<void> => {
    count += 1;
    const entries = sorted(await readdir(folder, { withFileTypes: true }));
    const file = entries.find(({ name }) => isSkillFile(name))?.name;
    if (file !== undefined) {
      const has = (name: string) => entries.some((each) => each.name === name);
      places.push({ folder, file, hasChecks: has(CHECKS_FILE), hasHints: has(HINTS_FILE) });
      return;
    }
    for (const entry of entries.filter(({ name }) => !isSkipped(name))) {
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink() && (await isFolder(path))) {
        fail(path, "is a link; name the folder it leads to in skills.folders");
      }
      if (!entry.isDirectory() || depth === MAX_DEPTH || count >= MAX_FOLDERS) continue;
      await walk(path, depth + 1).catch((error: unknown) => fail(path, messageOf(error)));
    }
  };
  try {
    await walk(await realpath(root), 0);
  } catch (error) {
    fail(root, `cannot be read: ${messageOf(error)}`);
  }
  if (count >= MAX_FOLDERS) fail(root, `only its first ${MAX_FOLDERS} folders were searched`);
  return places;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
}

async function loadSkill(
  { folder, file, hasChecks, hasHints }: Found,
  encode: (text: string) => string,
  problems: SkillProblem[],
): Promise<Skill | undefined> {
  const at = join(folder, file);
  try {
    const read = await readSkillText(await readInside(folder, file), basename(folder));
    const hidden = read.skill !== undefined && encode(read.skill.name) !== read.skill.name;
    const loaded = read.skill !== undefined && !hidden;
    for (const { line, text } of read.problems)
      problems.push({ at: `${at}:${line}`, text, loaded });
    if (hidden) problems.push({ at, text: "its name holds a secret", loaded });
    if (read.skill === undefined || hidden) return undefined;
    const { name, description, body, allowed, requires } = read.skill;
    return {
      name,
      description: encode(description),
      body,
      ...(hasChecks && (await readChecks(folder, problems))),
      ...(hasHints && (await readHints(folder, problems))),
      ...(allowed && {
        allowed: { calls: allowedCalls(allowed.text), at: `${at}:${allowed.line}` },
      }),
      ...(requires && { requires }),
      folder,
      ...readersOf(folder),
    };
  } catch (error) {
    problems.push({ at, text: messageOf(error), loaded: false });
    return undefined;
  }
}

/** Undefined: it has to be read. */
function asPrepared(
  { folder, file }: Found,
  { prepared }: PreparedFolder,
  encode: (text: string) => string,
): Skill | undefined {
  const made = preparedIn(prepared, folder, file);
  if (made === undefined || encode(made.name) !== made.name) return undefined;
  let description: string | undefined;
  return {
    ...made,
    // Looking for secrets in all of them takes a good part of a start, and many a process never needs them.
    get description() {
      return (description ??= encode(made.description));
    },
    ...readersOf(folder),
  };
}

function readersOf(folder: string): Pick<Skill, "files" | "read"> {
  return { files: () => listFiles(folder), read: (id) => readListed(folder, id) };
}

async function readListed(folder: string, id: string): Promise<string> {
  const files = await listFiles(folder);
  if (files.some((file) => file.id === id)) return readInside(folder, id);
  const known = files.map((file) => file.id).join(", ") || "none";
  const text = `This skill has no readable file ${JSON.stringify(id)}. Its files: ${known}.`;
  throw new BotError("PATH_REFUSED", text);
}
