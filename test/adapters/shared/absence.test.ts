import { expect, test } from "vitest";
import { withoutOver } from "../../../src/adapters/shared/absence.ts";

interface Said {
  id: string;
  alerts: readonly { alert: string; isOver: boolean }[];
}

const fires = (...names: string[]): Said => ({
  id: `fires ${names.join()}`,
  alerts: names.map((alert) => ({ alert, isOver: false })),
});
const over = (...names: string[]): Said => ({
  id: `over ${names.join()}`,
  alerts: names.map((alert) => ({ alert, isOver: true })),
});
const words: Said = { id: "words", alerts: [] };

test.each([
  ["what is over by now", [fires("a"), words, over("a")], ["words", "over a"]],
  ["what fires still", [fires("a"), over("b")], ["fires a", "over b"]],
  ["what fires again", [fires("a"), over("a"), fires("a")], ["over a", "fires a"]],
  ["one of two", [fires("a", "b"), over("a")], ["fires a,b", "over a"]],
  ["the end of two", [fires("a", "b"), over("a"), over("b")], ["over a", "over b"]],
] as const)("of messages that were missed: %s", (_name, said, kept) => {
  expect(withoutOver<Said>(said, ({ alerts }) => alerts).map(({ id }) => id)).toEqual(kept);
});
