import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import type { Entry } from "../../src/core/entry.ts";
import { HOST_GONE_MS } from "../../src/core/host-beat.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { hostArgument } from "../../src/tools/host/host-argument.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { createChat } from "../fakes/chat.ts";
import { createStage, fakeTool, KEY, type Stage, type StageOptions } from "../fakes/stage.ts";

const MINUTE = 60_000;

/** A tool that acts on the machine it runs on, and where it was run, previewed, checked and read back. */
function machineTool(effect: "read" | "destructive", where: string, seen: string[]): Tool {
  const note = (what: string) => void seen.push(`${what} on ${where}`);
  const input = z.strictObject({ name: z.string(), host: hostArgument });
  const changes = {
    name: effect === "read" ? "look" : "act",
    effect,
    hostBound: true as const,
    input: input as unknown as z.ZodType<{ name: string }>,
    pin: async (given: { name: string }) => {
      note("pinned");
      return given;
    },
    precheck: async () => note("checked"),
    preview: async ({ name }: { name: string }) => {
      note("previewed");
      return { lines: [], blastRadius: `only ${name}`, undo: "none" };
    },
    verify: async () => {
      note("read back");
      return { verdict: "done" as const, evidence: "seen" };
    },
    run: async ({ name }: { name: string }) => {
      note("run");
      return { text: `did ${name}` };
    },
  };
  return fakeTool(changes);
}

interface Machine extends Stage {
  seen: string[];
}

/** Machines that serve one store, on one clock. The first one's `say` and `click` are anybody's. */
async function machines(names: readonly string[], options: StageOptions = {}) {
  const clock = { now: 1_000_000 };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const chat = createChat();
  const open = async (host: string): Promise<Machine> => {
    const seen: string[] = [];
    const tools = [machineTool("destructive", host, seen), machineTool("read", host, seen)];
    await journal.beat(host);
    const approvals = { singleOperator: true };
    return { ...(await createStage({ tools, approvals, journal, chat, host, ...options })), seen };
  };
  const all = await Promise.all(names.map(open));
  const dueFor = async (host: string) => {
    const keys: string[] = [];
    for await (const key of journal.due(host)) keys.push(key);
    return keys.includes(KEY);
  };
  /** Each machine works on what is due for it, as its processes' sweeps do, until none has anything. */
  const sweep = async (from: readonly Machine[] = all) => {
    for (let round = 0; round < 20; round++) {
      let worked = false;
      for (const each of from) {
        if (!(await dueFor(each.parts.dispatcher.host))) continue;
        await each.settle();
        worked = true;
      }
      if (!worked) return;
    }
    throw new Error("the machines hand the thread to and fro");
  };
  return { all, chat, clock, journal, dueFor, sweep, open };
}

const kindsOf = (entries: readonly Entry[], kind: Entry["kind"]) =>
  entries.filter((entry) => entry.kind === kind);

async function askedOnWeb() {
  const stage = await machines(["web-1", "db-1"]);
  const [web, db] = stage.all as [Machine, Machine];
  await web.say("run act name=nginx");
  await web.settle();
  return { ...stage, web, db };
}

describe("a tool that acts on its own machine", () => {
  test("carries that machine in arguments, digest, card and result", async () => {
    const { web, chat, sweep } = await askedOnWeb();
    const [card] = chat.cards();
    expect(card).toMatchObject({
      host: "web-1",
      args: { name: "nginx", host: "web-1" },
      canonical: '{"host":"web-1","name":"nginx"}',
    });
    const other = await machines(["db-1"]);
    await other.all[0]?.say("run act name=nginx");
    await other.sweep();
    expect(other.chat.cards()[0]?.digest).not.toBe(card?.digest);
    await web.click("a1", { kind: "approve" });
    await sweep();
    expect(chat.answers()).toMatchObject([
      { results: [{ outcome: "ok", text: "web-1 · did nginx\nVerified: seen" }] },
    ]);
  });

  test("is run, checked and read back only there, also when the approval reaches another machine first", async () => {
    const { web, db, chat, dueFor, sweep } = await askedOnWeb();
    await web.click("a1", { kind: "approve" });
    await db.settle();
    expect(chat.cards()).toMatchObject([{ phase: "approved", votes: [{ approve: true }] }]);
    expect([await dueFor("db-1"), await dueFor("web-1")]).toEqual([false, true]);
    await sweep();
    expect(db.seen).toEqual([]);
    expect(web.seen).toEqual([
      "pinned on web-1",
      "checked on web-1",
      "previewed on web-1",
      "checked on web-1",
      "run on web-1",
      "read back on web-1",
    ]);
    expect(kindsOf(await web.entries(), "tool_started")).toMatchObject([{ host: "web-1" }]);
  });

  test.each(["deny", "stop", "cancel"] as const)(
    "leaves a %s to whoever hears it while its machine is away",
    async (word) => {
      const { web, db, chat } = await askedOnWeb();
      await web.click("a1", { kind: "approve" });
      await db.settle();
      if (word === "stop") await web.say("stop", "test:bob");
      else
        await web.click("a1", { kind: word, ...(word === "cancel" && { sure: true }) }, "test:bob");
      await db.settle();
      const phase = word === "deny" ? "denied" : "cancelled";
      expect(chat.cards()).toMatchObject([{ phase }]);
      await web.settle();
      expect([...web.seen, ...db.seen]).not.toContain("run on web-1");
      expect(chat.answers()).toHaveLength(1);
    },
  );

  test("is void when its machine is gone, approved or not, and the card says so", async () => {
    for (const approved of [true, false]) {
      const { web, db, chat, clock, journal, dueFor, sweep } = await askedOnWeb();
      if (approved) await web.click("a1", { kind: "approve" });
      await sweep([db]);
      clock.now += HOST_GONE_MS - 1;
      await journal.beat("db-1");
      await sweep([db]);
      expect(chat.cards()).toMatchObject([{ phase: approved ? "approved" : "open" }]);
      clock.now += approved ? 1 : HOST_GONE_MS;
      await journal.beat("db-1");
      expect(await dueFor("db-1")).toBe(true);
      await sweep([db]);
      const why = "web-1 is gone, last seen at 00:16 UTC (serving: db-1)";
      expect(chat.cards()).toMatchObject([
        { phase: "void", ending: `void: ${why}; nothing was run` },
      ]);
      expect(chat.answers()).toMatchObject([
        { results: [{ outcome: "blocked", text: `Nothing was run: ${why}.` }] },
      ]);
      expect(db.seen).toEqual([]);
    }
  });

  test("goes on after a restart under the same name, within ten minutes", async () => {
    const { web, db, clock, chat, journal, sweep, open } = await askedOnWeb();
    await web.click("a1", { kind: "approve" });
    await sweep([db]);
    clock.now += 9 * MINUTE;
    await journal.beat("db-1");
    await sweep([db]);
    const again = await open("web-1");
    await sweep([again, db]);
    expect(again.seen).toContain("run on web-1");
    expect(chat.cards()).toMatchObject([{ phase: "done" }]);
  });

  test("tells people once that it waits for a machine that was not heard of for a minute", async () => {
    const { web, db, clock, chat, journal, sweep } = await askedOnWeb();
    await web.click("a1", { kind: "approve" });
    await sweep([db]);
    expect(chat.notices()).toEqual([]);
    clock.now += MINUTE;
    await journal.beat("db-1");
    await sweep([db]);
    clock.now += MINUTE;
    await journal.beat("db-1");
    await sweep([db]);
    expect(chat.notices().map(({ text }) => text)).toEqual([
      "a1 (act) waits for web-1, last seen at 00:16 UTC. I'll give up if web-1 isn't back by 00:26 UTC.",
    ]);
  });

  test("that was started on a machine which crashed is read back there, and nowhere else", async () => {
    const { web, db, chat, clock, journal, sweep } = await askedOnWeb();
    const draft = kindsOf(await web.entries(), "action_proposed")[0] as Entry<"action_proposed">;
    const crash = async () => {
      const granted = await journal.lease(KEY, 1_000);
      if (granted === undefined) throw new Error("somebody works on it");
      const { last } = await web.thread();
      const { run, call, tool, effect, digest } = draft;
      const started = { run, call, tool, effect, digest, host: "web-1", action: "a1", revision: 1 };
      await journal.append(granted.lease, last, [
        { id: `started:${call}`, kind: "tool_started", ...started },
      ]);
      clock.now += 2_000;
    };
    await crash();
    await sweep([db]);
    expect([db.seen, chat.cards()]).toMatchObject([[], [{ phase: "running" }]]);
    await sweep([web, db]);
    expect(web.seen).toContain("read back on web-1");
    expect(chat.cards()).toMatchObject([{ phase: "done" }]);
  });

  test("that was started on a machine which is gone is unknown, and says on which", async () => {
    const { web, db, chat, clock, journal, sweep } = await askedOnWeb();
    const draft = kindsOf(await web.entries(), "action_proposed")[0] as Entry<"action_proposed">;
    const granted = await journal.lease(KEY, 1_000);
    if (granted === undefined) throw new Error("somebody works on it");
    const { run, call, tool, effect, digest } = draft;
    const started = { run, call, tool, effect, digest, host: "web-1", action: "a1", revision: 1 };
    await journal.append(granted.lease, (await web.thread()).last, [
      { id: `started:${call}`, kind: "tool_started", ...started },
    ]);
    clock.now += HOST_GONE_MS + MINUTE;
    await journal.beat("db-1");
    await sweep([db]);
    expect(db.seen).toEqual([]);
    expect(chat.notices().at(-1)?.text).toMatch(
      /^UNKNOWN outcome of a1 \(act on web-1\)\. .* Checked afterwards: not possible: web-1 is gone/,
    );
  });

  test("is asked for on another machine by its name, reads too, and edited onto another", async () => {
    const { web, db, chat, sweep } = await askedOnWeb();
    await web.say("run look name=disk host=db-1");
    await sweep();
    expect(chat.answers()[0]).toMatchObject({
      results: [{ outcome: "ok", args: { name: "disk", host: "db-1" } }],
    });
    expect(chat.answers()[0]?.results[0]?.text).toMatch(/^db-1 · did disk/);
    await web.click("a1", { kind: "edit", args: { name: "nginx", host: "db-1" } });
    await sweep();
    expect(chat.cards().at(-1)).toMatchObject({ host: "db-1", revision: 2 });
    await web.click("a1", { kind: "edit", args: { name: "apache" } }, "test:ana", 2);
    await sweep();
    expect(chat.cards().at(-1)).toMatchObject({ host: "db-1", revision: 3 });
    await web.click("a1", { kind: "approve" }, "test:bob", 3);
    await sweep();
    expect(db.seen.at(-2)).toBe("run on db-1");
    expect(web.seen).not.toContain("run on web-1");
  });

  test("stays on the machine of the thread's last call unless another is named", async () => {
    const { web, db, chat, clock, journal, sweep } = await askedOnWeb();
    await web.say("run look name=disk");
    await db.settle();
    await sweep();
    expect(chat.answers()[0]?.results[0]?.text).toMatch(/^web-1 · /);
    clock.now += 2 * MINUTE;
    await journal.beat("db-1");
    await web.say("run look name=memory");
    await sweep([db]);
    expect(chat.answers()[1]?.results[0]?.text).toMatch(/^db-1 · /);
    expect(web.seen).toContain("run on web-1");
  });

  test("that names a machine nobody knows says which ones serve", async () => {
    const { web, chat, sweep } = await askedOnWeb();
    await web.say("run look name=disk host=web-2");
    await sweep();
    expect(chat.answers()[0]).toMatchObject({
      results: [
        {
          outcome: "blocked",
          text: "Nothing was run: no machine called web-2 serves here (serving: db-1, web-1).",
        },
      ],
    });
    await web.click("a1", { kind: "edit", args: { name: "nginx", host: "web-2" } });
    await sweep();
    expect(chat.whispers()).toEqual([
      'Couldn\'t apply your edit to a1: act is for "web-2", and this is web-1',
    ]);
  });

  test("in a conversation that one process serves is never left to another machine", async () => {
    const { all, chat } = await machines(["laptop"], { isLocal: true });
    const [laptop] = all as [Machine];
    await laptop.say("run look name=disk host=web-1");
    await laptop.settle();
    expect(chat.answers()[0]?.results[0]?.text).toBe(
      "Nothing was run: it is for web-1, and this conversation is served on laptop alone.",
    );
  });

  test("that was not taken up within a quarter of an hour by a machine which is there is not waited for", async () => {
    const { web, db, chat, clock, journal, sweep } = await askedOnWeb();
    await web.say("run look name=disk host=db-1");
    await sweep([web]);
    clock.now += 16 * MINUTE;
    await Promise.all([journal.beat("web-1"), journal.beat("db-1")]);
    await sweep([web]);
    expect(chat.answers()[0]?.results[0]?.text).toBe("Nothing was run: db-1 did not take it up.");
    expect(db.seen).toEqual([]);
  });

  /** a1 as 0.3 asked for it: for no machine. */
  async function askedBefore() {
    const asked = await askedOnWeb();
    const { web, journal } = asked;
    const old = kindsOf(await web.entries(), "action_proposed")[0] as Entry<"action_proposed">;
    const { seq: _seq, at: _at, head: _head, host: _host, ...proposal } = old;
    const granted = await journal.lease(KEY, 1_000);
    if (granted === undefined) throw new Error("somebody works on it");
    const earlier = { ...proposal, id: "proposed:a1.2", revision: 2, args: { name: "nginx" } };
    const { last } = await web.thread();
    await journal.append(granted.lease, last, [earlier]);
    await journal.release(granted.lease, last + 1);
    const cardOf = (id: string) => asked.chat.cards().findLast(({ action }) => action === id);
    return { ...asked, cardOf };
  }
  const outdated = {
    host: undefined,
    phase: "void",
    ending: "void: an older version asked for it and named no machine, so I ask again",
  };

  test.each(["button", "typed"] as const)(
    "of 0.3, whose card named no machine, is void at the first press and asked again with one: then one press does (%s)",
    async (via) => {
      const { web, chat, sweep, cardOf } = await askedBefore();
      await web.post({
        id: "click:old",
        kind: "click",
        actor: { account: "test:bob", name: "bob" },
        action: "a1",
        revision: 2,
        choice: { kind: "approve" },
        via,
      });
      await sweep();
      expect(cardOf("a1")).toMatchObject(outdated);
      expect(cardOf("a2")).toMatchObject({ host: "web-1", phase: "open", votes: [] });
      expect(chat.whispers()).toEqual([
        "a1 was asked for by an older version, which named no machine, so your Approve did not count. I'm asking again with the machine's name: decide there.",
      ]);
      expect(web.seen).not.toContain("run on web-1");
      await web.click("a2", { kind: "approve" }, "test:bob");
      await sweep();
      expect(web.seen.filter((what) => what.startsWith("run "))).toEqual(["run on web-1"]);
    },
  );

  test("of 0.3 is asked again also when nobody presses, and a deny on its card counts", async () => {
    const quiet = await askedBefore();
    await quiet.web.say("run look name=disk");
    await quiet.sweep();
    expect(quiet.cardOf("a1")).toMatchObject(outdated);
    expect(quiet.cardOf("a2")).toMatchObject({ host: "web-1", phase: "open" });
    const denied = await askedBefore();
    await denied.web.click("a1", { kind: "deny" }, "test:bob", 2);
    await denied.sweep();
    expect(denied.cardOf("a1")).toMatchObject({ phase: "denied", ending: "denied by bob" });
    expect(denied.cardOf("a2")).toBeUndefined();
  });
});
