import type { Ask, Decision } from "../../approvals/policy.ts";
import { titleOf } from "../../thread/action.ts";
import type { Call } from "../../thread/call.ts";
import type { Preview } from "../../core/entry.ts";
import { isAgent } from "../../core/people.ts";
import { exactText } from "../../security/sanitize.ts";
import { oneLine, shortened } from "../../core/text.ts";
import { citationOf } from "../../thread/entry-ids.ts";
import { pathOf } from "../../thread/family.ts";
import type { Run } from "../../thread/state.ts";
import type { ThreadContext } from "./parts.ts";
import type { Frozen } from "./permission/frozen.ts";

/** What a card's preview begins with, before what the call does. */

/** A preview that begins with what is taken back. */
export function undoing(preview: Preview, undone: string | undefined, { undoes }: Call): Preview {
  if (undone === undefined) return preview;
  const tool = undoes === undefined ? "" : ` (${titleOf(undoes.proposal)})`;
  const { title } = preview;
  return {
    ...preview,
    ...(title !== undefined && { title: `Undo ${undone}: ${title}` }),
    lines: [{ label: "Undo of", value: undone + tool }, ...preview.lines],
  };
}

/** A preview that begins with the freeze that the call will have to wait for, or with no more than that it waits. */
export function waiting(preview: Preview, frozen: Frozen | undefined): Preview {
  if (frozen === undefined) return preview;
  const label = frozen.isNamed ? "Frozen" : "Waits";
  return { ...preview, lines: [{ label, value: frozen.text }, ...preview.lines] };
}

/** A preview that begins with why people are asked, where the rules alone would not. */
export function because(preview: Preview, { why }: Ask, encode: (text: string) => string): Preview {
  if (why === undefined) return preview;
  return { ...preview, lines: [{ label: ASKED_BECAUSE, value: encode(why) }, ...preview.lines] };
}

/** A preview that begins with the agent that asks, and with the helper: nobody sees either write. */
export function askedBy(
  preview: Preview,
  { thread, parts }: ThreadContext,
  { run }: Call,
): Preview {
  const found = thread.runs.get(run);
  const asker = found?.authors.find(({ account }) => isAgent(account));
  const { encode } = parts.encoder;
  const lines = [
    ...(asker === undefined
      ? []
      : [{ label: ASKED_BY, value: encode(exactText(`${asker.name} (${asker.account})`)) }]),
    ...(found?.started.parent === undefined
      ? []
      : [{ label: HELPER, value: encode(exactText(helperText(found))) }]),
  ];
  return lines.length === 0 ? preview : { ...preview, lines: [...lines, ...preview.lines] };
}

/** Which helper, by which calls, and what its task is. */
function helperText(run: Run): string {
  const path = pathOf(run).map((name) => (name.includes(".") ? citationOf(name) : name));
  return `${path.join(" › ")}: ${shortened(oneLine(run.started.task?.text ?? ""), MAX_TASK)}`;
}

/** An edit's preview; where nothing new is why people are asked, it is what was. */
export function stillBecause(
  preview: Preview,
  decision: Decision,
  previous: Preview,
  encode: (text: string) => string,
): Preview {
  if (decision.kind === "ask" && decision.why !== undefined) {
    return because(preview, decision, encode);
  }
  const said = previous.lines.filter(({ label }) => label === ASKED_BECAUSE);
  return { ...preview, lines: [...said, ...preview.lines] };
}

const ASKED_BECAUSE = "Asked because";
const ASKED_BY = "Asked by";
const HELPER = "Helper";
const MAX_TASK = 160;
