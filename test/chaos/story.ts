import type { Draft, Entry, Kind, PostKind } from "../../src/core/entry.ts";
import { isPost } from "../../src/core/entry.ts";
import type { Evidence } from "./evidence.ts";
import type { Line, Sight } from "./witness.ts";

/** What the tests of the invariants tell their stories with. */
export const key = "test:1";
export const actor = { account: "test:ana", name: "ana" };

/** The entry stands in the chat as `ref`. */
export const shown = (entry: string, ref: string): Draft => ({
  id: `delivered:main:${entry}:final`,
  kind: "delivered",
  view: "main",
  entry,
  stage: "final",
  ref,
});

/** What a sight of a message has, unless it says otherwise. */
export const said = {
  what: "said",
  key,
  delivery: "",
  settles: undefined,
  asks: undefined,
  holds: [],
  run: undefined,
  text: "",
} satisfies Partial<Sight>;

/** What is different in a story. */
export interface Change {
  journal?: (drafts: Draft[]) => Draft[];
  sights?: (sights: Sight[]) => Sight[];
  undisturbed?: boolean;
  known?: string[];
  deaths?: number[];
}

/** A story with one thing changed, numbered and dated anew. */
export function evidenceOf(
  story: Draft[],
  seen: Sight[],
  {
    journal = (same) => same,
    sights = (same) => same,
    undisturbed,
    known,
    deaths = [],
  }: Change = {},
): Evidence {
  const drafts = journal(story);
  const entries = drafts.map((draft, i): Entry => ({ ...draft, seq: i + 1, at: 1_000 + i * 10 }));
  const isPosted = (draft: Draft): draft is Draft<PostKind> => isPost(draft);
  const posted = story.filter(isPosted).map((draft) => ({ key, draft }) as const);
  const lines = sights(seen).map((sight, i): Line => ({ ...sight, at: 1_000 + i * 10, pid: 1 }));
  return { entries, posted, lines, disturbed: undisturbed !== true, deaths, known: new Set(known) };
}

export const without =
  (id: string) =>
  (drafts: Draft[]): Draft[] =>
    drafts.filter((draft) => draft.id !== id);
export const before =
  (id: string, ...added: Draft[]) =>
  (drafts: Draft[]): Draft[] =>
    drafts.flatMap((draft) => (draft.id === id ? [...added, draft] : [draft]));
export const after =
  (id: string, ...added: Draft[]) =>
  (drafts: Draft[]): Draft[] =>
    drafts.flatMap((draft) => (draft.id === id ? [draft, ...added] : [draft]));
export const changed =
  (id: string, changes: object) =>
  (drafts: Draft[]): Draft[] =>
    drafts.map((draft) => (draft.id === id ? { ...draft, ...changes } : draft));
export const unseen =
  (gone: (sight: Sight) => boolean) =>
  (sights: Sight[]): Sight[] =>
    sights.filter((sight) => !gone(sight));
export const withoutKind =
  (kind: Kind) =>
  (drafts: Draft[]): Draft[] =>
    drafts.filter((draft) => draft.kind !== kind);
