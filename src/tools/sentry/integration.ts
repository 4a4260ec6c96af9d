import * as z from "zod";
import { accountSettings, tokensIn, withoutAccounts } from "../accounts.ts";
import { proofsOf } from "../instances.ts";
import { defineIntegration } from "../integration.ts";

const SERVICE = {
  name: "sentry",
  title: "Sentry, if it is your own",
  prefix: "SENTRY",
  home: "https://sentry.io",
  token: "A token for Sentry. See [Sentry](integrations/sentry.md).",
  fields: {
    org: z
      .string()
      .regex(/^[\w-]+$/, "expected an organization's slug such as acme")
      .optional()
      .describe("The slug of the organization, such as `acme`."),
  },
};

/** Errors of programs: what is new, and where in the code the last one came from. */
export const sentry = defineIntegration({
  name: "sentry",
  settings: accountSettings(SERVICE),
  variables: (settings) => tokensIn(settings),
  unavailable: (settings) => {
    const missing = withoutAccounts(SERVICE, settings);
    if (missing !== undefined) return missing;
    const all = [
      ...(settings.token === undefined ? [] : [settings]),
      ...Object.values(settings.named),
    ];
    return all.every(({ org }) => org !== undefined)
      ? undefined
      : "SENTRY_ORG is not set, or an account of integrations.sentry has no org";
  },
  async tools(settings, { variable }) {
    const { createIssue, createIssues, trackersOf } = await import("./issues.ts");
    const trackers = trackersOf(settings, variable);
    return [createIssues(trackers), createIssue(trackers)];
  },
  async proofs(settings, { variable }) {
    const { trackersOf } = await import("./issues.ts");
    return proofsOf("sentry", trackersOf(settings, variable).endpoints, {
      tool: "sentry_issues",
      args: { since: "1h" },
    });
  },
});
