import { BotError } from "../../core/errors.ts";
import { nearest } from "../../core/nearest.ts";
import { inQuotes, oneLine } from "../../core/text.ts";
import { type Item, textOf } from "../decode.ts";
import type { Rest } from "../rest.ts";
import { listOf, summaryOf } from "./pagers.ts";

/** By its name or id. @throws BotError INPUT_INVALID when there is no such one */
export async function serviceIn(name: string, rest: Rest): Promise<Item> {
  const { items } = await listOf(rest, "services", {}, 500);
  const words = name.toLowerCase();
  const found = items.filter(
    ({ id, name: own }) => id === name || textOf(own).toLowerCase() === words,
  );
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const names = items.map((each) => oneLine(textOf(each["name"])));
  const near = nearest(name, names);
  const hint =
    near.length > 0
      ? `Did you mean ${near.join(", ")}?`
      : `There are ${names.slice(0, 20).join(", ")}.`;
  throw new BotError(
    "INPUT_INVALID",
    `service: ${inQuotes(name)} is not a service of PagerDuty. ${hint}`,
  );
}

/** Who is on call at the policy's first level. */
export async function firstCalled({ id }: Item, rest: Rest): Promise<string> {
  const asked = { "escalation_policy_ids[]": [textOf(id)], earliest: "true" };
  const { items } = await listOf(rest, "oncalls", asked, 100);
  const first = items.filter((each) => each["escalation_level"] === 1);
  return [...new Set(first.map((each) => summaryOf(each["user"])))].join(", ");
}
