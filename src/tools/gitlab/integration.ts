import * as z from "zod";
import { accountSettings, listOf, placeProofs, tokensIn, withoutPlaces } from "../accounts.ts";
import { defineIntegration } from "../integration.ts";

const project = z
  .string()
  .regex(/^[\w.-]+(?:\/[\w.-]+)+$/, "expected a project such as acme/shop")
  .refine((name) => !/(?:^|\/)\.{1,2}(?:\/|$)/.test(name), "expected a project such as acme/shop");

const SERVICE = {
  name: "gitlab",
  title: "GitLab, if it is your own",
  prefix: "GITLAB",
  home: "https://gitlab.com",
  token: "A token for GitLab. See [GitLab](integrations/gitlab.md).",
  fields: {
    projects: listOf(
      project,
      "The projects that tools may look at, with commas between: `acme/shop, acme/web`. No others are.",
    ),
  },
};

/** Projects on GitLab: what was merged, released and deployed, and why a job failed. */
export const gitlab = defineIntegration({
  name: "gitlab",
  settings: accountSettings(SERVICE),
  variables: (settings) => tokensIn(settings),
  unavailable: (settings) => withoutPlaces(SERVICE, "projects", settings),
  async tools(settings, { variable }) {
    const { createGitlabTools } = await import("./tools.ts");
    return createGitlabTools(settings, variable);
  },
  async changes(settings, { variable }) {
    const { changeSource } = await import("./changes.ts");
    const { projectsOf } = await import("./projects.ts");
    return changeSource(projectsOf(settings, variable));
  },
  async proofs(settings, { variable }) {
    const { projectsOf } = await import("./projects.ts");
    const places = projectsOf(settings, variable).all.map(({ name }) => name);
    return placeProofs("gitlab", "project", places);
  },
});
