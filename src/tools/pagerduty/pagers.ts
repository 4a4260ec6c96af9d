import { BotError } from "../../core/errors.ts";
import { accountsOf, type AccountSettings } from "../accounts.ts";
import { isRecord, type Item, recordsOf, textOf } from "../decode.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import type { Service } from "../pinned-write.ts";
import { createRest, type Params, type Rest } from "../rest.ts";
import { SERVICE } from "./integration.ts";

/** Accounts of PagerDuty, by its REST API version 2: https://developer.pagerduty.com/api-reference */

type Own = Readonly<{ from?: string | undefined }>;
export type PagerdutySettings = AccountSettings<Own>;
export type Pagers = ReturnType<typeof pagersOf>;

const PAGE = 100;

export function pagersOf(settings: PagerdutySettings, variable: (name: string) => string) {
  const accounts = accountsOf<Own>(settings, variable, {
    home: SERVICE.home,
    credential: (token) => ({
      kind: "header",
      name: "authorization",
      secret: `Token token=${token}`,
    }),
  });
  const endpoints = Object.fromEntries(
    Object.entries(accounts).map(([name, { endpoint }]) => [name, endpoint]),
  );
  const service: Service<string> = {
    name: "pagerduty",
    endpoints,
    fields: instanceArgument(endpoints),
    place: (given) => instanceOf(given, endpoints),
    rest: (account, ctx) =>
      createRest(ctx, {
        who: "PagerDuty",
        endpoint: account,
        headers: {
          accept: "application/vnd.pagerduty+json;version=2",
          ...(accounts[account]?.from !== undefined && { from: accounts[account].from }),
        },
        help: (status) =>
          status === 401
            ? "Set PAGERDUTY_TOKEN to a REST API key that is valid."
            : "Let the API key's owner see it; a key that only reads cannot change incidents.",
      }),
    pinned: (account) => ({
      args: Object.keys(endpoints).length > 1 ? { instance: account } : {},
      lines: Object.keys(endpoints).length > 1 ? [{ label: "Account", value: account }] : [],
    }),
  };
  return {
    endpoints,
    service,
    canWrite: (account: string) => accounts[account]?.from !== undefined,
  };
}

/** What the path's last part is called holds the list. */
export function listOf(rest: Rest, path: string, params: Params, max: number) {
  const key = path.split("/").at(-1) ?? "";
  return rest.pages(path, { ...params, limit: Math.min(PAGE, max) }, { max, key });
}

/** @throws BotError INPUT_INVALID when there is none */
export async function incidentIn(rest: Rest, id: string): Promise<Item> {
  const found = await rest.find(`incidents/${encodeURIComponent(id)}`, "incident");
  if (found !== undefined) return found;
  throw new BotError("INPUT_INVALID", `There is no incident ${id} in PagerDuty.`);
}

/** What PagerDuty calls the thing that a field refers to. */
export function summaryOf(value: unknown): string {
  return isRecord(value) ? textOf(value["summary"]) : "";
}

export function assigneesOf(incident: Item): string[] {
  return recordsOf(incident["assignments"]).map(({ assignee }) => summaryOf(assignee));
}
