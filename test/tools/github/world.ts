import type { IncomingHttpHeaders } from "node:http";
import { beforeEach } from "vitest";
import type { JsonObject } from "../../../src/core/entry.ts";
import { github } from "../../../src/tools/github/integration.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { type FakeGithub, type Item, serveGithub } from "../../fakes/github.ts";
import { type Calling, prepare, run } from "../calling.ts";
import { listenHttp } from "../network/servers.ts";
import { NOTHING_LENT } from "../../../src/tools/registry.ts";

/** A repository with something of everything, anew for each test. */

export const TOKEN = "Zt9-qLw27_KfPz4RbNcTy83HmVdSa6EjUoGi1Qls";
const MINUTE_MS = 60_000;
export const SHA = "a1b2c3d4e5f60718293a4b5c6d7e8f9001122334";
export const NOW = Math.floor(Date.now() / 1_000) * 1_000;

export let fake: FakeGithub;
export let asked: { url: string; headers: IncomingHttpHeaders }[];

export const ago = (minutes: number) =>
  new Date(NOW - minutes * MINUTE_MS).toISOString().replace(".000Z", "Z");
export const user = (login: string) => ({ login, id: 1, type: "User" });

export function pull(number: number, minutes: number, changes: Item = {}): Item {
  return {
    number,
    node_id: `PR_${number}`,
    state: "closed",
    title: `Change ${number}`,
    body: "Why.",
    user: user("ana"),
    merged_at: ago(minutes),
    updated_at: ago(minutes),
    created_at: ago(minutes + 60),
    merge_commit_sha: SHA,
    head: { ref: `topic-${number}`, sha: SHA },
    base: { ref: "main" },
    ...changes,
  };
}

export function commit(sha: string, minutes: number, message: string): Item {
  const author = { name: "Bo B", email: "bo@example.com", date: ago(minutes) };
  return { sha, commit: { message, author, committer: author }, author: user("bo"), parents: [] };
}

export function workflowRun(id: number, minutes: number, changes: Item = {}): Item {
  return {
    id,
    name: "CI",
    display_title: "Faster",
    head_branch: "main",
    head_sha: SHA,
    status: "completed",
    conclusion: "success",
    run_attempt: 1,
    actor: user("ana"),
    created_at: ago(minutes),
    updated_at: ago(minutes),
    ...changes,
  };
}

/** For the test files that share this: a hook of their own, since they may run in one process. */
export function freshWorld(): void {
  beforeEach(() => {
    asked = [];
    fake = {
      token: TOKEN,
      logs: "http://127.0.0.1:1",
      writes: [],
      repositories: {
        "acme/shop": {
          commits: [
            commit("ffff111122223333444455556666777788889999", 90, "Tune pool\n\nlonger"),
            commit(SHA, 30, "Change 12 (#12)"),
          ],
          pulls: [pull(12, 30), pull(9, 3_000, { merge_commit_sha: "0" })],
          releases: [
            {
              tag_name: "v1.2",
              name: "Pools",
              draft: false,
              prerelease: false,
              author: user("cy"),
              published_at: ago(20),
              created_at: ago(25),
            },
          ],
          deployments: [
            {
              id: 7,
              sha: SHA,
              ref: "main",
              environment: "production",
              creator: user("cd-bot"),
              created_at: ago(19),
            },
          ],
          statuses: {
            7: [
              { state: "inactive", created_at: ago(1), description: "" },
              { state: "failure", created_at: ago(18), description: "health check timed out" },
            ],
          },
          runs: [
            workflowRun(103, 10, { conclusion: "failure" }),
            workflowRun(102, 40, { conclusion: "failure" }),
            workflowRun(101, 50),
            workflowRun(100, 55),
          ],
        },
      },
    };
  });
}

export async function toolsAt(url: string, more: object = {}): Promise<readonly Tool[]> {
  const settings = github.settings.parse({
    url,
    token: TOKEN,
    repositories: "acme/shop",
    logHosts: "127.0.0.1",
    ...more,
  });
  return github.tools(settings, { ...NOTHING_LENT, variable: () => "" });
}

export async function tools(more?: object): Promise<readonly Tool[]> {
  const serve = serveGithub(fake, "/api/v3/");
  const graph = serveGithub(fake, "/api/");
  const port = await listenHttp((request, response) => {
    asked.push({ url: request.url ?? "", headers: request.headers });
    (request.url?.startsWith("/api/v3/") === true ? serve : graph)(request, response);
  });
  return toolsAt(`http://127.0.0.1:${port}/api/v3`, more);
}

export async function ask(name: string, args: JsonObject = {}, calling: Calling = {}) {
  return run(await tools(), `github_${name}`, args, { at: NOW, ...calling });
}

/** A write, step by step. */
export async function write(name: string, written: JsonObject) {
  const all = await tools();
  const given = prepare(all, `github_${name}`, written, { at: NOW });
  const pinned = (await given.tool.pin?.(given.args, given.ctx)) as JsonObject;
  const { tool, ctx } = given;
  return {
    pinned,
    precheck: async () => tool.precheck?.(pinned, ctx),
    preview: async () => tool.preview?.(pinned, ctx),
    run: () => tool.run(pinned, ctx),
    verify: async (startedAt = Date.now()) => tool.verify?.(pinned, ctx, startedAt),
  };
}
