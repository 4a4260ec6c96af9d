import { createHash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { basename, join, sep } from "node:path";
import * as z from "zod";
import { type Checks, checksSchema } from "../checks/schema.ts";
import { isJsonObject, tryJson } from "../core/json.ts";
import { CHECKS_FILE, HINTS_FILE } from "./files.ts";
import type { Skill, Skills } from "./skill.ts";

/**
 * What the build read of the skills that come with the program, so that a start reads no yaml. An entry counts only for the very
 * bytes that it was made from: a file that somebody changed is read as every other.
 */

/** What was read, by the hash of the files. */
export type Prepared = Readonly<Record<string, PreparedSkill>>;

/** A folder of skills that were prepared. */
export interface PreparedFolder {
  readonly folder: string;
  readonly prepared: Prepared;
}

interface PreparedSkill extends Pick<Skill, "name" | "description" | "body" | "requires"> {
  /** With its path in the skill's folder and the line. */
  readonly allowed?: NonNullable<Skill["allowed"]>;
  readonly checks?: Checks;
  /** By path: where something of the checks stands in their file, as `:7:14`. */
  readonly places?: Readonly<Record<string, string>>;
}

/** A program that runs from its sources has none. */
const FILE = join(import.meta.dirname, "skills.json");

/** What the build of this program left beside it; undefined where there is none. */
export function readPrepared(): Prepared | undefined {
  const text = tryRead(FILE)?.toString();
  if (text === undefined) return undefined;
  return preparedFrom(text);
}

/** Without what does not have its form, as in a damaged file: those skills are read from their own files. */
export function preparedFrom(text: string): Prepared {
  const read = tryJson(text);
  if (!isJsonObject(read)) return {};
  return Object.fromEntries(
    Object.entries(read).flatMap(([hash, made]) => (isSkill(made) ? [[hash, made]] : [])),
  );
}

const SHAPE = z.object({
  name: z.string(),
  description: z.string(),
  body: z.string(),
  allowed: z.object({ calls: z.array(z.unknown()), at: z.string() }).optional(),
  requires: z.array(z.string()).optional(),
  checks: checksSchema.optional(),
  places: z
    .record(z.string(), z.string())
    .refine((places) => "[]" in places)
    .optional(),
});

function isSkill(made: unknown): made is PreparedSkill {
  return SHAPE.safeParse(made).success;
}

/** What can be prepared of skills that were just loaded without encoding: those that have neither problems nor hints. */
export function prepare({ skills, problems }: Skills): Prepared {
  return Object.fromEntries(
    skills.flatMap(
      ({ folder, name, description, body, allowed, requires, checks, checkAt, hints }) => {
        const hash = hashOf(folder, "SKILL.md");
        const hasProblem = problems.some(({ at }) => at.startsWith(folder + sep));
        if (hash === undefined || hints !== undefined || hasProblem) return [];
        const inside = (at: string) => at.slice(folder.length);
        const placeOf = (path: readonly PropertyKey[]) =>
          inside(checkAt?.(path) ?? "").slice(CHECKS_FILE.length + 1);
        const places = checks && {
          "[]": placeOf([]),
          ...Object.fromEntries(
            checkedPaths(checks).map((path) => [JSON.stringify(path), placeOf(path)]),
          ),
        };
        const made: PreparedSkill = {
          name,
          description,
          body,
          ...(allowed && { allowed: { ...allowed, at: inside(allowed.at) } }),
          ...(requires && { requires }),
          ...(checks && places && { checks, places }),
        };
        return [[hash, made]];
      },
    ),
  );
}

/** What problems of checks with the tools can be about. */
function checkedPaths({ checks }: Checks): string[][] {
  return Object.entries(checks).flatMap(([id, { with: args }]) => {
    const path = ["checks", id];
    const named = Object.keys(args).map((arg) => [...path, "with", arg]);
    return [path, [...path, "tool"], [...path, "with"], ...named];
  });
}

/** The skill in a folder as it was prepared; undefined where its files are others, or cannot be read. */
export function preparedIn(
  prepared: Prepared,
  folder: string,
  file: string,
): Omit<Skill, "files" | "read"> | undefined {
  const hash = hashOf(folder, file);
  const made = hash === undefined ? undefined : prepared[hash];
  if (made === undefined) return undefined;
  const { allowed, places, ...skill } = made;
  const checksFile = join(folder, CHECKS_FILE);
  return {
    ...skill,
    folder,
    isAsShipped: true,
    ...(allowed && { allowed: { ...allowed, at: folder + allowed.at } }),
    ...(places && {
      checkAt: (path) => checksFile + (places[nearest(places, path)] ?? ""),
    }),
  };
}

/** What is not there is told of where it would be. */
function nearest(places: Readonly<Record<string, string>>, path: readonly PropertyKey[]): string {
  const key = JSON.stringify(path);
  return Object.hasOwn(places, key) ? key : nearest(places, path.slice(0, -1));
}

/** Of what a skill is read from; undefined if there is more in the folder that counts, or something is no file. */
function hashOf(folder: string, file: string): string | undefined {
  const hash = createHash("sha256").update(JSON.stringify([basename(folder), file]));
  for (const name of [file, CHECKS_FILE, HINTS_FILE]) {
    const path = join(folder, name);
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (info !== undefined && !info.isFile()) return undefined;
    const text = info && tryRead(path);
    if (info !== undefined && text === undefined) return undefined;
    hash.update(JSON.stringify([text?.length]));
    if (text !== undefined) hash.update(text);
  }
  return hash.digest("base64url");
}

function tryRead(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    // The reader of files that are not prepared meets the same error, and tells it.
    return undefined;
  }
}
