import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { nearest } from "../../core/nearest.ts";
import { inQuotes } from "../../core/text.ts";
import { accountsOf, type AccountSettings } from "../accounts.ts";
import { isRecord, wordOf } from "../decode.ts";
import type { Service } from "../pinned-write.ts";
import { createRest, type Rest } from "../rest.ts";
import type { ToolContext } from "../tool.ts";

/** The projects that the configuration names, by GitLab's REST API: https://docs.gitlab.com/api/rest/ */

export interface Project {
  name: string;
  /** Its endpoint. */
  account: string;
  /** Below the server's address. */
  path: string;
}

type Own = Readonly<{ projects: string[] }>;
export type GitlabSettings = AccountSettings<Own>;
export type Projects = ReturnType<typeof projectsOf>;

export function projectsOf(settings: GitlabSettings, variable: (name: string) => string) {
  const accounts = accountsOf<Own>(settings, variable, (secret) => ({
    kind: "header",
    name: "private-token",
    secret,
  }));
  const all: Project[] = Object.entries(accounts).flatMap(([account, { projects }]) =>
    projects.map((name) => ({
      name,
      account,
      path: `api/v4/projects/${encodeURIComponent(name)}`,
    })),
  );
  const names = all.map(({ name }) => name);
  return {
    all,
    endpoints: Object.fromEntries(
      Object.entries(accounts).map(([name, { endpoint }]) => [name, endpoint]),
    ),
    argument: z
      .string()
      .max(200)
      .optional()
      .describe(`Such as ${names.slice(0, 5).join(", ")}`),

    /** @throws BotError INPUT_INVALID */
    find(written: string | undefined): Project {
      const found = all.filter(
        ({ name }) =>
          written === undefined || name === written || name.split("/").at(-1) === written,
      );
      const [only] = found;
      if (only !== undefined && found.length === 1) return only;
      const near = written === undefined ? [] : nearest(written, names);
      const hint =
        near.length > 0
          ? `Did you mean ${near.join(", ")}?`
          : `They are ${names.slice(0, 20).join(", ")}.`;
      const what =
        written === undefined
          ? "name one"
          : `${inQuotes(written)} is not among those that may be looked at`;
      throw new BotError("INPUT_INVALID", `project: ${what}. ${hint}`);
    },

    rest: ({ account, name }: Project, ctx: ToolContext): Rest =>
      createRest(ctx, {
        who: "GitLab",
        endpoint: account,
        help: (status) =>
          status === 401
            ? "Set GITLAB_TOKEN to a token that is valid."
            : `Give the token the scope read_api (api for writes) and the role Developer in ${name}.`,
      }),
  };
}

export function userOf(value: unknown): string | undefined {
  return isRecord(value) ? wordOf(value["username"]) || undefined : undefined;
}

/** The first eight digits of a commit. */
export function shaOf(value: unknown): string {
  return wordOf(value).slice(0, 8);
}

/** What writes to things of a project. */
export function serviceOf(projects: Projects): Service<Project> {
  return {
    name: "gitlab",
    endpoints: projects.endpoints,
    fields: { project: projects.argument },
    place: ({ project }) => projects.find(project),
    rest: projects.rest,
    pinned: ({ name }) => ({ args: { project: name }, lines: [{ label: "Project", value: name }] }),
  };
}
