import { expect, test } from "vitest";
import type { Inbound } from "../../src/adapters/inbox.ts";
import { readText } from "../../src/commands/grammar.ts";
import type { Draft, Json, PostKind } from "../../src/core/entry.ts";
import { checkDraft } from "../../src/core/entry-codec.ts";
import { createInbox } from "../../src/worker/thread/inbox.ts";
import { encoderOf } from "../fakes/encoder.ts";

const ACTOR = { account: "test:ana", name: "ana" };

function create() {
  const posted: Draft<PostKind>[] = [];
  const woken: [key: string, lane: string][] = [];
  const inbox = createInbox({
    journal: {
      putArtifact: async (_, bytes) => ({ id: "file", bytes: bytes.byteLength }),
      post: async (_, draft) => {
        checkDraft(draft); // as every store does first
        posted.push(draft);
        return { entry: { seq: 1, at: 0, ...draft }, duplicate: false };
      },
      flush: async () => "ok",
    },
    read: readText,
    encoder: encoderOf((text) => text.replaceAll("hunter2", "[secret:X]")),
    wake: (...wake) => void woken.push(wake),
  });
  const post = (inbound: Inbound) => inbox.post("test:a", "id", inbound);
  return { post, posted, woken };
}

test("a listed bot's message does not go before what people wait for", async () => {
  const { post, woken } = create();
  await post({ kind: "text", actor: ACTOR, text: "disk full on web-1", app: true });
  await post({ kind: "stop", actor: ACTOR });
  expect(woken.map(([, lane]) => lane)).toEqual(["runs", "people"]);
});

test.each([
  ["why is it slow?", { kind: "message", text: "why is it slow?" }],
  [
    "run look name=a",
    { kind: "command", command: { name: "run", tool: "look", args: { name: "a" } } },
  ],
  ["stop", { kind: "stop" }],
  [
    "approve a3.2",
    { kind: "click", action: "a3", revision: 2, choice: { kind: "approve" }, via: "typed" },
  ],
])(
  "what %j means is decided when it is posted, and the thread is looked at",
  async (text, content) => {
    const { post, posted, woken } = create();
    await post({ kind: "text", actor: ACTOR, text });
    expect(posted).toMatchObject([{ id: "id", actor: ACTOR, ...content }]);
    expect(woken).toEqual([["test:a", "people"]]);
  },
);

test.each(["approve a3.2", "deny a3 because no", "settle a3 happened", "cancel a3"])(
  "%j in a paste decides nothing, and whoever pasted it is told",
  async (text) => {
    const { post, posted } = create();
    const paste = { kind: "text", actor: ACTOR, text, pasted: true } as const;
    await expect(post(paste)).rejects.toThrow(/Pasted text can't approve/);
    expect(posted).toEqual([]);
    await post({ ...paste, text: `Why did they write:\n${text}` });
    expect(posted).toMatchObject([{ kind: "message" }]);
  },
);

test("a held secret is taken out of texts, commands, reasons and edits before anything is stored", async () => {
  const { post, posted } = create();
  const click = { kind: "click", actor: ACTOR, action: "a1", revision: 1, via: "button" } as const;
  await post({ kind: "text", actor: ACTOR, text: "the password is hunter2" });
  await post({ kind: "text", actor: ACTOR, text: "run look name=hunter2" });
  await post({ ...click, choice: { kind: "deny", reason: "hunter2" } });
  await post({ ...click, choice: { kind: "edit", args: { list: [{ deep: "xhunter2x" }] } } });
  expect(posted).toHaveLength(4);
  expect(JSON.stringify(posted)).not.toContain("hunter2");
});

test("what could not be read again is refused and not stored", async () => {
  const { post, posted } = create();
  let deep: Json = "bottom";
  for (let i = 0; i < 20_000; i++) deep = [deep];
  const choice = { kind: "edit", args: { deep } } as const;
  const click = {
    kind: "click",
    actor: ACTOR,
    action: "a1",
    revision: 1,
    choice,
    via: "button",
  } as const;
  await expect(post(click)).rejects.toMatchObject({ code: "USAGE" });
  expect(posted).toEqual([]);
});

test("a text of megabytes is kept whole as a file, and in part beside it", async () => {
  const { post, posted } = create();
  await post({ kind: "text", actor: ACTOR, text: `why? hunter2${"x".repeat(3_000_000)}` });
  const [entry] = posted;
  const name = "pasted.txt";
  expect(entry).toMatchObject({ kind: "message", files: [{ name, mediaType: "text/plain" }] });
  expect(entry).toMatchObject({ text: expect.stringMatching(/^why\? \[secret:X\]x+\n/) as string });
  expect(JSON.stringify(entry).length).toBeLessThan(3_000);
});
