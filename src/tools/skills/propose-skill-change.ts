import * as z from "zod";
import type { ReverseCall } from "../../core/tool-call.ts";
import type { Skill } from "../../skills/skill.ts";
import { hostArgument } from "../host/host-argument.ts";
import { refused } from "../refusal.ts";
import { defineTool, type Tool } from "../tool.ts";
import { skillName } from "./activate-skill.ts";
import { skillNamed } from "./named.ts";
import { checkIsOwn, checkLoads, fileOf, hashOf, writeChange } from "./skill-edit.ts";
import { type TextChange, unifiedDiff } from "./text-change.ts";

/** The file as it has to be, and where in it the old text stands. */
const pinned = z
  .strictObject({
    /** "": there is none. */
    sha256: z.string().regex(/^(?:[0-9a-f]{64})?$/),
    at: z.int().min(0),
    /** It takes a change back, to what was there whether that had mistakes or not. */
    back: z.literal(true).optional(),
    /** The file goes. */
    remove: z.literal(true).optional(),
  })
  .optional()
  .meta({ internal: true });

const input = z.strictObject({
  skill: skillName,
  file: z
    .string()
    .min(1)
    .max(500)
    .default("SKILL.md")
    .describe("SKILL.md, or another text file of it"),
  old: z
    .string()
    .max(3_000)
    .describe("Exact text that stands there once and is replaced; empty: a new file"),
  new: z.string().max(3_000).describe("What stands there instead"),
  reason: z.string().min(1).max(500).describe("What was wrong or missing, in a sentence"),
  host: hostArgument,
  pinned,
});
type Input = z.infer<typeof input>;

/**
 * Changes one place of an operator's own skill, in one step and only if people approve the very change and the file is still the
 * one that they were shown. `folders`: the operators'.
 */
export function createProposeSkillChange(
  skills: readonly Skill[],
  folders: readonly string[],
): Tool<Input> {
  async function planOf(given: Input) {
    const skill = skillNamed(skills, given.skill);
    await checkIsOwn(skill, folders);
    const file = await fileOf(skill, given.file);
    const place = given.pinned ?? placeOf(given, file.text);
    if (hashOf(file.text) !== place.sha256)
      throw refused(`${given.file} has changed since this was shown.`);
    const { text: before } = file;
    const after = place.remove === true ? undefined : changed(given, place.at, before ?? "");
    if (after !== undefined && place.back !== true) await checkLoads(skill, file, after);
    return { file, place, change: { before, after } satisfies TextChange };
  }

  return defineTool<Input>({
    name: "propose_skill_change",
    summary: "changes a text of your own skills, shown as a diff and approved",
    description:
      "Proposes a change to one of the operators' own skills; people see it as a diff and decide. Only after a thread is resolved, and only if a runbook was wrong or lacked what helped.",
    input,
    effect: "write",
    title: ({ skill, file }) => `Change ${file} of the skill ${skill}`,
    hostBound: true,
    timeoutMs: 20_000,
    resource: ({ skill }) => `skill ${skill}`,
    async pin(given) {
      return { ...given, pinned: (await planOf(given)).place };
    },
    async precheck(given) {
      await planOf(given);
    },
    async preview(given, { encoder }) {
      const { file, change } = await planOf(given);
      // Before it is cut into lines: a key may have several.
      const shown = (text: string | undefined) =>
        text === undefined ? undefined : encoder.hide(text);
      const safe = { before: shown(change.before), after: shown(change.after) };
      return {
        diff: unifiedDiff(`${given.skill}/${file.id}`, safe),
        lines: [
          { label: "Why", value: given.reason },
          { label: "File", value: file.path, detail: true },
        ],
        blastRadius: "Every run from then on reads it as your instruction.",
        undo: "Puts the old text back, while the file is as this leaves it.",
      };
    },
    async run(given) {
      const { file, change } = await planOf(given);
      await writeChange(file, change);
      const done = change.before === undefined ? "was made" : "was changed";
      return {
        text: `${file.id} of the skill ${given.skill} ${change.after === undefined ? "was removed" : done}. Runs that begin now have it.`,
        undo: reverseOf(given, change),
      };
    },
    async verify(given) {
      const { pinned: place } = given;
      const { text: now } = await fileOf(skillNamed(skills, given.skill), given.file);
      if (place === undefined) return { verdict: "unknown", evidence: "Nothing was fixed." };
      const evidence = `${given.file} has the SHA-256 ${hashOf(now) || "of no file: it is not there"}.`;
      if (hashOf(now) === place.sha256) return { verdict: "not done", evidence };
      const before = beforeOf(given, now);
      if (before === UNKNOWN) return { verdict: "unknown", evidence };
      return { verdict: "done", evidence, undo: reverseOf(given, { before, after: now }) };
    },
  });
}

type Place = NonNullable<Input["pinned"]>;

/** @throws BotError PRECHECK_FAILED unless it is exactly one */
function placeOf({ file, old, new: text }: Input, before: string | undefined): Place {
  const sha256 = hashOf(before);
  if (old === text) throw refused("Old and new text are the same: nothing would change.");
  if (old === "") {
    if (before !== undefined)
      throw refused(`${file} is there already: give the text in it that is to be replaced.`);
    return { sha256, at: 0 };
  }
  const at = before?.indexOf(old) ?? -1;
  if (at < 0) throw refused(`The old text does not stand in ${file}, letter by letter.`);
  if (before?.indexOf(old, at + 1) !== -1)
    throw refused(`The old text stands in ${file} more than once: give more of what is around it.`);
  return { sha256, at };
}

/** @throws BotError PRECHECK_FAILED */
function changed({ file, old, new: text }: Input, at: number, before: string): string {
  if (before.slice(at, at + old.length) !== old)
    throw refused(`The old text does not stand in ${file} where it stood.`);
  return before.slice(0, at) + text + before.slice(at + old.length);
}

const UNKNOWN = Symbol("unknown");

/** What was there before, if this is what the call makes of it. */
function beforeOf(
  { old, new: text, pinned: place }: Input,
  now: string | undefined,
): string | undefined | typeof UNKNOWN {
  const { at, sha256, remove } = place ?? { at: 0, sha256: "" };
  if (now === undefined) return remove === true && hashOf(old) === sha256 ? old : UNKNOWN;
  if (remove === true || now.slice(at, at + text.length) !== text) return UNKNOWN;
  if (sha256 === "") return now === text ? undefined : UNKNOWN;
  const before = now.slice(0, at) + old + now.slice(at + text.length);
  return hashOf(before) === sha256 ? before : UNKNOWN;
}

/** Puts back what was there, byte by byte. */
function reverseOf(given: Input, { before, after }: TextChange): ReverseCall {
  const { skill, file, old, new: text, host, pinned: place } = given;
  const back = {
    sha256: hashOf(after),
    at: place?.at ?? 0,
    back: true,
    ...(before === undefined && { remove: true }),
  };
  const reason = "Takes the change back.";
  const args = { skill, file, old: text, new: old, reason, pinned: back };
  return { tool: "propose_skill_change", args: { ...args, ...(host !== undefined && { host }) } };
}
