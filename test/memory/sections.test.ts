import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Embedder } from "../../src/core/embedder.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { createMemory } from "../../src/memory/memory.ts";
import type { Skill } from "../../src/skills/skill.ts";
import { createRecall } from "../../src/tools/memory/recall.ts";
import { ASKER } from "../fakes/asker.ts";
import { openTestIndex } from "../fakes/memory.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { idleContext } from "../fakes/tool-context.ts";

const START = Date.parse("2026-11-20T12:00:00Z");
/** What is about the same has the same direction, in whatever words. */
const CONCEPTS = [
  /oom|137|out of memory/i,
  /disk|inode|space left/i,
  /^(?!.*(?:oom|137|out of memory|disk|inode|space left))/is,
];

const skill = (name: string, body: string, files: Readonly<Record<string, string>> = {}): Skill =>
  ({
    name,
    description: `How ${name} is looked into`,
    body,
    files: async () =>
      Object.entries(files).map(([id, text]) => ({ id, bytes: Buffer.byteLength(text) })),
    read: async (id: string) => files[id] ?? "",
  }) as unknown as Skill;

const SKILLS = [
  skill("pods", "Intro.\n# Killed by the kernel\nThe container was OOMKilled. Token hunter2."),
  skill("storage", "Intro.\n# Inodes\nMany small files use up the disk.", {
    "runbook.md": "# Old images\nImages fill the disk of a node.",
  }),
];

function stage({
  path,
  model = "test/concepts",
  skills = SKILLS,
  maySend,
}: {
  path?: string;
  model?: string;
  skills?: readonly Skill[];
  maySend?: (thread: string | undefined) => boolean;
} = {}) {
  const sent: string[] = [];
  const embedder: Embedder = {
    id: model,
    embed: async (texts) => {
      sent.push(...texts);
      return texts.map((text) =>
        Float32Array.from(CONCEPTS, (concept) => (concept.test(text) ? 1 : 0)),
      );
    },
  };
  const journal = openMemoryJournal({ now: () => START });
  onTestFinished(() => journal.close());
  const memory = createMemory({
    journal,
    index: openTestIndex({ path, model }),
    encode: (text) => text.replaceAll("hunter2", "[secret]"),
    embedder,
    ...(maySend !== undefined && { maySend }),
  });
  const tool = createRecall(() => memory, skills);
  const recall = async (text: string, key: JournalKey = "slack:T1:C1:2.2") => {
    const asker = {
      ...ASKER,
      startedAt: START,
      key,
      audience: async () => undefined,
      tenants: async () => ["slack:T1"],
      outside: async () => false,
    };
    return (await tool.run({ text, limit: 5 }, idleContext({ asker }))).text;
  };
  return { recall, sent };
}

const PARAPHRASE = "process exits with 137";

test("a section is found by a paraphrase that has none of its words", async () => {
  const { recall } = stage();
  expect(await recall(PARAPHRASE)).toContain("Skills and runbooks: pods: Killed by the kernel");
  const blind = stage({ maySend: () => false });
  expect(await blind.recall(PARAPHRASE)).toBe("Nothing that is remembered here is like that.");
});

test("sections of a skill's files are among them, and what is about something else is not named", async () => {
  const { recall } = stage();
  const found = await recall("no space left");
  expect(found).toContain("storage: Inodes");
  expect(found).toContain("storage/runbook.md: Old images");
  expect(found).not.toContain("pods");
});

test("each section is sent once without secrets, by whichever process, until it or the model changes", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sections-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "memory.db");
  const [storage] = SKILLS.slice(1);
  const first = stage({ path });
  await first.recall(PARAPHRASE);
  await first.recall("no space left");
  expect(first.sent.filter((text) => text === PARAPHRASE)).toHaveLength(1);
  const sections = first.sent.filter((text) => text.includes("\n"));
  expect(new Set(sections).size).toBe(sections.length);
  expect(sections.filter((text) => text.includes("OOMKilled"))).toEqual([
    expect.stringContaining("Token [secret]."),
  ]);
  const again = stage({ path });
  expect(await again.recall(PARAPHRASE)).toContain("pods: Killed by the kernel");
  expect(again.sent).toEqual([PARAPHRASE]);
  const changed = skill("pods", "Intro.\n# Killed by the kernel\nIt ran out of memory.");
  const edited = stage({ path, skills: storage === undefined ? [] : [changed, storage] });
  await edited.recall(PARAPHRASE);
  expect(edited.sent).toEqual([PARAPHRASE, expect.stringContaining("ran out of memory")]);
  const other = stage({ path, model: "test/other" });
  await other.recall(PARAPHRASE);
  expect(other.sent).toHaveLength(1 + sections.length);
});

test("nothing is sent for a question of a place whose words may not go to the provider", async () => {
  const { recall, sent } = stage({ maySend: (thread) => thread !== "slack:T1:C7:7.7" });
  expect(await recall(PARAPHRASE, "slack:T1:C7:7.7")).toBe(
    "Nothing that is remembered here is like that.",
  );
  expect(sent).toEqual([]);
  expect(await recall(PARAPHRASE)).toContain("pods: Killed by the kernel");
});
