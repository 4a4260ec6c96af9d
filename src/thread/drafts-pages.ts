import type { Draft } from "../core/entry.ts";
import type { StepOf } from "./steps.ts";
import { notice } from "./drafts-notices.ts";
import { entryId, noticeId, pageOver } from "./entry-ids.ts";
import * as phrases from "./page-phrases.ts";
import type { Surroundings } from "./surroundings.ts";

/** What came of paging people, or of telling the pager that they are not needed any more. `to`: as people know it. */
export type PageFacts =
  | { kind: "paged"; to: string; incident: string }
  /** Nothing is open there any more. */
  | { kind: "over" }
  | { kind: "refused"; to: string; why: string }
  /** It is tried again, and has taken long enough to be told. */
  | { kind: "later"; to: string; why: string };

export function pageDrafts(
  { page, isOver, facts }: StepOf<"page"> & { facts: PageFacts },
  { thread, encode }: Surroundings,
): [Draft<"notice"> | Draft<"delivered">] | undefined {
  const { action } = page.action;
  if (thread.pages.get(action) !== page || (!isOver && page.isOpen)) return undefined;
  const tell = (id: string, text: string): [Draft<"notice">] => [notice(id, encode(text))];
  if (facts.kind === "over") return [overDraft(action)];
  const { to } = facts;
  if (facts.kind === "paged")
    return tell(noticeId.paged(action), phrases.paged(action, to, facts.incident));
  const { why } = facts;
  if (facts.kind === "later") {
    if (isOver || page.isDelayTold) return undefined;
    return tell(noticeId.pageDelayed(action), phrases.pageDelayed(action, to, why));
  }
  if (!isOver) return tell(noticeId.notPaged(action), phrases.notPaged(action, to, why));
  // Where nobody was paged there is nothing to resolve.
  if (!page.isOpen) return [overDraft(action)];
  return tell(noticeId.pageStuck(action), phrases.pageStuck(action, to, why));
}

/** As a view's name: the pager has been told. */
const PAGER = "pager";

function overDraft(action: string): Draft<"delivered"> {
  const entry = pageOver(action);
  const id = entryId.delivered(PAGER, entry, "final");
  return { id, kind: "delivered", view: PAGER, entry, stage: "final", ref: "" };
}
