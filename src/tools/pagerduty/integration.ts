import * as z from "zod";
import { fromYaml } from "../../core/settings.ts";
import { accountSettings, tokensIn, withoutAccounts } from "../accounts.ts";
import { proofsOf } from "../instances.ts";
import { defineIntegration } from "../integration.ts";

const SERVICE = {
  name: "pagerduty",
  title: "PagerDuty's API; in the EU `https://api.eu.pagerduty.com`",
  prefix: "PAGERDUTY",
  home: "https://api.pagerduty.com",
  token: "A REST API key for PagerDuty. See [PagerDuty](integrations/pagerduty.md).",
  fields: {
    from: z
      .email("expected the mail address of a PagerDuty user")
      .optional()
      .describe(
        "The mail address of the PagerDuty user in whose name incidents are changed, where `pagerduty.people` does not know who approved it, and in whose name the `page` of a rule calls people.",
      ),
  },
};

/** Who is on call, and the incidents that they are called for. */
export const pagerduty = defineIntegration({
  name: "pagerduty",
  settings: accountSettings(SERVICE, {
    people: fromYaml(
      "pagerduty.people",
      z.record(z.string(), z.email("expected the mail address of a PagerDuty user")).default({}),
      "Who people are in PagerDuty: `<account>: <mail address>`, such as `slack:T0123:U0456: ana@example.com`. What one of them approved is then done in their name.",
    ),
  }),
  variables: (settings) => tokensIn(settings),
  unavailable: (settings) => withoutAccounts(SERVICE, settings),
  async tools(settings, { variable }) {
    const { createPagerdutyTools } = await import("./tools.ts");
    return createPagerdutyTools(settings, variable);
  },
  async proofs(settings, { variable }) {
    const { pagersOf } = await import("./pagers.ts");
    return proofsOf("pagerduty", pagersOf(settings, variable).endpoints, {
      tool: "pagerduty_oncall",
      args: {},
    });
  },
});
