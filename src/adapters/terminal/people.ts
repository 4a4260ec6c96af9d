import type { People } from "../../core/people.ts";
import type { Adapter } from "../adapter.ts";

/** Who can reach this terminal is its one operator: a full member of every thread, in no group. */
function createPeople(account: string): People {
  return {
    membership: async (asked) => (asked === account ? "member" : "unknown"),
    members: async () => undefined,
    everyone: async () => [account],
    timezone: async () => Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

/** The place where that operator sits: one person's, who has the store anyway. */
export function createPlace(account: string) {
  return {
    transport: "terminal",
    people: createPeople(account),
    singleOperator: true,
    isLocal: true,
    audience: async () => undefined,
    tenants: async () => "all",
    channel: async (key) => key,
    link: () => undefined,
  } satisfies Omit<Adapter, "view">;
}
