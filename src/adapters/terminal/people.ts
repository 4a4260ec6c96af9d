import type { People } from "../../core/people.ts";

/** Who can reach this terminal is its one operator: a full member of every thread, in no group. */
export function createPeople(account: string): People {
  return {
    membership: async (asked) => (asked === account ? "member" : "unknown"),
    members: async () => undefined,
    everyone: async () => [account],
    timezone: async () => Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}
