import { expect, test } from "vitest";
import { packTurns, unpackTurns } from "../../src/agent/packed-turns.ts";
import type { Kept } from "../../src/agent/said.ts";
import type { KeptTurn } from "../../src/agent/transcript-turns.ts";

test("turns of every form come back as they were, to the byte as JSON", () => {
  const artifact = { id: "f1", bytes: 3 };
  const file = { name: "a.png", mediaType: "image/png", artifact } as const;
  const by = { kind: "line", of: "msg:1", by: "test:ana", head: "ana" } as const;
  const line = (more: Partial<Extract<Kept, { kind: "line" }>>): Kept => ({
    ...by,
    text: "why? 🙂 \u0000 \ud83d",
    quoted: false,
    aside: false,
    isFromApp: false,
    ...more,
  });
  const turns: KeptTurn[] = [
    { role: "user", content: [line({}), line({ quoted: true }), { kind: "text", text: "" }] },
    { role: "user", content: [line({ aside: true }), line({ isFromApp: true })] },
    { role: "user", content: [{ kind: "file", file }, line({ text: "" })] },
    {
      role: "assistant",
      content: [
        { kind: "thinking", wire: { signature: "s", n: [1, null] } },
        { kind: "text", text: "I look." },
        { kind: "text", text: "Twice.", wire: { id: "w" } },
        { kind: "tool_use", id: "c1", name: "look", input: '{"name":"web"}' },
        { kind: "tool_use", name: "look", id: "c2", input: "{}" },
        { kind: "tool_use", id: "c3", name: "look", input: "", wire: 1 },
      ],
      model: "test/one",
    },
    {
      role: "tool",
      results: [
        { id: "c1", text: "well", isError: false, files: [] },
        { id: "c2", text: "gone", isError: true, files: [] },
        { id: "c3", text: "a picture", isError: false, files: [file] },
      ],
    },
    { role: "assistant", content: [], model: "" },
    { role: "tool", results: [] },
  ];
  const again = unpackTurns(structuredClone(packTurns(turns)));
  expect(JSON.stringify(again)).toBe(JSON.stringify(turns));
});
