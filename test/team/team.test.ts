import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Journal } from "../../src/journal/journal.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { createFeedback } from "../../src/team/feedback.ts";
import { createSecretKeys, type SecretKeySource } from "../../src/team/secret-keys.ts";
import { createSecrets } from "../../src/team/secrets.ts";
import { createToolForms } from "../../src/team/tool-forms.ts";

const NONE = { secret: undefined, older: undefined, file: undefined };
const signal = new AbortController().signal;

async function opened() {
  const folder = await mkdtemp(join(tmpdir(), "secrets-"));
  const journal = openMemoryJournal();
  onTestFinished(async () => {
    await journal.close();
    await rm(folder, { recursive: true });
  });
  const file = join(folder, "key");
  /** A process of its own. */
  const process = (source: Partial<SecretKeySource> = { file }, store: Journal = journal) =>
    createSecrets(store, createSecretKeys({ ...NONE, ...source }));
  return { journal, file, process };
}

describe("what is kept encrypted", () => {
  test("is read by every process that has the key, and by nobody else", async () => {
    const { journal, file, process } = await opened();
    expect(await process().read("a")).toEqual({ value: undefined, version: 0 });
    expect(await process().write("a", "plain words", 0)).toBe(true);
    expect(await process().read("a")).toEqual({ value: "plain words", version: 1 });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.stringify(await journal.read("team:secret:a"))).not.toContain("plain");
    const other = process({ secret: "another secret, 32 long or more ..." });
    await expect(other.read("a")).rejects.toThrow("a different WATCHKEEPER_SECRET");
    expect(await process().write("a", undefined, 1)).toBe(true);
    expect(await process().read("a")).toEqual({ value: undefined, version: 2 });
  });

  type Sealed = Extract<Parameters<Journal["post"]>[1], { kind: "secret" }>;
  const flipped = (text: string) => (text.startsWith("A") ? "B" : "A") + text.slice(1);

  test.each<[string, string, (entry: Sealed) => Sealed[]]>([
    ["under another name", "b", (entry) => [entry]],
    ["as a later version", "a", (entry) => [entry, { ...entry, id: "secret:1" }]],
    ["with another byte", "a", (entry) => [{ ...entry, data: flipped(entry.data) }]],
    ["cut short", "a", (entry) => [{ ...entry, data: entry.data.slice(0, 20) }]],
  ])("is not taken %s", async (_, name, altered) => {
    const { journal, process } = await opened();
    await process().write("a", "words", 0);
    const [entry] = await journal.read("team:secret:a");
    if (entry?.kind !== "secret") throw new Error("it is not a secret");
    const { id, kind, key, data } = entry;
    const copied = async (into: string, drafts: readonly Sealed[]) => {
      const { journal: other } = await opened();
      for (const draft of drafts) await other.post(`team:secret:${into}`, draft);
      return process(undefined, other).read(into);
    };
    const same: Sealed = { id, kind, key, data };
    expect(await copied("a", [same])).toMatchObject({ value: "words" });
    await expect(copied(name, altered(same))).rejects.toThrow("altered outside");
  });

  test("is written by one of several at the same moment, and worked on by one", async () => {
    const { process } = await opened();
    const many = [1, 2, 3, 4].map(() => process());
    const wrote = await Promise.all(many.map((each, at) => each.write("a", `${at}`, 0)));
    expect(wrote.filter(Boolean)).toHaveLength(1);
    let atWork = 0;
    const seen = await Promise.all(
      many.map(async (each) =>
        each.exclusive("a", signal, async () => {
          expect((atWork += 1)).toBe(1);
          const { version } = await each.read("a");
          await each.write("a", "next", version);
          atWork -= 1;
          return version;
        }),
      ),
    );
    expect(new Set(seen)).toEqual(new Set([1, 2, 3, 4]));
  });
});

describe("another key", () => {
  test("that is made half-way leaves everything readable, and the next time goes on", async () => {
    const { journal, file, process } = await opened();
    const running = process();
    for (const name of ["a", "b", "c"]) await running.write(name, `of ${name}`, 0);
    const before = (await readFile(file, "utf8")).trim();
    let posts = 0;
    const dying: Journal = {
      ...journal,
      post: async (...args) => {
        if ((posts += 1) > 1) throw new Error("killed");
        return journal.post(...args);
      },
    };
    await expect(process(undefined, dying).changeKey(signal)).rejects.toThrow("killed");
    for (const name of ["a", "b", "c"]) expect((await running.read(name)).value).toBe(`of ${name}`);
    // Written meanwhile by a process that was started before.
    expect(await running.write("d", "of d", 0)).toBe(true);
    expect(await process().changeKey(signal)).toEqual(["a", "b", "c", "d"]);
    const after = (await readFile(file, "utf8")).trim();
    expect(after).not.toContain("\n");
    expect(after).not.toBe(before);
    for (const name of ["a", "b", "c", "d"])
      expect((await running.read(name)).value).toBe(`of ${name}`);
    await expect(process({ secret: before }).read("a")).rejects.toThrow(
      "a different WATCHKEEPER_SECRET",
    );
  });

  test("that is changed twice at once stays readable", async () => {
    const { journal, process } = await opened();
    const running = process();
    await running.write("a", "of a", 0);
    const dying: Journal = { ...journal, post: async () => Promise.reject(new Error("killed")) };
    let lists = 0;
    const interrupted: Journal = {
      ...journal,
      async *list(options) {
        if ((lists += 1) === 2)
          await expect(process(undefined, dying).changeKey(signal)).rejects.toThrow("killed");
        yield* journal.list(options);
      },
    };
    await process(undefined, interrupted).changeKey(signal);
    expect((await running.read("a")).value).toBe("of a");
  });

  test("that is set takes the place of the one before it, or of the file's", async () => {
    const { file, process } = await opened();
    const [old, secret] = [
      "the secret of before, 32 or longer",
      "the secret of today, 32 or longer",
    ];
    await process({ secret: old }).write("a", "words", 0);
    const both = process({ secret, older: old });
    expect((await both.read("a")).value).toBe("words");
    expect(await both.changeKey(signal)).toEqual(["a"]);
    expect((await process({ secret }).read("a")).value).toBe("words");
    await process().write("b", "words", 0);
    expect(await process({ secret, file }).changeKey(signal)).toEqual(["b"]);
    await expect(stat(file)).rejects.toThrow("ENOENT");
    expect((await process({ secret }).read("b")).value).toBe("words");
  });
});

describe("a form of a tool", () => {
  test("of two that are accepted at the same moment one is told to look again", async () => {
    const forms = createToolForms((await opened()).journal);
    const form = (description: string) => ({
      server: "s",
      tool: "t",
      by: undefined,
      form: { description },
    });
    await forms.accept(form("a"), undefined);
    const hash = (await forms.read())[0]?.hash;
    const both = await Promise.allSettled([
      forms.accept(form("b"), hash),
      forms.accept(form("c"), hash),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await forms.read()).toHaveLength(1);
  });
});

test("feedback counts each person's newest word on an answer, and what is private is counted and not shown", async () => {
  const { journal } = await opened();
  const say = (
    account: string,
    thread: string,
    more: { helpful: boolean; [more: string]: unknown },
  ) =>
    journal.post("team:feedback", {
      id: `${account} ${thread} ${JSON.stringify(more)}`,
      kind: "feedback",
      actor: { account, name: account },
      thread,
      run: "r1",
      ...more,
    });
  await say("slack:T1:U1", "slack:T1:C1:1.0", { helpful: false, reason: "too long" });
  await say("slack:T1:U1", "slack:T1:C1:1.0", { helpful: false });
  await say("slack:T1:U2", "slack:T1:C2:1.0", { helpful: true, audience: "slack:T1:C2" });
  await say("slack:T1:U2", "slack:T1:C1:1.0", { helpful: false });
  await say("slack:T1:U2", "slack:T1:C1:1.0", { helpful: true });
  await say("slack:T2:U1", "slack:T2:C1:1.0", { helpful: true });
  const feedback = createFeedback(journal);
  const seen = async (audience: string | undefined, tenants: string[] | "all") =>
    (await feedback.list({ audience, tenants })).map(({ actor, helpful, reason, readable }) => [
      actor.account.slice(6),
      helpful,
      reason,
      readable,
    ]);
  expect(await seen(undefined, ["slack:T1"])).toEqual([
    ["T1:U2", true, undefined, true],
    ["T1:U2", true, undefined, false],
    ["T1:U1", false, "too long", true],
  ]);
  expect(await seen("slack:T1:C2", ["slack:T1"])).toHaveLength(3);
  expect(await seen(undefined, ["slack:T2"])).toEqual([["T2:U1", true, undefined, true]]);
  expect(await seen(undefined, "all")).toHaveLength(4);
});
