import type { types } from "@slack/bolt";
import { characterEnd } from "../../core/characters.ts";
import { type Fold, type Inline, isWhole, plain as wordsOf } from "../render/rich-text.ts";
import { type Button, feedbackButtons } from "../render/buttons.ts";

/** What can be pressed or unfolded, and the small texts around it. */

/** Blocks in a container (Block Kit reference). */
const MAX_CHILDREN = 10;
/** The least of what Block Kit takes as a text in a section, a context block or a title. */
const MAX_SMALL = 2_000;
const MAX_TITLE = 150;
/** Of the pair of buttons that say whether an answer helped: which of them is in their values. */
export const FEEDBACK = "wk:rates";

export function actionsOf(buttons: readonly Button[]): types.ActionsBlock {
  return { type: "actions", elements: buttons.map(buttonOf) };
}

/** Slack draws the two as small thumbs. */
export function feedbackBlock(run: string): types.ContextActionsBlock {
  const [helpful, unhelpful] = feedbackButtons(run);
  const half = ({ id, label }: Button) => ({ text: plain(label), value: id });
  return {
    type: "context_actions",
    elements: [
      {
        type: "feedback_buttons",
        action_id: FEEDBACK,
        positive_button: half(helpful),
        negative_button: half(unhelpful),
      },
    ],
  };
}

export function buttonOf({ id, label, style, confirm }: Button): types.Button {
  return {
    type: "button",
    action_id: id,
    value: id,
    text: plain(label),
    ...(style !== "plain" && { style }),
    ...(confirm !== undefined && {
      confirm: {
        title: plain(confirm.title),
        text: plain(confirm.text),
        confirm: plain(confirm.yes),
        deny: plain(confirm.no),
      },
    }),
  };
}

/** Nothing of it is markup, not even an emoji's name. */
export function plain(text: string): types.PlainTextElement {
  return { type: "plain_text", text, emoji: false };
}

/** Folded until somebody opens it, a line and its button for each; beyond what fits there is the button that shows all. */
export function containerOf({ title, lines, open }: Fold): types.ContainerBlock {
  const fit = lines.length <= MAX_CHILDREN;
  const children = lines
    .slice(0, fit ? MAX_CHILDREN : MAX_CHILDREN - 1)
    .map(({ inlines, button }): types.SectionBlock => ({
      type: "section",
      text: plainText(wordsOf(inlines)),
      ...(button !== undefined && { accessory: buttonOf(button) }),
    }));
  const all = { ...open, label: `All ${lines.length}` };
  return {
    type: "container",
    title: plainText(title, MAX_TITLE),
    is_collapsible: true,
    default_collapsed: true,
    child_blocks: fit ? children : [...children, actionsOf([all])],
  };
}

function plainText(text: string, max: number = MAX_SMALL): types.PlainTextElement {
  const shown = text.length <= max ? text : `${text.slice(0, characterEnd(text, max - 1))}…`;
  return plain(shown);
}

/** A small line, with nothing in it that has to stay what it is. */
export function tryContext({
  inlines,
}: {
  inlines: readonly Inline[];
}): types.ContextBlock | undefined {
  const text = wordsOf(inlines).trim();
  if (text === "" || text.length > MAX_SMALL || inlines.some(isWhole)) return undefined;
  return { type: "context", elements: [plainText(text)] };
}
