import { expect, test } from "vitest";
import type { StoredEntry } from "../../src/core/entry.ts";
import { saidIn } from "../../src/thread/said.ts";

test("what hangs below somebody's line is told as such, and not as their words", () => {
  const messages = [
    {
      id: "msg:1",
      at: 1,
      name: "ana",
      account: "test:ana",
      text: "look",
      attached: "All is well.",
    },
    { id: "msg:2", at: 2, name: "ana", account: "test:ana", text: "look" },
  ];
  const above = { kind: "above", id: "above:r1", seq: 1, at: 3, run: "r1", messages };
  const textOf = (post: string) => saidIn([above as StoredEntry], post)?.text;
  expect([textOf("msg:1"), textOf("msg:2")]).toEqual(["look (attached: All is well.)", "look"]);
});
