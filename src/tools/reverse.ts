import { MAX_ARGS_BYTES } from "../core/edit.ts";
import { isJsonObject, textsIn, tryJson } from "../core/json.ts";
import type { ReverseCall } from "../core/tool-call.ts";
import type { Encoder } from "../security/encoder.ts";
import { shownBytes } from "../security/sanitize.ts";

/**
 * The reverse of a call as it may be kept, or why there is none. It is run as it is written down, so one that redaction would
 * change is not kept at all. Never throws.
 */
export function keptReverse(
  undo: ReverseCall | undefined,
  { hide }: Pick<Encoder, "hide">,
): { undo?: ReverseCall; why?: string } {
  if (undo === undefined) return {};
  const { tool } = undo;
  const json = jsonOf(undo.args);
  const args = tryJson(json);
  if (!isJsonObject(args))
    return { why: "No undo: the call that takes it back cannot be written down." };
  if (shownBytes(args) > MAX_ARGS_BYTES)
    return { why: "No undo: the call that takes it back is too long for a card." };
  const isOpen = [json, ...textsIn(args)].every((text) => hide(text) === text);
  return isOpen
    ? { undo: { tool, args } }
    : { why: "No undo: the call that takes it back would hold a secret." };
}

function jsonOf(args: object): string {
  try {
    return JSON.stringify(args);
  } catch {
    return "";
  }
}
