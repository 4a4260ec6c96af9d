import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createChat } from "../fakes/chat.ts";
import { asked, TWO } from "../fakes/asked.ts";
import { createStage, KEY } from "../fakes/stage.ts";

describe("an edited action", () => {
  test("that policy would let run unasked stays with those who were asked", async () => {
    const rules = [{ match: { args: { name: "safe" } }, decide: "allow" as const }];
    const { act, chat, click, settle } = await asked({ approvals: { rules } });
    await click("a1", { kind: "edit", args: { name: "safe" } }, "test:bob");
    await settle();
    expect(act.runs).toEqual([]);
    expect(chat.cards()).toMatchObject([
      { revision: 2, canonical: '{"name":"safe"}', phase: "open" },
    ]);
    await click("a1", { kind: "approve" }, "test:cy", 2);
    await settle();
    expect(act.runs).toEqual(["safe"]);
  });

  test("cannot be approved before it was shown, not even by its right revision", async () => {
    const { act, chat, click, settle } = await asked();
    await click("a1", { kind: "edit", args: { name: "prod" } }, "test:bob");
    await click("a1", { kind: "approve" }, "test:cy", 2);
    await settle();
    expect(act.runs).toEqual([]);
    expect(chat.cards()).toMatchObject([{ revision: 2, phase: "open", votes: [] }]);
    expect(chat.whispers()).toEqual([expect.stringContaining("Check revision 2 and decide again")]);
    await click("a1", { kind: "approve" }, "test:cy", 2);
    await settle();
    expect(act.runs).toEqual(["prod"]);
  });

  test("cannot be approved by any of its editors, however often it was edited since", async () => {
    const standings = {
      "test:ana": "member",
      "test:bob": "member",
      "test:cy": "member",
      "test:di": "member",
    } as const;
    const chat = createChat({ standings });
    const { act, click, settle } = await asked({ chat }, "destructive");
    await click("a1", { kind: "edit", args: { name: "evil" } }, "test:bob");
    await settle();
    await click("a1", { kind: "edit", args: { name: "evil" } }, "test:cy", 2);
    await settle();
    await click("a1", { kind: "approve" }, "test:bob", 3);
    await settle();
    expect(act.runs).toEqual([]);
    await click("a1", { kind: "approve" }, "test:di", 3);
    await settle();
    expect(act.runs).toEqual(["evil"]);
  });

  test("is a new revision with a new digest; earlier votes are void and stale buttons do nothing", async () => {
    const { act, chat, click, settle } = await asked({ approvals: TWO });
    const [first] = chat.cards();
    await click("a1", { kind: "approve" }, "test:bob");
    await click("a1", { kind: "edit", args: { name: "db" } }, "test:cy");
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    const [card] = chat.cards();
    expect(card).toMatchObject({
      revision: 2,
      canonical: '{"name":"db"}',
      votes: [],
      phase: "open",
    });
    expect(card?.digest).not.toBe(first?.digest);
    expect(card?.expiresAt).toBe(first?.expiresAt);
    expect(chat.whispers()).toEqual([expect.stringContaining("Check revision 2")]);
    await click("a1", { kind: "approve" }, "test:ana", 2);
    await click("a1", { kind: "approve" }, "test:bob", 2);
    await settle();
    expect(act.runs).toEqual(["db"]);
  });

  test("of a destructive kind cannot be approved by its editor either", async () => {
    const { act, chat, click, settle } = await asked({}, "destructive");
    await click("a1", { kind: "edit", args: { name: "db" } }, "test:bob");
    await settle();
    await click("a1", { kind: "approve" }, "test:bob", 2);
    await settle();
    expect(act.runs).toEqual([]);
    expect(chat.whispers()).toEqual([
      "You edited a1, so someone else has to approve it. You can still deny or withdraw it.",
    ]);
    await click("a1", { kind: "approve" }, "test:cy", 2);
    await settle();
    expect(act.runs).toEqual(["db"]);
  });

  test("with arguments that do not fit or that policy denies stays as it was", async () => {
    const approvals = { rules: [{ match: { args: { name: "prod*" } }, decide: "deny" as const }] };
    const { chat, click, settle } = await asked({ approvals });
    await click("a1", { kind: "edit", args: { nmae: "db" } }, "test:bob");
    await click("a1", { kind: "edit", args: { name: "prod-db" } }, "test:bob");
    await settle();
    expect(chat.cards()).toMatchObject([{ revision: 1, canonical: '{"name":"web"}' }]);
    expect(chat.whispers()).toEqual([
      expect.stringMatching(/apply your edit to a1: .*name/s),
      expect.stringMatching(/apply your edit to a1: Policy denies/),
    ]);
  });
});

describe("clicks in any number and order", () => {
  test("two people racing a hundred times on two workers cause one vote each and one effect", async () => {
    const { act, click, settle, journal, chat, worker, kinds } = await asked();
    const other = await createStage({ tools: [act], journal, chat, now: () => 1_000_000 });
    await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        await click("a1", { kind: "approve" }, i % 2 === 0 ? "test:ana" : "test:bob");
        await Promise.all([worker.work(KEY), other.worker.work(KEY)]);
      }),
    );
    await settle();
    expect(act.runs).toEqual(["web"]);
    // An approve that comes before the start is a second vote; every other click gets its word.
    const votes = (await kinds()).filter((kind) => kind === "vote").length;
    expect(votes + chat.whispers().length).toBe(100);
  });

  test("whatever is clicked in whatever order, it runs at most once, and only if nobody had closed it before the quorum", async () => {
    const people = ["test:ana", "test:bob", "test:cy", "test:eve"];
    const move = fc.record({
      who: fc.constantFrom(...people),
      approve: fc.boolean(),
      settle: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 12 }), async (moves) => {
        const { act, click, settle, journal } = await asked({ approvals: TWO });
        const approved = new Set<string>();
        let open = true;
        let expected = 0;
        let unworked: string[] = [];
        const judge = async () => {
          await settle();
          if (open && approved.size >= 2) {
            expected = 1;
            open = false;
          }
          unworked = [];
        };
        for (const { who, approve, settle: now } of moves) {
          await click("a1", approve ? { kind: "approve" } : { kind: "deny" }, who);
          unworked.push(who);
          if (who !== "test:eve" && open) {
            if (approve) approved.add(who);
            else open = false;
          }
          if (now) await judge();
        }
        await judge();
        expect(act.runs).toHaveLength(expected);
        await journal.close();
      }),
      { numRuns: 150 },
    );
  });
});
