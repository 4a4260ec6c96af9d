import * as z from "zod";
import { accountSettings, listOf, placeProofs, tokensIn, withoutPlaces } from "../accounts.ts";
import { defineIntegration } from "../integration.ts";

const repository = z
  .string()
  .regex(/^[\w.-]+\/[\w.-]+$/, "expected a repository such as acme/shop")
  .refine(
    (name) => !/(?:^|\/)\.{1,2}(?:\/|$)/.test(name),
    "expected a repository such as acme/shop",
  );

const host = z
  .string()
  .regex(
    /^(?:\*\.)?[\w-]+(?:\.[\w-]+)+$/,
    "expected a host such as logs.example.com or *.example.com",
  );

const SERVICE = {
  name: "github",
  title: "GitHub's API; of an Enterprise server `https://<host>/api/v3`",
  prefix: "GITHUB",
  home: "https://api.github.com",
  token: "A token for GitHub. See [GitHub](integrations/github.md).",
  fields: {
    repositories: listOf(
      repository,
      "The repositories that tools may look at, with commas between: `acme/shop, acme/web`. No others are.",
    ),
    logHosts: listOf(
      host,
      "Hosts that an Enterprise server keeps the logs of jobs on, besides itself. GitHub's own are known.",
    ),
  },
};

/** Repositories on GitHub: what was merged, released and deployed, and why a job failed. */
export const github = defineIntegration({
  name: "github",
  settings: accountSettings(SERVICE),
  variables: (settings) => tokensIn(settings),
  unavailable: (settings) => withoutPlaces(SERVICE, "repositories", settings),
  async tools(settings, { variable }) {
    const { createGithubTools } = await import("./tools.ts");
    return createGithubTools(settings, variable);
  },
  async changes(settings, { variable }) {
    const { forgeOf } = await import("./forge.ts");
    const { changeSource } = await import("./changes.ts");
    return changeSource(forgeOf(settings, variable));
  },
  async proofs(settings, { variable }) {
    const { forgeOf } = await import("./forge.ts");
    const places = forgeOf(settings, variable).repositories.map(({ label }) => label);
    return placeProofs("github", "repository", places);
  },
});
