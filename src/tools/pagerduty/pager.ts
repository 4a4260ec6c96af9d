import { inQuotes } from "../../core/text.ts";
import { isRecord, type Item, textOf, wordOf } from "../decode.ts";
import { clip } from "../labels.ts";
import { Refusal, refused } from "../refusal.ts";
import type { Rest } from "../rest.ts";
import type { Pager, PageTarget, ToolContext } from "../tool.ts";
import { listOf, type Pagers, summaryOf } from "./pagers.ts";
import { firstCalled, serviceIn } from "./services.ts";

const STATES = ["triggered", "acknowledged", "resolved"];
const MAX_TITLE = 250;
const MAX_DETAILS = 4_000;

/** Pages by incidents, each with a key: PagerDuty refuses a second one that is open with it. */
export function createPager(pagers: Pagers): Pager {
  const { service } = pagers;
  const stepOf = (to: PageTarget, ctx: ToolContext) => {
    const at = service.place(to);
    return { at, rest: service.rest(at, ctx), ctx };
  };

  /** The service, where somebody is paged for it. @throws BotError INPUT_INVALID, PRECHECK_FAILED */
  async function activeService(to: PageTarget, rest: Rest): Promise<Item> {
    const found = await serviceIn(to.service, rest);
    if (found["status"] !== "disabled") return found;
    throw refused(`${inQuotes(to.service)} is disabled in PagerDuty: nobody would be paged.`);
  }

  return {
    title: "PagerDuty",

    whyNot({ instance }) {
      const names = Object.keys(pagers.endpoints);
      if (instance !== undefined && !names.includes(instance))
        return `${inQuotes(instance)} is no account of PagerDuty; there ${names.length === 1 ? "is" : "are"} ${names.join(", ")}`;
      const at = service.place({ instance });
      return pagers.fromIn(at) === undefined
        ? `PagerDuty wants to know in whose name ${at} pages: set its \`from\` (PAGERDUTY_FROM)`
        : undefined;
    },

    async open({ to, key, title, details }, ctx) {
      const step = stepOf(to, ctx);
      const { rest } = step;
      const before = await keyed(rest, key);
      if (before !== undefined) return shownOf(before, ctx);
      const { id } = await activeService(to, rest);
      const incident = {
        type: "incident",
        title: clip(title, MAX_TITLE, ctx.encoder),
        service: { id: textOf(id), type: "service_reference" },
        urgency: "high",
        incident_key: key,
        body: { type: "incident_body", details: details.slice(0, MAX_DETAILS) },
      };
      try {
        const { body } = await pagers.change(step, "POST", "incidents", { incident });
        return shownOf(isRecord(body) && isRecord(body["incident"]) ? body["incident"] : {}, ctx);
      } catch (error) {
        // Somebody else was quicker, or an answer was lost.
        const made = error instanceof Refusal ? await keyed(rest, key) : undefined;
        if (made !== undefined) return shownOf(made, ctx);
        if (error instanceof Refusal && /dedup key already exists/i.test(error.message))
          return shownOf({}, ctx);
        throw error;
      }
    },

    async close({ to, key, why }, ctx) {
      const step = stepOf(to, ctx);
      const found = await keyed(step.rest, key);
      if (found === undefined || found["status"] === "resolved") return;
      const resolution = clip(why, MAX_TITLE, ctx.encoder);
      try {
        await pagers.change(step, "PUT", `incidents/${encodeURIComponent(textOf(found["id"]))}`, {
          incident: { type: "incident_reference", status: "resolved", resolution },
        });
      } catch (error) {
        const now = error instanceof Refusal ? await keyed(step.rest, key) : undefined;
        if (now?.["status"] !== "resolved") throw error;
      }
    },

    async examine(to, ctx) {
      const step = stepOf(to, ctx);
      const found = await activeService(to, step.rest);
      const policy = isRecord(found["escalation_policy"]) ? found["escalation_policy"] : {};
      const people = await firstCalled(policy, step.rest);
      await mayOpen(pagers, step);
      return clip(
        `approval rules may page ${textOf(found["name"])}: now ${people || "nobody"} (${summaryOf(policy) || "no policy"})`,
        400,
        ctx.encoder,
      );
    },
  };
}

/** Of this key, in whatever state. */
async function keyed(rest: Rest, key: string): Promise<Item | undefined> {
  const asked = { incident_key: key, "statuses[]": STATES, date_range: "all" };
  const { items } = await listOf(rest, "incidents", asked, 10);
  // A service that does not know the parameter gives every incident.
  return items.find((each) => each["incident_key"] === key);
}

/**
 * That the key may write and the user exists: an incident without title and service is refused as such, to whoever may open one.
 * @throws BotError
 */
async function mayOpen(pagers: Pagers, step: Parameters<Pagers["change"]>[0]): Promise<void> {
  try {
    await pagers.change(step, "POST", "incidents", { incident: { type: "incident" } });
  } catch (error) {
    const isJustEmpty =
      error instanceof Refusal &&
      / refused with 400\b/.test(error.message) &&
      !/requester|From header/i.test(error.message);
    if (!isJustEmpty) throw error;
  }
}

/** `PT4KHLK (https://shop.pagerduty.com/incidents/PT4KHLK)` */
function shownOf(item: Item, { encoder }: ToolContext): string {
  const id = wordOf(item["id"]);
  const url = textOf(item["html_url"]);
  const isAddress = /^https:\/\/[\w.-]+\/[\w/-]+$/.test(url);
  const name = id === "" ? "an incident that was open there" : id;
  return clip(isAddress ? `${name} (${url})` : name, 300, encoder);
}
