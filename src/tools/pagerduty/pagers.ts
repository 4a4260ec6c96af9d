import { BotError } from "../../core/errors.ts";
import { accountsOf, type AccountSettings } from "../accounts.ts";
import { isRecord, type Item, recordsOf, textOf } from "../decode.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import { type Service, type WriteContext } from "../pinned-write.ts";
import { Refusal, refused } from "../refusal.ts";
import { createRest, type Params, type Rest } from "../rest.ts";

/** Accounts of PagerDuty, by its REST API version 2: https://developer.pagerduty.com/api-reference */

type Own = Readonly<{ from?: string | undefined }>;
export type PagerdutySettings = AccountSettings<Own> & {
  people: Readonly<Record<string, string>>;
};
export type Pagers = ReturnType<typeof pagersOf>;

const PAGE = 100;

export function pagersOf(
  { people, ...settings }: PagerdutySettings,
  variable: (name: string) => string,
) {
  const accounts = accountsOf<Own>(settings, variable, (token) => ({
    kind: "header",
    name: "authorization",
    secret: `Token token=${token}`,
  }));
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
        headers: { accept: "application/vnd.pagerduty+json;version=2" },
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

    /** In whose name the program itself changes something in an account; undefined: it may not. */
    fromIn: (account: string): string | undefined => accounts[account]?.from,

    /** In whose name something is changed in an account, as a card says it; undefined: in nobody's. */
    nameFor(account: string): string | undefined {
      const from = accounts[account]?.from;
      if (Object.keys(people).length === 0) return from;
      const approver = "whoever approves it, where PagerDuty knows them";
      return from === undefined ? approver : `${approver}, else ${from}`;
    },

    /**
     * Changes something in the name of whoever approved it, where PagerDuty knows them, else of the configured user.
     * @throws as `Rest.write`
     */
    async change(
      { at, rest, ctx }: Pick<WriteContext<string>, "at" | "rest" | "ctx">,
      ...[method, path, json]: Parameters<Rest["write"]>
    ): Promise<{ body: unknown; as: string }> {
      const { approvers = [], account = "" } = ctx.asker ?? {};
      const own = (approvers.length === 0 ? [account] : approvers).map((each) => people[each]);
      const names = [...own, accounts[at]?.from].filter((each) => each !== undefined);
      const as = async (from: string) => ({
        body: await rest.write(method, path, json, { from }),
        as: from,
      });
      const [first, ...others] = new Set(names);
      if (first === undefined) throw refused(NOBODY);
      try {
        return await as(first);
      } catch (error) {
        const [next] = others.slice(-1);
        if (next === undefined || !isNoUser(error)) throw error;
        return await as(next);
      }
    },
  };
}

export const NOBODY =
  "PagerDuty wants to know in whose name: set PAGERDUTY_FROM to a user's mail address, or pagerduty.people.";

function isNoUser(error: unknown): boolean {
  return error instanceof Refusal && /requester user not found/i.test(error.message);
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
