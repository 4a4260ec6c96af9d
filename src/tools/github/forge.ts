import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { nearest } from "../../core/nearest.ts";
import { inQuotes } from "../../core/text.ts";
import { accountsOf, type AccountSettings } from "../accounts.ts";
import { isRecord, textOf, wordOf } from "../decode.ts";
import type { Endpoint } from "../http.ts";
import { clip } from "../labels.ts";
import type { Service } from "../pinned-write.ts";
import { Refusal } from "../refusal.ts";
import { createRest, type Rest } from "../rest.ts";
import type { ToolContext } from "../tool.ts";

/** The repositories that the configuration names, and how each is asked: https://docs.github.com/en/rest */

export interface Repository {
  /** As arguments and results name it: `acme/shop`; with its account before it where two have one of that name. */
  label: string;
  /** `acme/shop` */
  name: string;
  /** Its endpoint. */
  account: string;
  /** Below the API's address. */
  path: string;
}

type Own = Readonly<{ repositories: string[]; logHosts: string[] }>;
export type GithubSettings = AccountSettings<Own>;

/** Where GitHub itself keeps the logs of jobs. */
const LOG_HOSTS = ["*.blob.core.windows.net", "*.actions.githubusercontent.com"];
const HEADERS = {
  accept: "application/vnd.github+json",
  "x-github-api-version": "2022-11-28",
  "user-agent": "watchkeeper",
};

export type Forge = ReturnType<typeof forgeOf>;

export function forgeOf(settings: GithubSettings, variable: (name: string) => string) {
  const accounts = accountsOf<Own>(settings, variable, (secret) => ({ kind: "bearer", secret }));
  const endpoints: Record<string, Endpoint> = {};
  for (const [name, { endpoint, logHosts }] of Object.entries(accounts)) {
    const redirects = [...LOG_HOSTS, ...logHosts];
    endpoints[name] = { ...endpoint, redirects };
    // An Enterprise server's REST API is below `api/v3`, GraphQL beside that.
    endpoints[graphOf(name)] = { ...endpoint, url: endpoint.url.replace(/\/v3\/?$/, "") };
  }
  const all = Object.entries(accounts).flatMap(([account, { repositories }]) =>
    [...new Set(repositories)].map((name) => ({ account, name })),
  );
  const repositories: Repository[] = all.map(({ account, name }) => {
    const isAmbiguous = all.filter((each) => each.name === name).length > 1;
    const path = `repos/${name.split("/").map(encodeURIComponent).join("/")}`;
    return { account, name, path, label: isAmbiguous ? `${account}:${name}` : name };
  });

  return {
    endpoints,
    repositories,

    /** The repository that an argument names, which may leave out its owner. @throws BotError INPUT_INVALID */
    find(written: string | undefined): Repository {
      const [only, ...others] =
        written === undefined
          ? repositories
          : repositories.filter(
              ({ label, name }) =>
                [label, name, name.split("/")[1]].includes(written) ||
                name.toLowerCase() === written.toLowerCase(),
            );
      if (only !== undefined && others.length === 0) return only;
      const labels = repositories.map(({ label }) => label);
      throw new BotError("INPUT_INVALID", `repository: ${whichOf(written, labels)}`);
    },

    rest: ({ account, name }: Repository, ctx: ToolContext): Rest =>
      createRest(ctx, {
        who: "GitHub",
        endpoint: account,
        headers: HEADERS,
        help: (status, place) => helpFor(status, place, name),
      }),

    /** What a mutation gives. @throws Refusal, BotError as `Rest.write` */
    async mutate(
      { account, name }: Repository,
      ctx: ToolContext,
      { query, variables }: { query: string; variables: Record<string, string> },
    ): Promise<Record<string, unknown>> {
      const rest = createRest(ctx, {
        who: "GitHub",
        endpoint: graphOf(account),
        headers: HEADERS,
        help: (status, place) => helpFor(status, place, name),
      });
      const body = await rest.write("POST", "graphql", { query, variables });
      const { data, errors } = isRecord(body) ? body : {};
      const problem = Array.isArray(errors) && isRecord(errors[0]) ? errors[0] : undefined;
      if (problem === undefined) return isRecord(data) ? data : {};
      throw new Refusal(`GitHub refused: ${clip(textOf(problem["message"]), 300, ctx.encoder)}`, {
        what: "the change",
        why: `GitHub refused: ${clip(textOf(problem["type"]), 100, ctx.encoder) || "an error"}`,
        help: helpFor(403, "graphql", name),
      });
    },
  };
}

function graphOf(account: string): string {
  return `${account} graphql`;
}

function whichOf(written: string | undefined, labels: readonly string[]): string {
  const known = `They are ${labels.slice(0, 20).join(", ")}${labels.length > 20 ? ", …" : ""}.`;
  if (written === undefined) return `name one. ${known}`;
  const near = nearest(written, labels);
  const meant = near.length > 0 ? `Did you mean ${near.join(", ")}?` : known;
  return `${inQuotes(written)} is not among those that may be looked at. ${meant}`;
}

/** The permission of a fine-grained token that the place needs. */
function helpFor(status: number, place: string, repository: string): string {
  if (status === 401) return "Set GITHUB_TOKEN to a token that is valid.";
  const [, rest = ""] = /^repos\/[^/]+\/[^/]+\/?(.*)$/.exec(place) ?? [];
  const right = [
    [/^actions\/runs\/\d+\/(?:rerun|cancel)/, "Actions: write"],
    [/^actions/, "Actions: read"],
    [/^deployments/, "Deployments: read"],
    [/^pulls/, "Pull requests: read"],
    [/^issues/, "Issues: read and write"],
    [/^$/, "Contents: write and Pull requests: write"],
  ] as const;
  const needed = right.find(([pattern]) => pattern.test(rest))?.[1] ?? "Contents: read";
  return `Let the token see ${repository} with the permission ${needed}.`;
}

/** The argument that names a repository. */
export function repositoryArgument({ repositories }: Pick<Forge, "repositories">) {
  const some = repositories
    .slice(0, 5)
    .map(({ label }) => label)
    .join(", ");
  return z
    .string()
    .max(200)
    .optional()
    .describe(repositories.length === 1 ? `Not needed: ${some}` : `Such as ${some}`);
}

/** What the writes are made by. */
export function serviceOf(forge: Forge): Service<Repository> {
  return {
    name: "github",
    endpoints: forge.endpoints,
    fields: { repository: repositoryArgument(forge) },
    place: ({ repository }) => forge.find(repository),
    rest: forge.rest,
    pinned: ({ label }) => ({
      args: { repository: label },
      lines: [{ label: "Repository", value: label }],
    }),
  };
}

/** The first seven digits of a commit. */
export function shaOf(value: unknown): string {
  return wordOf(value).slice(0, 7);
}

/** A login, of whoever the field says. */
export function loginOf(value: unknown): string | undefined {
  return isRecord(value) ? wordOf(value["login"]) || undefined : undefined;
}
