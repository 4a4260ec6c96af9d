/** Tools' names and hints, which are the server's words. */

import type { Effect, JsonObject } from "../../core/entry.ts";
import { isJsonObject } from "../../core/json.ts";

/** Model providers take no longer ones. */
const MAX_NAME = 64;

/** `github_list_issues`; undefined where that is too long or nothing of the name can be written so. */
export function toolName(server: string, tool: string): string | undefined {
  const words = `${server}_${tool}`
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replace(/_$/, "");
  const isTelling = words.length > server.length + 1 && words.length <= MAX_NAME;
  return isTelling ? words : undefined;
}

/** What the server says that the tool can do, as an effect; undefined: it says nothing. */
export function hintOf(form: JsonObject): Effect | undefined {
  const { annotations } = form;
  if (!isJsonObject(annotations)) return undefined;
  const { readOnlyHint, destructiveHint } = annotations;
  if (readOnlyHint === true) return "read";
  if (destructiveHint === true) return "destructive";
  return destructiveHint === false ? "write" : undefined;
}

const EFFECTS: readonly Effect[] = ["read", "write", "destructive"];

/** Why the hint does not go with what was granted, or undefined. */
export function mismatch(form: JsonObject, granted: Effect): string | undefined {
  const hint = hintOf(form);
  if (hint === undefined || hint === granted) return undefined;
  const isWorse = EFFECTS.indexOf(hint) > EFFECTS.indexOf(granted);
  const says = `the server says ${hint}, the configuration ${granted}`;
  return isWorse ? `${says}: more may be done than is asked about` : says;
}
