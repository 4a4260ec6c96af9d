import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { askUser } from "../../src/tools/thread/ask-user.ts";
import { ANSWER, call, ofKind, resultsIn, wordsIn } from "../agent/talking.ts";
import { type Host, type HostOptions, openHost } from "../fakes/host.ts";
import { type Saying, scriptedModel } from "../fakes/scripted-model.ts";
import { fakeTool } from "../fakes/stage.ts";
import { until } from "../until.ts";
import type { Platform, Surface } from "./surface.ts";
import { feedbackOnSurface } from "./transport-feedback.ts";
import { decisionsOnSurface } from "./transport-decisions.ts";
import { botsOnSurface } from "./transport-bots.ts";
import { doorsOnSurface } from "./transport-doors.ts";
import { alertsOnSurface } from "./transport-alerts.ts";
import { incidentsOnSurface } from "./transport-incidents.ts";
import { offersOnSurface } from "./transport-offers.ts";
import { progressOnSurface } from "./transport-progress.ts";
import { grantsOnSurface } from "./transport-grants.ts";
import { budgetsOnSurface } from "./transport-budgets.ts";

/** A picture, by its first bytes. */
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

/** What people can do with the bot on any surface, with the real adapter in front of a real journal and worker. */
export function transportContract(
  name: string,
  open: () => Promise<Platform>,
  { crowd = true }: { crowd?: boolean } = {},
): void {
  describe(`${name} carries a conversation`, () => {
    let platform: Platform;
    let journal: Journal;
    let now: number;
    const ends: (() => Promise<void>)[] = [];

    beforeEach(async () => {
      platform = await open();
      now = Date.now();
      journal = openMemoryJournal({ now: () => now });
    });
    afterEach(async () => {
      for (const end of ends.splice(0).toReversed()) await end();
      await platform.end();
      await journal.close();
    });

    /** A process of the bot, connected. */
    async function run(options: HostOptions): Promise<{ host: Host; end(): Promise<void> }> {
      const connection = platform.connect();
      const host = await openHost(connection.adapter, { journal, leaseMs: 300, ...options });
      await connection.start(host);
      let ended: Promise<void> | undefined;
      const stopAll = async () => {
        await host.stop();
        await connection.stop();
      };
      const end = () => (ended ??= stopAll());
      ends.push(end);
      return { host, end };
    }

    const shows = async (key: JournalKey, text: string | RegExp) => {
      const isShown = () =>
        typeof text === "string"
          ? platform.shown(key).includes(text)
          : text.test(platform.shown(key));
      await until(isShown);
      if (typeof text === "string") expect(platform.shown(key)).toContain(text);
      else expect(platform.shown(key)).toMatch(text);
    };
    const kindsOf = async (key: JournalKey) => (await journal.read(key)).map(({ kind }) => kind);
    const ended = (key: JournalKey, runs: number) =>
      until(async () => (await kindsOf(key)).filter((kind) => kind === "run_ended").length >= runs);
    const entriesOf = async (key: JournalKey) =>
      (await journal.read(key)).filter((entry) => entry.kind !== "newer");

    const talk = (script: readonly Saying[], more: HostOptions = {}) => {
      const model = scriptedModel(script);
      const look = fakeTool({ name: "look" });
      const act = fakeTool({ name: "act", effect: "write" });
      return { model, look, act, options: { tools: [look, act, askUser], model, ...more } };
    };

    test("a question is looked into and answered with its evidence; what is written then goes on", async () => {
      const { model, look, options } = talk([
        { text: "I look first.", calls: [call("look")] },
        ANSWER,
        { text: "Nothing else is known." },
      ]);
      await run(options);
      const key = await platform.begin("ana", "is web well?");
      await shows(key, /confirmed: it is as seen/i);
      const read = await platform.read?.(key, "ana", /^Evidence|^Show output/);
      expect(read?.text ?? platform.shown(key)).toContain("look");
      expect(look.runs).toEqual(["web"]);
      await platform.write(key, "ana", "and otherwise?");
      await shows(key, "Nothing else is known.");
      expect(model.left()).toBe(0);
      expect((await kindsOf(key)).filter((kind) => kind === "run_started")).toHaveLength(2);
    });

    test("asked under another bot's alert it has read the alert and what people said of it, and says so", async () => {
      if (platform.beginUnder === undefined) return;
      const { model, options } = talk([{ text: "It is a summary." }, { text: "Nothing new." }]);
      await run(options);
      const begin = platform.beginUnder;
      const key = await begin("CheckoutErrors is firing", "again?", "ana", "summarize this thread");
      await shows(key, "It is a summary.");
      await shows(key, "I read the 2 messages above");
      const [note, alert, comment, question] = wordsIn(model.requests[0]);
      expect(note).toContain("instructs nobody");
      expect(alert).toMatch(/, app, output\] .*CheckoutErrors is firing/s);
      expect(comment).toMatch(/bob, quoted\] again\?$/);
      expect(question).toMatch(/ana\] summarize this thread$/);
      await platform.write(key, "ana", "and now?");
      await shows(key, "Nothing new.");
      expect(wordsIn(model.requests[1]).filter((word) => word.includes("firing"))).toHaveLength(1);
      expect(platform.shown(key).match(/I read/g)).toHaveLength(1);
      expect(platform.pings()).toEqual([]);
    });

    test("what is written while a tool runs joins the run, and there is one answer", async () => {
      const written = Promise.withResolvers<void>();
      const slow = fakeTool({
        name: "slow",
        run: async () => {
          await written.promise;
          return { text: "seen" };
        },
      });
      const { model, options } = talk([{ calls: [call("slow")] }, ANSWER], { tools: [slow] });
      await run({ ...options, tools: [slow] });
      const key = await platform.begin("ana", "is web well?");
      await until(() => slow.runs.length > 0);
      await platform.write(key, "ana", "look at the disk too");
      await until(async () => (await kindsOf(key)).filter((kind) => kind === "message").length > 1);
      written.resolve();
      await shows(key, /confirmed/i);
      expect(wordsIn(model.requests[1]).at(-1)).toContain("look at the disk too");
      expect((await kindsOf(key)).filter((kind) => kind === "run_ended")).toHaveLength(1);
    });

    test("two actions are decided in the opposite order, by different people", async () => {
      const { model, act, options } = talk([
        { calls: [call("act", "web"), call("act", "db")] },
        { text: "INCONCLUSIVE: one was denied." },
      ]);
      await run(options);
      const key = await platform.begin("ana", "restart both");
      await shows(key, "a2");
      await shows(key, '{"name":"db"}');
      await platform.press(key, crowd ? "bob" : "ana", "Approve", "a2");
      await until(() => act.runs.length > 0);
      await platform.denyBecause(key, crowd ? "cy" : "ana", "a1", "not now");
      await shows(key, "one was denied");
      expect(act.runs).toEqual(["db"]);
      const results = resultsIn(model.requests[1]).map(({ text }) => text);
      expect(results).toEqual([
        expect.stringContaining("Denied by"),
        expect.stringContaining("did db"),
      ]);
      await shows(key, crowd ? /denied by cy/i : /denied by/i);
    });

    const surface: Surface = {
      at: () => platform,
      journal: () => journal,
      ended,
      run,
      shows,
      talk,
      kindsOf,
      entriesOf,
      crowd,
      pass: (ms: number) => {
        now += ms;
      },
    };
    decisionsOnSurface(surface);
    doorsOnSurface(surface);
    grantsOnSurface(surface);
    budgetsOnSurface(surface);
    botsOnSurface(surface);
    alertsOnSurface(surface);
    incidentsOnSurface(surface);
    offersOnSurface(surface);

    test("Stop ends what goes on", async () => {
      const begun = Promise.withResolvers<void>();
      const endless = fakeTool({
        name: "endless",
        run: async (_input, { signal }) => {
          begun.resolve();
          return new Promise((_, reject) => {
            signal.addEventListener("abort", () => reject(new Error("stopped")));
          });
        },
      });
      const { options } = talk([{ calls: [call("endless")] }]);
      await run({ ...options, tools: [endless], showAfterMs: 0 });
      const key = await platform.begin("ana", "look for ever");
      await begun.promise;
      await platform.stop(key, "ana");
      await ended(key, 1);
      const entries = await entriesOf(key);
      expect(ofKind(entries, "run_ended")).toMatchObject([{ status: "cancelled" }]);
      await until(async () => (await kindsOf(key)).at(-1) === "delivered");
      await shows(key, /Stopped by \S+ after 1 check\./);
    });

    test("a long answer arrives whole and in order, however many messages it takes", async () => {
      const lines = Array.from({ length: 900 }, (_, i) => `finding ${i}: nothing of note here`);
      const text = `Short: all is well.\n\n${lines.join("\n\n")}`;
      await run(talk([{ text }]).options);
      const key = await platform.begin("ana", "tell me everything");
      await shows(key, "Short: all is well.");
      const all = await platform.read?.(key, "ana", /^More$/);
      const found = [...(all?.text ?? platform.shown(key)).matchAll(/finding (\d+):/g)].map(
        ([, n]) => Number(n),
      );
      expect(found).toEqual(lines.map((_, i) => i));
    });

    test("a card outlives its process: the button works on the next one, once", async () => {
      const { act, options } = talk([{ calls: [call("act")] }]);
      const first = await run(options);
      const key = await platform.begin("ana", "restart web");
      await shows(key, '{"name":"web"}');
      await first.end();
      const second = scriptedModel([ANSWER]);
      await run({ ...options, model: second });
      const who = crowd ? "bob" : "ana";
      await platform.press(key, who, "Approve", "a1");
      await shows(key, /confirmed/i);
      expect(act.runs).toEqual(["web"]);
      expect((await kindsOf(key)).filter((kind) => kind === "tool_started")).toHaveLength(1);
    });

    test("a question is put with its choices, and a press answers it", async () => {
      const question = { question: "Which host?", choices: ["web-1", "web-2"] };
      const { model, options } = talk([
        { calls: [{ name: "ask_user", args: question }] },
        { text: "It is web-2 then." },
      ]);
      await run(options);
      const key = await platform.begin("ana", "restart it");
      await shows(key, "Which host?");
      await platform.press(key, "ana", "web-2", "Which host?");
      await shows(key, "It is web-2 then.");
      expect(resultsIn(model.requests[1])[0]?.text).toContain("web-2");
      await shows(key, /Which host\?\s→\sweb-2\s\(/);
    });

    test("a mention or a link in an answer is only its letters", async () => {
      const text = "See <!channel> @everyone <@U1> [the docs](http://evil.test/?leak) `code`";
      await run(talk([{ text }]).options);
      const key = await platform.begin("ana", "say it");
      await shows(key, /@\u200b?everyone/);
      await shows(key, "http://evil.test/?leak");
      expect(platform.pings()).toEqual([]);
    });

    test("without a model a command is carried out and its result shown", async () => {
      const look = fakeTool({ name: "look", run: async () => ({ text: "it is up" }) });
      await run({ tools: [look] });
      const key = await platform.begin("ana", "run look name=web");
      await shows(key, "it is up");
      expect(look.runs).toEqual(["web"]);
    });

    // Where one person asks and decides, only Ana is there, and nothing comes twice.
    describe.each(crowd ? ["several people"] : [])("with %s", () => {
      test("what is written while a card is open is answered, and who asks for a change is told alone that it waits", async () => {
        const asked = [{ calls: [call("act")] }, { calls: [call("act", "db")] }];
        const { model, options } = talk([...asked, { text: "Not before a1." }, ANSWER]);
        await run(options);
        const key = await platform.begin("ana", "restart web");
        await shows(key, '{"name":"web"}');
        await platform.write(key, "cy", "restart db too");
        await shows(key, "Not before a1.");
        await platform.write(key, "bob", "LGTM");
        await until(() => platform.told("bob").includes("That alone doesn't approve a1"));
        await until(() => platform.told("cy").includes("comes after a1"));
        expect(platform.shown(key)).not.toMatch(/comes after|That alone/);
        await platform.press(key, "bob", "Approve", "a1");
        await shows(key, /confirmed/i);
        expect(wordsIn(model.requests[3]).join("\n")).not.toContain("LGTM");
      });

      test("a long answer keeps its form in every message, its code the language, and emoji stay whole", async () => {
        const lines = "- **finding**: see [note](http://n/) 👨‍👩‍👧\n\n".repeat(300);
        const text = `Short: all is well.\n\n${lines}\n\n\`\`\`yaml\nkey: value\n\`\`\``;
        expect(Buffer.byteLength(text)).toBeGreaterThan(16 * 1024);
        await run(talk([{ text }]).options);
        const key = await platform.begin("ana", "tell me everything");
        await shows(key, "Short: all is well.");
        const all = await platform.read?.(key, "ana", /^More$/);
        expect(all?.languages).toEqual(["yaml"]);
        expect(all?.text).not.toContain("](");
        expect(all?.text.split("👨‍👩‍👧")).toHaveLength(301);
      });

      test("files that cannot be read are named to the thread and to the model, with why", async () => {
        const { model, options } = talk([{ text: "The picture shows a graph." }]);
        await run(options);
        const key = await platform.begin("ana", "what is this?", [
          { name: "graph.png", type: "image/png", bytes: PNG },
          { name: "huge.log", type: "text/plain", bytes: Buffer.alloc(9 * 1024 * 1024, "a\n") },
          { name: "trace.zip", type: "application/zip", bytes: Buffer.from("PK") },
        ]);
        await shows(key, "shows a graph");
        await shows(
          key,
          /I couldn't read huge\.log \(9 MB, limit 8 MB\) or trace\.zip \(type not supported\)\./,
        );
        expect(wordsIn(model.requests[0]).join("\n")).toContain(
          "(file huge.log not read: 9 MB, limit 8 MB)",
        );
      });

      test("a long text that was pasted is kept as a file, which its author is told alone and the model reads whole", async () => {
        const { model, options } = talk([{ text: "Line 1499 is the cause." }]);
        await run(options);
        const log = Array.from({ length: 1_500 }, (_, i) => `12:00:00 web ${i} ok 👍🏽`).join("\n");
        const key = await platform.begin("ana", `why does web fail?\n${log}`);
        await shows(key, "Line 1499 is the cause.");
        const [message] = ofKind(await entriesOf(key), "message");
        expect(Buffer.byteLength(message?.text ?? "")).toBeLessThanOrEqual(2_048);
        const file = message?.files?.[0]?.artifact.id ?? "";
        const kept = Buffer.from(await journal.readArtifact(key, file)).toString();
        expect(kept).toContain(log);
        const told = model.requests[0]?.turns.flatMap((turn) =>
          turn.role === "user" ? turn.content : [],
        );
        expect(told?.filter(({ kind }) => kind === "file")).toHaveLength(1);
        // Where the platform's client made a file of it, it is that person's own.
        const word = platform.told("ana").includes("so I keep it as the file pasted.txt");
        expect(word).toBe(message?.wholeBytes !== undefined);
      });

      test("whoever may not decide, or comes too late, is told so, and nobody else is", async () => {
        const { act, options } = talk([{ calls: [call("act")] }, ANSWER]);
        await run(options);
        const key = await platform.begin("ana", "restart web");
        await shows(key, '{"name":"web"}');
        await platform.press(key, "gus", "Approve", "a1");
        await until(() => platform.told("gus") !== "");
        expect(platform.told("gus")).toMatch(/Guests can't approve/);
        expect(act.runs).toEqual([]);
        await platform.press(key, "bob", "Approve", "a1");
        await shows(key, /confirmed/i);
        await platform.write(key, "cy", "approve a1");
        await until(() => platform.told("cy") !== "");
        // With what no other account can call itself.
        expect(platform.told("cy")).toMatch(/bob \(@bob, \w+\) already approved a1/i);
        expect(platform.shown(key)).toMatch(/by bob \(@bob, \w+\)/);
        expect(platform.shown(key)).not.toMatch(/can't approve|already approved/);
        expect(act.runs).toEqual(["web"]);
      });

      feedbackOnSurface(surface);
      progressOnSurface(surface);

      test("events that come several times and out of order are one conversation", async () => {
        platform.scramble?.();
        const { act, options } = talk([
          { calls: [call("act")] },
          ANSWER,
          { text: "That was all." },
        ]);
        await run(options);
        const key = await platform.begin("ana", "restart web");
        await shows(key, '{"name":"web"}');
        await platform.press(key, "bob", "Approve", "a1");
        await shows(key, /confirmed/i);
        await platform.write(key, "cy", "anything else?");
        await shows(key, "That was all.");
        const kinds = await kindsOf(key);
        const count = (kind: string) => kinds.filter((each) => each === kind).length;
        expect([count("message"), count("run_ended"), count("vote")]).toEqual([2, 2, 1]);
        expect(act.runs).toEqual(["web"]);
        for (const once of ["That was all.", /confirmed/i])
          expect(platform.shown(key).split(once)).toHaveLength(2);
      });
    });
  });
}
