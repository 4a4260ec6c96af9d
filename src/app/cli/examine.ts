import type { ChatAdapter } from "../../adapters/adapter.ts";
import { PLATFORMS } from "../../adapters/platforms.ts";
import { totalTokens } from "../../core/block.ts";
import { messageOf } from "../../core/errors.ts";
import { transportOf } from "../../core/journal-key.ts";
import { counted } from "../../core/text.ts";
import type { JournalReader } from "../../journal/journal.ts";
import type { Model } from "../../models/model.ts";
import type { Skill, SkillProblem } from "../../skills/skill.ts";
import type { Tool } from "../../tools/tool.ts";
import { keptTenant } from "../tenants.ts";

/** One thing that was looked at. `absent`: not here, and only what needs it will not work. */
export interface Finding {
  state: "ok" | "absent" | "broken";
  subject: string;
  text: string;
}

export interface DoctorParts {
  nodeVersion: string;
  envFile: string | undefined;
  storeName: string;
  warnings: readonly string[];
  /** Opens the store to be read; what can be lived with is told to `warn`. */
  openJournal(warn: (text: string) => void): Promise<JournalReader>;
  /** Undefined: none is configured. */
  loadModel: (() => Promise<Model>) | undefined;
  platforms: readonly ChatAdapter[];
  tools: readonly Tool[];
  unavailable: readonly { name: string; why: string }[];
  skills: readonly Skill[];
  /** Of skills, loaded or not. */
  problems: readonly SkillProblem[];
}

/** How long a model may take to say one word. */
const MODEL_MS = 30_000;
/** Enough for a word, also of a model that thinks first. */
const MODEL_TOKENS = 1_024;

/** Looks at everything a start depends on, and goes on after what is broken. */
export async function* examine(parts: DoctorParts): AsyncIterable<Finding> {
  yield { state: "ok", subject: "node", text: parts.nodeVersion };
  yield examineEnvironment(parts);
  const kept = new Map<string, string>();
  yield* examineStore(parts, kept);
  for (const text of parts.warnings) yield { state: "absent", subject: "configuration", text };
  yield await examineModel(parts);
  yield* examinePlatforms(parts, kept);
  for (const tool of parts.tools) {
    const missing = await tool.unavailable?.();
    const state = missing === undefined ? "ok" : "absent";
    yield { state, subject: tool.name, text: missing ?? tool.effect };
  }
  for (const { name, why } of parts.unavailable) {
    yield { state: "absent", subject: name, text: why };
  }
  const names = parts.skills.map(({ name }) => name).join(", ");
  if (names !== "") yield { state: "ok", subject: "skills", text: names };
  for (const { at, text, loaded } of parts.problems) {
    yield { state: loaded ? "ok" : "absent", subject: "skill", text: `${at}: ${text}` };
  }
}

function examineEnvironment({ envFile }: DoctorParts): Finding {
  const subject = "environment";
  if (envFile === undefined) return { state: "absent", subject, text: "no .env file was read" };
  return {
    state: "ok",
    subject,
    text: `${envFile} was read; variables set elsewhere take precedence`,
  };
}

/** Asks it for a word: the key, the name and the way there are right if it comes. */
async function examineModel({ loadModel }: DoctorParts): Promise<Finding> {
  const subject = "model";
  if (loadModel === undefined) {
    return { state: "absent", subject, text: "none configured: direct commands only" };
  }
  const began = performance.now();
  try {
    const model = await loadModel();
    const { usage } = await model.generate(
      {
        system: "You are being tested.",
        tools: [],
        turns: [{ role: "user", content: [{ kind: "text", text: "Say: ok" }] }],
        toolChoice: "auto",
        maxOutputTokens: MODEL_TOKENS,
      },
      { signal: AbortSignal.timeout(MODEL_MS) },
    );
    const ms = Math.round(performance.now() - began);
    const text = `${model.id} answers in ${ms} ms (${totalTokens(usage)} tokens used)`;
    return { state: "ok", subject, text };
  } catch (error) {
    return { state: "broken", subject, text: messageOf(error) };
  }
}

async function* examinePlatforms(
  { platforms }: DoctorParts,
  kept: ReadonlyMap<string, string>,
): AsyncIterable<Finding> {
  if (platforms.length === 0) {
    const names = PLATFORMS.map(({ title }) => title).join(", ");
    const text = `none configured (${names}): npm start opens a conversation in the terminal`;
    yield { state: "absent", subject: "platforms", text };
  }
  for (const platform of platforms) {
    const subject = platform.transport;
    try {
      for (const { ok, weak, text } of await platform.examine(kept.get(subject))) {
        yield { state: ok ? (weak === true ? "absent" : "ok") : "broken", subject, text };
      }
    } catch (error) {
      yield { state: "broken", subject, text: messageOf(error) };
    }
  }
}

/** Notes in `kept` what the store has of whom each platform serves. */
async function* examineStore(
  { openJournal, storeName, platforms }: DoctorParts,
  kept: Map<string, string>,
): AsyncIterable<Finding> {
  const subject = "store";
  const weaknesses: string[] = [];
  try {
    const journal = await openJournal((text) => weaknesses.push(text));
    try {
      const damage = await journal.check();
      let [threads, incidents] = [0, 0];
      for await (const { key } of journal.list()) {
        const kind = transportOf(key);
        if (kind === "incident") incidents += 1;
        else if (kind !== "team") threads += 1;
      }
      for (const { transport } of platforms) {
        const tenant = await keptTenant(journal, transport);
        if (tenant !== undefined) kept.set(transport, tenant);
      }
      if (damage !== undefined) yield { state: "broken", subject, text: damage };
      else
        yield {
          state: "ok",
          subject,
          text: `${storeName}, ${counted(threads, "thread")} and ${counted(incidents, "incident")}; readable, \`audit --verify\` checks the seals`,
        };
      for (const { host, beatAt, gone } of await journal.hosts()) {
        const at = new Date(beatAt).toISOString().slice(0, 19).replace("T", " ");
        const text = `${host}, last seen at ${at} UTC`;
        yield { state: gone ? "absent" : "ok", subject: "host", text };
      }
    } finally {
      await journal.close();
    }
  } catch (error) {
    yield { state: "broken", subject, text: messageOf(error) };
  }
  for (const text of weaknesses) yield { state: "absent", subject, text };
}
