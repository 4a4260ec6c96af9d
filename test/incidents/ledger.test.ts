import { describe, expect, test } from "vitest";
import { encodeText } from "../../src/security/sanitize.ts";
import { BotError } from "../../src/core/errors.ts";
import { createRedactor } from "../../src/security/redaction.ts";
import { createLedger } from "../fakes/ledger.ts";
import { type Journal, knownOf } from "../../src/journal/journal.ts";
import { createStage, MINUTE, START } from "./stage.ts";

const EVERYONE = { audience: undefined, tenants: ["test"] };
const PLACE = "slack:T1:C7";

describe("an incident's record", () => {
  test("begins with its opening and grows by what is said of it", async () => {
    const { ledger, clock, saying, open } = await createStage();
    const id = await open("Checkout fails", { severity: "sev2", services: ["Web", " db ", "web"] });
    expect(id).toMatch(/^inc-20261120-[a-z2-7]{4}$/);
    clock.now += 20 * MINUTE;
    await ledger.update(saying(), id, {
      severity: "sev1",
      actions: ["Add an alert"],
      note: "disk",
    });
    clock.now += 28 * MINUTE;
    await ledger.resolve(saying(), id, { cause: "A full disk", actions: ["Larger disk"] });
    const incident = await ledger.get(id.toUpperCase(), EVERYONE);
    expect(incident).toMatchObject({
      title: "Checkout fails",
      severity: "sev1",
      services: ["web", "db"],
      status: "resolved",
      startedAt: START,
      resolvedAt: START + 48 * MINUTE,
      cause: "A full disk",
      actions: ["Add an alert", "Larger disk"],
    });
    expect(incident.history.map(({ at }) => (at - START) / MINUTE)).toEqual([0, 20, 48]);
  });

  test("is in one journal of its own; its thread is due, to show how it stands", async () => {
    const { journal, open } = await createStage();
    const id = await open();
    expect(await journal.read(`incident:${id}`)).toHaveLength(1);
    for await (const key of journal.due()) expect(key).toBe("test:thread");
  });

  test("the same call again changes nothing, whatever it says and however late", async () => {
    const { ledger, journal, saying, clock } = await createStage();
    const opening = saying();
    const first = await ledger.open(opening, { title: "One" });
    clock.now += 86_400_000;
    const second = createLedger(journal);
    expect(await second.open(opening, { title: "Two" })).toEqual(first);
    const word = saying();
    await ledger.update(word, first.id, { note: "a" });
    const once = await ledger.update(word, first.id, { note: "b" });
    expect(once.history).toHaveLength(2);
    const end = saying();
    await Promise.all([ledger, second].map((one) => one.resolve(end, first.id, {})));
    expect((await ledger.get(first.id, EVERYONE)).history).toHaveLength(3);
    expect((await second.resolve(end, first.id, {})).history).toHaveLength(3);
    expect(await ledger.list({}, EVERYONE)).toHaveLength(1);
  });

  test("calls of the same name in different threads are different calls", async () => {
    const { ledger, saying, open } = await createStage();
    const id = await open("One", {}, { thread: "test:a", call: "r1.t1" });
    const others = Array.from({ length: 12 }, (_, i) => ({ thread: `test:b${i}`, call: "r1.t1" }));
    const ids = await Promise.all(others.map((from) => open("Two", {}, from)));
    expect(new Set([id, ...ids]).size).toBe(13);
    await ledger.update(saying({ thread: "test:a", call: "r1.t2" }), id, { note: "a" });
    await ledger.update(saying({ thread: "test:b", call: "r1.t2" }), id, { note: "b" });
    expect((await ledger.get(id, EVERYONE)).history).toHaveLength(3);
  });

  test("an id that another call has is passed over, by the same call every time", async () => {
    const { ledger, journal, saying } = await createStage();
    const opening = saying();
    const wanted = (await ledger.open(opening, { title: "First" })).id;
    const stage = await createStage();
    await stage.journal.post(`incident:${wanted}`, {
      id: "opened:test:other:r1.t1",
      kind: "incident",
      actor: { account: "test:bo", name: "Bo" },
      thread: "test:other",
      audience: PLACE,
      change: { title: "Another's" },
    });
    const mine = await stage.ledger.open(opening, { title: "Mine" });
    expect(mine.id).not.toBe(wanted);
    expect(await stage.ledger.open(opening, { title: "Mine" })).toEqual(mine);
    expect(await stage.ledger.written(opening)).toEqual(mine);
    await expect(stage.ledger.get(wanted, EVERYONE)).rejects.toThrow("No incident");
    expect(await journal.read(`incident:${wanted}`)).toHaveLength(1);
  });

  test("a second opening in its journal is another's, and without one there is no incident", async () => {
    const { ledger, journal, open } = await createStage();
    const id = await open("First");
    const fields = { kind: "incident", actor: { account: "a", name: "A" }, thread: "t:1" } as const;
    const change = { title: "Second" };
    await journal.post(`incident:${id}`, { id: "opened:t:1:r1", ...fields, change });
    expect(await ledger.get(id, EVERYONE)).toMatchObject({ title: "First", history: [{}] });
    await journal.post("incident:inc-20261120-aaaa", { id: "said:t:1:r1", ...fields, change });
    expect(await ledger.list({}, EVERYONE)).toHaveLength(1);
  });

  test("a clock that was put back does not make its end impossible", async () => {
    const { ledger, clock, saying, open } = await createStage();
    const id = await open("T", { startedAt: START });
    clock.now -= MINUTE;
    const other = await open("U", { startedAt: START }, { at: START });
    for (const one of [id, other]) {
      expect(await ledger.resolve(saying(), one, {})).toMatchObject({ resolvedAt: START });
    }
  });

  test("of two who end it at once one does, and the other is told", async () => {
    const { ledger, journal, saying, open } = await createStage();
    const id = await open();
    const other = createLedger(journal);
    await Promise.all([ledger.get(id, EVERYONE), other.get(id, EVERYONE)]);
    const ends = await Promise.allSettled(
      [ledger, other, ledger, other].map((one, i) => one.resolve(saying(), id, { cause: `${i}` })),
    );
    expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const end of ends) {
      if (end.status === "rejected") expect(String(end.reason)).toContain("was already resolved");
    }
    const { cause, history } = await ledger.get(id, EVERYONE);
    expect(history).toHaveLength(2);
    expect(history[1]?.change.cause).toBe(cause);
    expect(await other.get(id, EVERYONE)).toEqual(await ledger.get(id, EVERYONE));
  });

  test("can be opened again and ended again, and its end corrected", async () => {
    const { ledger, clock, saying, open } = await createStage();
    const id = await open();
    clock.now += 10 * MINUTE;
    await ledger.resolve(saying(), id, {});
    await ledger.update(saying(), id, { resolvedAt: START + MINUTE });
    expect(await ledger.get(id, EVERYONE)).toMatchObject({ resolvedAt: START + MINUTE });
    const again = await ledger.update(saying(), id, { status: "open" });
    expect(again).toMatchObject({ status: "open", resolvedAt: undefined });
    clock.now += 10 * MINUTE;
    expect(await ledger.resolve(saying(), id, {})).toMatchObject({
      resolvedAt: START + 20 * MINUTE,
    });
  });

  test("texts are kept as they may be shown: without secrets, escape sequences and line breaks", async () => {
    const redactor = createRedactor([{ name: "TOKEN", value: "hunter2-hunter2" }]);
    const { ledger, journal, saying, open } = await createStage((text) =>
      encodeText(text, redactor),
    );
    const id = await open("Checkout\n\u001b[31mfails hunter2-hunter2", {
      services: ["", "a\u202eb"],
    });
    await ledger.update(saying({ actor: { account: "a", name: "A\nna" } }), id, {
      cause: "x\ny",
      actions: ["hunter2-hunter2", " "],
      note: "first\nsecond hunter2-hunter2",
    });
    const incident = await ledger.get(id, EVERYONE);
    expect(incident).toMatchObject({
      title: "Checkout fails [secret:TOKEN]",
      services: ["ab"],
      cause: "x y",
      actions: ["[secret:TOKEN]"],
    });
    expect(incident.history[1]).toMatchObject({
      actor: { name: "A na" },
      change: { note: "first\nsecond [secret:TOKEN]" },
    });
    expect(JSON.stringify(await journal.read(`incident:${id}`))).not.toContain("hunter2");
  });
});

describe("what does not fit is refused, says why, and leaves nothing behind", () => {
  test.each([
    ["a title of nothing", { title: " \u200b" }, "needs a title"],
    ["detected before it started", { detectedAt: START - 1 }, "detected"],
    ["a begin in the future", { startedAt: START + 1 }, "startedAt is in the future"],
    ["an end at its opening", { resolvedAt: START }, "Open the incident first"],
  ])("%s", async (_, change, why) => {
    const { ledger, saying } = await createStage((text) => text.replaceAll("\u200b", ""));
    const opened = ledger.open(saying(), { title: "T", ...change });
    await expect(opened).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(opened).rejects.toThrow(why);
    expect(await ledger.list({}, EVERYONE)).toEqual([]);
  });

  test("an end before its begin, an end twice, an opening twice, an end of what is open, and nothing at all", async () => {
    const { ledger, clock, saying, open } = await createStage();
    const id = await open("One", { startedAt: START - MINUTE });
    const before = await ledger.get(id, EVERYONE);
    await expect(ledger.resolve(saying(), id, { resolvedAt: START - MINUTE - 1 })).rejects.toThrow(
      "It was resolved (2026-11-20T11:58:59Z) before it started (2026-11-20T11:59:00Z).",
    );
    await expect(ledger.update(saying(), id, { status: "open" })).rejects.toThrow(
      "is already open",
    );
    await expect(ledger.update(saying(), id, { resolvedAt: START })).rejects.toThrow(
      "Resolve it instead",
    );
    await expect(ledger.update(saying(), id, {})).rejects.toThrow("Say what should change");
    await expect(ledger.update(saying(), id, { title: " " })).rejects.toThrow("needs a title");
    expect(await ledger.get(id, EVERYONE)).toEqual(before);
    clock.now += MINUTE;
    await ledger.resolve(saying(), id, {});
    await expect(ledger.resolve(saying(), id, {})).rejects.toThrow(
      `${id} was already resolved at 2026-11-20T12:01:00Z.`,
    );
    await expect(ledger.update(saying(), id, { startedAt: START + MINUTE })).resolves.toBeDefined();
    expect((await ledger.get(id, EVERYONE)).history).toHaveLength(3);
  });

  test("an unknown id, with the near ones or the newest", async () => {
    const { ledger, saying, open } = await createStage();
    await expect(ledger.get("inc-20261120-aaaa", EVERYONE)).rejects.toThrow(
      "is visible from here.",
    );
    const id = await open();
    const swapped = id.replace(/(.)(.)$/, "$2$1").replace(/^inc/, "ink");
    await expect(ledger.get(swapped, EVERYONE)).rejects.toThrow(`Did you mean ${id}?`);
    await expect(ledger.update(saying(), "x".repeat(500), { note: "n" })).rejects.toThrow(
      `…" is visible from here. The newest: ${id}.`,
    );
  });
});

describe("what is public", () => {
  const ACME = { thread: "slack:T1:C1:1.1", tenants: ["slack:T1"] };
  const GUILD = { thread: "discord:1122:33", tenants: ["discord:1122"] };
  const ids = (found: readonly { id: string }[]) => found.map(({ id }) => id);

  test("is so within its tenant: elsewhere it is in no list, number, search or suggestion", async () => {
    const { ledger, saying, open } = await createStage();
    const acme = await open("Checkout leaks", {}, ACME);
    const guild = await open("Checkout slow", {}, GUILD);
    const period = { from: START - MINUTE, to: START + MINUTE, zone: "UTC", name: "now" };
    for (const [from, own, other] of [
      [ACME, acme, guild],
      [GUILD, guild, acme],
    ] as const) {
      const viewer = { audience: undefined, tenants: from.tenants };
      expect(ids(await ledger.list({}, viewer))).toEqual([own]);
      expect(ids((await ledger.search("checkout", viewer)).found)).toEqual([own]);
      const stats = await ledger.stats(period, viewer, 10);
      expect([stats.opened, ids(stats.newest)]).toEqual([1, [own]]);
      await expect(ledger.get(other, viewer)).rejects.toThrow(`The newest: ${own}.`);
      const update = ledger.update(saying(from), other, { note: "psst" });
      await expect(update).rejects.toMatchObject({ code: "INPUT_INVALID" });
    }
  });

  test("is all of it the operator's, whose own records are seen in the terminal alone", async () => {
    const { ledger, open } = await createStage();
    const acme = await open("Checkout leaks", {}, ACME);
    const own = await open("Checkout of the machine", {}, { thread: "terminal:1" });
    const everything = { audience: undefined, tenants: "all" } as const;
    expect(new Set(ids((await ledger.search("checkout", everything)).found))).toEqual(
      new Set([acme, own]),
    );
    const there = { audience: undefined, tenants: ACME.tenants };
    expect(ids(await ledger.list({}, there))).toEqual([acme]);
  });

  test("in a direct message is what is public in the tenants of whoever asks, beside its own", async () => {
    const { ledger, open } = await createStage();
    const guild = await open("Checkout slow", {}, GUILD);
    await open("Checkout leaks", {}, ACME);
    const DM = "discord:dm:44";
    const own = await open("Checkout of mine", {}, { thread: DM, audience: DM });
    const asker = { audience: DM, tenants: GUILD.tenants };
    expect(new Set(ids(await ledger.list({}, asker)))).toEqual(new Set([guild, own]));
    expect(ids(await ledger.list({}, { audience: DM, tenants: [] }))).toEqual([own]);
  });
});

describe("what is private", () => {
  test("never enters a public record, nor another place's, and the refusal says where to say it", async () => {
    const { ledger, saying, open } = await createStage();
    const shared = await open("Public");
    const own = await open("Private", {}, { audience: PLACE });
    await expect(
      ledger.update(saying({ audience: PLACE }), shared, { note: "psst" }),
    ).rejects.toThrow(`${shared} is public and this thread is private`);
    await expect(ledger.resolve(saying({ audience: PLACE }), shared, {})).rejects.toMatchObject({
      code: "PRECHECK_FAILED",
    });
    await ledger.update(saying({ audience: PLACE }), own, { note: "psst" });
    for (const audience of [undefined, "slack:T1:C8"]) {
      const refused = ledger.update(saying({ audience }), own, { note: "hello" });
      await expect(refused).rejects.toThrow(`No incident "${own}" is visible from here.`);
      await expect(refused).rejects.toThrow(`The newest: ${shared}.`);
    }
    expect((await ledger.get(shared, EVERYONE)).history).toHaveLength(1);
    expect((await ledger.get(own, { audience: PLACE, tenants: ["test"] })).history).toHaveLength(2);
  });

  test("a post from another place that is in the journal all the same is no part of the record", async () => {
    const { ledger, journal, open } = await createStage();
    const id = await open();
    const actor = { account: "test:eve", name: "Eve" };
    const fields = { kind: "incident", actor, thread: "t:1", audience: PLACE } as const;
    await journal.post(`incident:${id}`, {
      id: "said:t:1:r1",
      ...fields,
      change: { note: "psst" },
    });
    expect(JSON.stringify(await ledger.get(id, EVERYONE))).not.toContain("psst");
    expect((await ledger.search("psst", EVERYONE)).found).toEqual([]);
  });
});

describe("finding", () => {
  test("puts the results in an order in which nothing private has a part", async () => {
    const { ledger, clock, open } = await createStage();
    const disc = await open("disc full");
    clock.now += MINUTE;
    const disk = await open("disk full");
    // In one index with these, "disk" would be a common word and so the worse match.
    for (let i = 0; i < 20; i++) await open("disk broken", {}, { audience: PLACE });
    const found = (await ledger.search("dis", EVERYONE)).found;
    expect(found.map(({ id }) => id)).toEqual([disk, disc]);
    expect((await ledger.search("dis", { audience: PLACE, tenants: ["test"] })).found).toHaveLength(
      22,
    );
  });

  test("by words of any of its texts, their beginnings and misspellings, the best first", async () => {
    const { ledger, clock, saying, open } = await createStage();
    const disk = await open("Disk full on db2", { services: ["payments"] });
    clock.now += MINUTE;
    const web = await open("Checkout fails");
    await ledger.update(saying(), web, { note: "the disk was full", cause: "cascading timeouts" });
    const ids = async (text: string) =>
      (await ledger.search(text, EVERYONE)).found.map(({ id }) => id);
    expect(await ids("disk full")).toEqual([disk, web]);
    expect(await ids("paymnets")).toEqual([disk]);
    expect(await ids("casc")).toEqual([web]);
    expect(await ids(web)).toEqual([web]);
    expect(await ids("disk kubernetes")).toEqual([]);
    expect(await ids("")).toEqual([]);
    await ledger.update(saying(), web, { cause: "a bad deploy" });
    expect(await ids("cascading")).toEqual([]);
    expect(await ids("deploy")).toEqual([web]);
  });

  test("by what it is, the newest first", async () => {
    const { ledger, clock, saying, open } = await createStage();
    const one = await open("One", { severity: "sev1", services: ["web"] });
    clock.now += MINUTE;
    const two = await open("Two", { services: ["web", "db"] });
    await ledger.resolve(saying(), one, {});
    const ids = async (filter: Parameters<typeof ledger.list>[0]) =>
      (await ledger.list(filter, EVERYONE)).map(({ id }) => id);
    expect(await ids({})).toEqual([two, one]);
    expect(await ids({ status: "open" })).toEqual([two]);
    expect(await ids({ severity: "sev1" })).toEqual([one]);
    expect(await ids({ service: " WEB " })).toEqual([two, one]);
    expect(await ids({ service: "we" })).toEqual([]);
    const period = { from: START, to: START + 1, zone: "UTC", name: "then" };
    expect(await ids({ period })).toEqual([one]);
  });

  test("what another process writes is seen at once, and only what grew is read again", async () => {
    const { ledger, journal, saying, open } = await createStage();
    const ids = await Promise.all(["One", "Two", "Three"].map((title) => open(title)));
    let reads = 0;
    const counting: Pick<Journal, "read" | "post" | "changes"> = {
      read: (...args) => (reads++, journal.read(...args)),
      post: (...args) => journal.post(...args),
      changes: (...args) => journal.changes(...args),
    };
    const other = createLedger(counting);
    expect(await other.list({}, EVERYONE)).toHaveLength(3);
    expect(reads).toBe(3);
    await ledger.update(saying(), ids[1] ?? "", { title: "Changed" });
    expect((await other.list({}, EVERYONE)).map(({ title }) => title)).toContain("Changed");
    expect(reads).toBe(4);
  });
});

describe("when the store fails", () => {
  const failing = (journal: Journal, times: number, after: boolean) => {
    let left = times;
    const post: Journal["post"] = async (key, draft) => {
      if (left-- <= 0) return journal.post(key, draft);
      if (after) await journal.post(key, draft);
      throw new BotError("STORE_UNAVAILABLE", "no answer");
    };
    const parts = { post, read: journal.read, changes: journal.changes };
    return createLedger(parts);
  };

  test("once, the same is written again, and once", async () => {
    for (const after of [false, true]) {
      const { journal, saying } = await createStage();
      const opened = await failing(journal, 1, after).open(saying(), { title: "T" });
      expect(opened.history).toHaveLength(1);
    }
  });

  test("for longer, nobody claims that nothing was written, and reading back tells", async () => {
    for (const after of [false, true]) {
      const { ledger, journal, saying } = await createStage();
      const call = saying();
      await expect(failing(journal, 2, after).open(call, { title: "T" })).rejects.toMatchObject({
        code: "TIMEOUT",
      });
      expect((await ledger.written(call)) !== undefined).toBe(after);
    }
  });

  test("a newer program's entry stops this one from writing, not from showing what it knows", async () => {
    const { journal, saying, open } = await createStage();
    const id = await open();
    const entry = { seq: 2, at: START, id: "x", kind: "newer", written: "incident 2" } as const;
    const read: Journal["read"] = async (key, after = 0) =>
      knownOf(after).last < 2 ? [...(await journal.read(key, after)), entry] : [];
    const ledger = createLedger({ read, post: journal.post, changes: journal.changes });
    expect(await ledger.get(id, EVERYONE)).toMatchObject({ title: "Checkout fails" });
    await expect(ledger.update(saying(), id, { note: "n" })).rejects.toMatchObject({
      code: "STORE_NEWER",
    });
  });
});
