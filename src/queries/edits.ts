import canonicalize from "canonicalize";
import { within } from "../core/time-limit.ts";
import { type Action, editedArgs, isOpen } from "../thread/action.ts";
import type { CheckedEdit, Edit, EditForm } from "../core/edit.ts";
import type { JsonObject } from "../core/entry.ts";
import { messageOf } from "../core/errors.ts";
import type { Dispatcher } from "../tools/dispatch.ts";
import { editFields, readEdit, settable } from "../tools/edit-form.ts";
import type { Tool } from "../tools/tool.ts";

/** How long the world is looked at for a form that was sent: Slack shows an error after 3 s without an answer. */
const LOOK_MS = 1_200;

/**
 * Why a call with these checked arguments could not be proposed, or undefined: as far as that is known within the
 * signal's time. It is looked at again when the edit is judged.
 */
export type WhyNot = (
  tool: string,
  args: JsonObject,
  signal: AbortSignal,
) => Promise<string | undefined>;

/**
 * Whether its arguments can be fixed to what they point to, and its precheck holds. What is for another machine is looked at
 * there.
 */
export function whyNotPrepared(
  dispatcher: Pick<Dispatcher, "prepare" | "isHere">,
  encode: (text: string) => string,
): WhyNot {
  return async (tool, args, signal) => {
    if (!dispatcher.isHere(tool, args)) return undefined;
    try {
      await dispatcher.prepare(tool, args, signal);
      return undefined;
    } catch (error) {
      return encode(messageOf(error));
    }
  };
}

/** The form for editing an action as it stands; undefined when there is no such tool any more. */
export function editFormFor(tools: readonly Tool[], action: Action): EditForm | undefined {
  const { tool: name, args, revision } = action.proposal;
  const tool = tools.find((each) => each.name === name);
  return tool && { action: action.action, revision, fields: editFields(tool, args) };
}

/** Holds what was written in an action's form against its tool and the action as it stands. */
export async function checkEditOf(
  tools: readonly Tool[],
  action: Action | undefined,
  { action: id, revision, written }: Edit,
  whyNot: WhyNot | undefined,
): Promise<CheckedEdit> {
  if (action === undefined) return wrong(`There is no action ${id} here any more.`);
  const { proposal } = action;
  if (!isOpen(action)) return wrong(`${id} is decided by now; it can't be edited.`);
  if (proposal.revision !== revision) {
    return wrong(
      `${id} was edited meanwhile; it now stands at revision ${proposal.revision}. Open the form from the card again.`,
    );
  }
  const tool = tools.find((each) => each.name === proposal.tool);
  if (tool === undefined) return wrong(`There is no tool ${proposal.tool} any more.`);
  const read = readEdit(tool, editFields(tool, proposal.args), written);
  if (!read.ok) return read;
  const checked = { ok: true as const, args: editedArgs(proposal, read.args) };
  if (isSame(checked.args, settable(tool, proposal.args))) {
    return wrong("Nothing was changed. Change something, or leave the form.");
  }
  const look = async (signal: AbortSignal) => whyNot?.(tool.name, checked.args, signal);
  // What is not known in time is left to whoever judges the edit.
  const why = await within(LOOK_MS, new AbortController().signal, look, 0).catch(() => undefined);
  return why === undefined ? checked : wrong(why);
}

function wrong(text: string): CheckedEdit {
  return { ok: false, mistakes: [{ field: undefined, text }] };
}

function isSame(one: JsonObject, other: JsonObject): boolean {
  return canonicalize(one) === canonicalize(other);
}
