import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ActionCard } from "../../src/adapters/shown.ts";
import type { Adapter } from "../../src/adapters/adapter.ts";
import type { Delivery, View } from "../../src/adapters/view.ts";
import { plainNotice } from "../../src/adapters/render/phrases.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { answer, cardOf } from "../adapters/parts.ts";

/** An adapter under test with one thread shown. */
export interface AdapterUnderTest {
  adapter: Adapter;
  /** The thread that it shows, and one that it does not. */
  key: JournalKey;
  foreign: JournalKey;
  /** Someone who takes part. */
  account: string;
  /** All that the people of the thread have been shown so far, as text, line breaks and wrapping left as they are. */
  shown(): string;
  close(): Promise<void> | void;
}

/** Without anything that a narrow screen adds: what is asked is whether every byte is there. */
function bare(text: string): string {
  return text.replaceAll(/[\s│↵]/g, "");
}

function restartCard(key: JournalKey, changes: Partial<ActionCard> = {}): ActionCard {
  const args = { argv: ["systemctl", "restart", "shop"], note: "x".repeat(400) };
  const preview = {
    lines: [{ label: "Program", value: "/usr/bin/systemctl" }],
    blastRadius: "The shop is away for a moment.",
    undo: "None.",
  };
  const canonical = JSON.stringify(args);
  return cardOf(key, { tool: "run_command", args, canonical, preview, ...changes });
}

/** One pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=",
  "base64",
);

function first(id: string): Delivery {
  return { id, isRetry: false };
}

/** What every adapter promises of the threads that it shows. */
export function adapterContract(name: string, create: () => Promise<AdapterUnderTest>): void {
  describe(`${name} keeps an adapter's promises`, () => {
    let under: AdapterUnderTest;
    let view: View;
    beforeEach(async () => {
      under = await create();
      const found = under.adapter.view(under.key);
      if (found === undefined) throw new Error("the thread is not shown");
      view = found;
    });
    afterEach(() => under.close());

    test("a channel itself is told something once, also where the answer to it was lost", async () => {
      const { adapter, key } = under;
      if (adapter.announce === undefined) return;
      const channel = await adapter.channel(key);
      const notice = plainNotice("🚨 bob broke the glass for <!channel> @everyone");
      const ref = await adapter.announce(channel, notice, first("told:1"));
      expect(await adapter.announce(channel, notice, { id: "told:1", isRetry: true })).toBe(ref);
      expect(await adapter.announce(channel, notice, first("told:2"))).not.toBe(ref);
      expect(under.shown()).not.toContain("broke the glass");
      const foreign = adapter.announce(under.foreign, notice, first("told:3"));
      await expect(foreign).rejects.toMatchObject({ code: "PLATFORM_REFUSED", refused: "place" });
    });

    test("it has a view of the threads it shows, and of no other", () => {
      expect(under.key.startsWith(`${under.adapter.transport}:`)).toBe(true);
      expect(under.adapter.view(under.foreign)).toBeUndefined();
    });

    test("it knows who takes part: their standing, and nobody else's", async () => {
      const { people } = under.adapter;
      expect(await people.membership(under.account, under.key)).toBe("member");
      expect(await people.membership("nobody:never", under.key)).toBe("unknown");
      expect(await people.members("slack:group:NEVER")).toBeUndefined();
      expect((await people.everyone(under.key)) ?? [under.account]).toContain(under.account);
    });

    test("a card shows every byte of the exact action, its consequences, and who may approve it", async () => {
      const card = restartCard(under.key);
      await view.postCard(card, first("a1"));
      const shown = bare(under.shown());
      for (const part of [
        card.canonical,
        "/usr/bin/systemctl",
        card.preview.blastRadius,
        card.preview.undo,
        card.approvers,
      ]) {
        expect(shown).toContain(bare(part));
      }
    });

    test("an action that was changed by an edit is shown anew, whole", async () => {
      const ref = await view.postCard(restartCard(under.key), first("a1"));
      const args = { argv: ["systemctl", "restart", "db-primary"] };
      await view.updateCard(
        ref,
        restartCard(under.key, { revision: 2, args, canonical: JSON.stringify(args) }),
      );
      expect(bare(under.shown())).toContain(bare(JSON.stringify(args)));
    });

    test("how an action ended is shown, with who decided", async () => {
      const ref = await view.postCard(restartCard(under.key), first("a1"));
      const vote = { name: "Zoe", approve: false, reason: "peak hour" };
      await view.updateCard(
        ref,
        restartCard(under.key, {
          phase: "denied",
          votes: [vote],
          ending: "denied by Zoe: peak hour",
        }),
      );
      expect(under.shown()).toMatch(/denied[^]*Zoe/);
    });

    test("answers and private words are shown whole, each with a reference of its own", async () => {
      const long = Array.from({ length: 60 }, (_, i) => `finding number ${i}`).join("\n");
      const refs = [
        await view.postPrivately(under.account, "only for you"),
        await view.post(answer("r1", long), first("ended:r1")),
      ];
      expect(new Set(refs).size).toBe(2);
      expect(under.shown()).toContain("only for you");
      for (const i of [0, 30, 59]) expect(under.shown()).toContain(`finding number ${i}`);
    });

    test.each([
      ["is shown with its words", async () => PNG],
      ["that is lost is told in words", () => Promise.reject(new Error("gone"))],
    ])("a result's image %s", async (_, readArtifact) => {
      const alt = "Line chart of up: last 1";
      const artifact = { id: "a".repeat(64), bytes: PNG.length };
      const image = { name: "chart.png", mediaType: "image/png" as const, artifact, alt };
      const call = { call: "r1.t1", tool: "prometheus_query", args: {}, text: "it fell" };
      const results = [
        {
          ...call,
          outcome: "ok" as const,
          artifacts: [],
          images: [image],
          findings: [],
          gaps: [],
          ms: 1,
        },
      ];
      const status = "completed" as const;
      const told = { kind: "answer" as const, run: "r1", status, text: undefined, results };
      await view.post({ ...told, isModelRun: false }, { ...first("ended:r1"), readArtifact });
      expect(under.shown()).toMatch(/it fell[^]*Image: Line chart of up: last 1/);
    });

    test("progress is never in the way: it may come twice, late, or for nothing", async () => {
      const tool = { call: "r1.t1", tool: "http_check" };
      const finished = { kind: "tool_finished", ...tool, outcome: "ok", ms: 1 } as const;
      const begun = await view.openProgress?.(first("run:r1"), []);
      view.progress(finished, begun);
      view.progress({ kind: "tool_started", ...tool, args: {} }, begun);
      view.progress({ kind: "tool_started", ...tool, args: {} }, begun);
      view.progress(finished, begun);
      await view.post(answer("r1", "all is well"), first("ended:r1"));
      view.progress(finished, begun);
      view.progress({ kind: "draft", run: "r9", text: "of no run" });
      expect(under.shown()).toContain("all is well");
      expect(under.shown()).not.toContain("of no run");
    });

    test("taking a message back does not fail, also when it is long gone", async () => {
      const ref = await view.post(answer("r1", "said twice"), first("ended:r1"));
      await view.delete(ref);
      await expect(view.delete(ref)).resolves.toBeUndefined();
    });
  });
}
