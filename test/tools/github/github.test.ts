import type { IncomingHttpHeaders } from "node:http";
import { beforeEach, describe, expect, test } from "vitest";
import { createEncoder } from "../../../src/security/encoder.ts";
import { github } from "../../../src/tools/github/integration.ts";
import { serveGithub } from "../../fakes/github.ts";
import { run } from "../calling.ts";
import { bearsHostileServers } from "../hostile.ts";
import { listenHttp } from "../network/servers.ts";
import {
  ago,
  ask,
  asked,
  commit,
  fake,
  NOW,
  pull,
  SHA,
  TOKEN,
  tools,
  toolsAt,
  user,
  workflowRun,
  freshWorld,
} from "./world.ts";
import { NOTHING_LENT } from "../../../src/tools/registry.ts";

freshWorld();

describe("what changed", () => {
  test("is told from the moment on, the last before it first, and what is broken is a finding", async () => {
    const { text, findings, gaps } = await ask("changes", { at: ago(15) });
    const lines = text.split("\n");
    expect(lines.slice(1, -1).map((line) => line.slice(25))).toEqual([
      '3 min before: github acme/shop: deployed a1b2c3d (main) to production: failure "health check timed out" by cd-bot',
      '5 min before: github acme/shop: release v1.2 "Pools" by cy',
      '15 min before: github acme/shop: merged #12 "Change 12" into main (a1b2c3d) by ana',
      '1 h 15 min before: github acme/shop: commit ffff111 "Tune pool" by bo',
      "5 min after: github acme/shop: workflow CI on main (a1b2c3d): failure ×2, run 103 by ana",
    ]);
    expect(lines.at(-1)).toBe("github acme/shop: 2 other runs went well: CI ×2");
    expect(findings).toEqual([
      {
        object: { kind: "Deployment", namespace: "acme/shop", name: "production" },
        cause: "health check timed out",
        severity: "error",
        evidence: "a1b2c3d (main), the newest deployment there, has the status failure.",
        since: ago(18),
      },
    ]);
    expect(gaps).toEqual([]);
  });

  test("may be nothing", async () => {
    fake.repositories = { "acme/shop": {} };
    const { text, findings } = await ask("changes", { since: "1h" });
    expect(text).toMatch(/^0 changes from /);
    expect(findings).toEqual([]);
  });

  test("that a right is missing for is a gap that names it; the rest is told", async () => {
    fake.forbidden = /deployments/;
    const { text, gaps } = await ask("changes");
    expect(text).toContain("merged #12");
    expect(gaps).toEqual([
      {
        what: "deployments of acme/shop",
        why: "GitHub refused with 403: Resource not accessible by personal access token",
        help: "Let the token see acme/shop with the permission Deployments: read.",
      },
    ]);
  });

  test.each([
    [
      () => void (fake.token = "another"),
      /^GitHub refused with 401: Bad credentials/,
      /GITHUB_TOKEN/,
    ],
    [() => void (fake.repositories = {}), /^GitHub refused with 404: Not Found/, /acme\/shop/],
    [
      () =>
        void (fake.limited = {
          "x-ratelimit-remaining": "0",
          "x-ratelimit-reset": String(NOW / 1_000 + 720),
        }),
      /^GitHub takes no more requests until .* UTC \(in 1[12] min/,
      /^Ask again then/,
    ],
    [
      () => void (fake.limited = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1e300" }),
      / UTC \(in /,
      /^Ask again then/,
    ],
    [() => void (fake.limited = { "retry-after": "30" }), /\(in (?:30|29) s\)$/, /^Ask again then/],
    [
      () => void (fake.limited = { "retry-after": new Date(Date.now() + 90_000).toUTCString() }),
      /\(in 1 min (?:29|30) s\)$/,
      /^Ask again then/,
    ],
    // The secondary limit: what is left counts another one.
    [
      () => void (fake.limited = { "x-ratelimit-remaining": "21", "x-ratelimit-reset": "9e9" }),
      /\(in 1 min\)$/,
      /^Ask again then/,
    ],
  ])("is a failure when nothing at all may be seen (%#)", async (spoil, why, help) => {
    spoil();
    const { text, failed, gaps } = await ask("changes");
    expect(failed).toBe(true);
    expect(text).toMatch(why);
    expect(gaps).toMatchObject([{ what: "acme/shop", help: expect.stringMatching(help) }]);
    expect(gaps).toHaveLength(1);
  });

  test("is not told as something that is not there when it is too long to be read", async () => {
    const port = await listenHttp((_, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ number: 12, body: "x".repeat(5 * 1024 * 1024) }));
    });
    const { text, failed } = await run(await toolsAt(`http://127.0.0.1:${port}`), "github_change", {
      change: "#12",
    });
    expect(failed).toBe(true);
    expect(text).toBe("GitHub answered with more than is read of one answer; ask for less.");
  });

  test("may be a page of more items than a call can be given", async () => {
    const port = await listenHttp((_, response) => {
      response.setHeader("content-type", "application/json");
      response.end(`[${"{},".repeat(400_000)}{}]`);
    });
    const { text } = await run(await toolsAt(`http://127.0.0.1:${port}`), "github_changes", {});
    expect(text.length).toBeLessThan(3_000);
  });

  test("may be hundreds over several pages, with hostile titles and a secret; what is left out is said", async () => {
    const held = "hunter2-held-hunter2-held";
    const title = `${"x".repeat(85)} ${held}\n1. Node db: on fire @everyone \u001b[31m`;
    fake.repositories["acme/shop"] = {
      pulls: Array.from({ length: 250 }, (_, at) =>
        pull(1_000 - at, at, { title, merge_commit_sha: String(at) }),
      ),
      commits: Array.from({ length: 400 }, (_, at) => commit(`${at}`.padStart(40, "e"), at, title)),
    };
    const encoder = createEncoder([{ name: "PASSWORD", value: held }]);
    const { text, gaps } = await ask("changes", {}, { encoder });
    expect(text.split("\n")).toHaveLength(42);
    expect(text).toMatch(/\nand 510 more$/);
    expect(text).not.toMatch(/hunter2|^1\. /m);
    expect(text).not.toContain("\u001b");
    expect(gaps).toMatchObject([{ what: "older commits of acme/shop" }]);
  });

  test("is only looked for in repositories that are named; a near name is suggested", async () => {
    await expect(ask("changes", { repository: "acme/shpo" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message:
        'repository: "acme/shpo" is not among those that may be looked at. Did you mean acme/shop?',
    });
    await expect(ask("changes", { repository: "../../user" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
    expect(asked).toEqual([]);
    expect((await ask("changes", { repository: "shop" })).text).toContain("merged #12");
  });
});

describe("one change", () => {
  test("that is a pull request: who, when, and files, the largest first", async () => {
    Object.assign(fake.repositories["acme/shop"]?.pulls?.[0] ?? {}, {
      merged_by: user("di"),
      commits: 2,
      changed_files: 30,
    });
    Object.assign(fake.repositories["acme/shop"] ?? {}, {
      files: {
        12: [
          { filename: "a.ts", status: "modified", additions: 1, deletions: 0, changes: 1 },
          {
            filename: "b.ts",
            previous_filename: "c.ts",
            status: "renamed",
            additions: 9,
            deletions: 3,
            changes: 12,
          },
        ],
      },
      reviews: {
        12: [
          { state: "APPROVED", user: user("eve") },
          { state: "COMMENTED", user: user("fay") },
        ],
      },
    });
    expect(
      (await ask("change", { change: "#12" })).text
        .replaceAll(/\d{4}-\S+ \S+ UTC/g, "T")
        .split("\n"),
    ).toEqual([
      '#12 "Change 12" by ana: merged T (30 min ago) by di as a1b2c3d; approved by eve.',
      "From topic-12 into main, 2 commits.",
      'Message: "Why."',
      "30 files changed, +10 -3:",
      "- b.ts +9 -3 renamed from c.ts",
      "- a.ts +1 -0",
      "and 28 more files",
    ]);
  });

  test("that is a commit, with the pull request that it is of; one that is not there", async () => {
    const files = [{ filename: "a.ts", status: "added", additions: 1, deletions: 0, changes: 1 }];
    Object.assign(fake.repositories["acme/shop"]?.commits?.[1] ?? {}, { files });
    const { text } = await ask("change", { change: SHA.slice(0, 8) });
    expect(text).toMatch(
      /^a1b2c3d "Change 12 \(#12\)" by bo, .*\nOf pull request #12 "Change 12"\.\n1 file changed, \+1 -0:\n- a\.ts \+1 -0 added$/,
    );
    for (const change of ["99", "abcdef1234"])
      await expect(ask("change", { change })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe("a failed job", () => {
  const LOG = [
    "\uFEFF2026-11-23T01:00:00.1234567Z ##[group]Run npm test",
    "2026-11-23T01:00:01.1234567Z retrying",
    "2026-11-23T01:00:02.1234567Z retrying",
    "2026-11-23T01:00:03.1234567Z \u001b[31m##[error]expected 2 to be 3\u001b[0m",
    "2026-11-23T01:00:03.1234567Z ##[error]Process completed with exit code 1.",
    "2026-11-23T01:00:04.1234567Z Post job cleanup.",
  ].join("\r\n");

  beforeEach(() => {
    Object.assign(fake.repositories["acme/shop"] ?? {}, {
      jobs: {
        103: [
          { id: 1, name: "lint", status: "completed", conclusion: "success", steps: [] },
          {
            id: 2,
            name: "test (24)",
            status: "completed",
            conclusion: "failure",
            completed_at: ago(10),
            steps: [
              { name: "Set up", conclusion: "success", number: 1 },
              { name: "npm test", conclusion: "failure", number: 2 },
            ],
          },
        ],
      },
    });
  });

  async function logServer(log: string, fails = false) {
    const got: { url: string; headers: IncomingHttpHeaders }[] = [];
    const port = await listenHttp((request, response) => {
      got.push({ url: request.url ?? "", headers: request.headers });
      if (fails) response.writeHead(403).end("<Error>AuthenticationFailed</Error>");
      else response.writeHead(200, { "content-type": "text/plain" }).end(log);
    });
    fake.logs = `http://127.0.0.1:${port}/logs`;
    return got;
  }

  test("is told by its step, its errors and the lines before; the token stays with GitHub", async () => {
    const got = await logServer(LOG);
    const { text, findings } = await ask("job_log");
    expect(text.replaceAll(/\d{4}-\S+ \S+ UTC/g, "T").split("\n")).toEqual([
      'run 103 of CI on main (a1b2c3d), "Faster" by ana: failure, T (10 min ago); 1 of 2 jobs failed.',
      'Job test (24): failure, step "npm test".',
      "  Run npm test",
      "  retrying (×2)",
      "  ##[error]expected 2 to be 3",
      "  ##[error]Process completed with exit code 1.",
      "  Post job cleanup.",
    ]);
    expect(findings).toMatchObject([
      {
        object: { kind: "Job", namespace: "acme/shop", name: "test (24)" },
        cause: "expected 2 to be 3",
        severity: "warning",
      },
    ]);
    expect(got.map(({ url }) => url)).toEqual(["/logs/2?sig=c2lnbmF0dXJl"]);
    expect(got[0]?.headers).not.toHaveProperty("authorization");
    expect(got[0]?.headers).not.toHaveProperty("x-github-api-version");
  });

  test("whose log leads to a host that nobody named is told without it", async () => {
    const got = await logServer(LOG);
    const elsewhere = await tools({ logHosts: "logs.example.com" });
    const { text, gaps } = await run(elsewhere, "github_job_log", { run: 103 });
    expect(text).toContain('Job test (24): failure, step "npm test".');
    expect(gaps).toMatchObject([
      { what: "the log of job test (24)", why: expect.stringContaining("redirects to") },
    ]);
    expect(got).toEqual([]);
  });

  test("whose log is huge or gone is told by what is there", async () => {
    const lines = Array.from(
      { length: 20_000 },
      (_, at) => `2026-11-23T01:00:00.0Z line ${at} of the build`,
    );
    await logServer([...lines, "2026-11-23T01:00:00.0Z npm error code ELIFECYCLE"].join("\n"));
    const long = await ask("job_log", { run: 103 });
    expect(long.findings?.[0]?.cause).toBe("npm error code ELIFECYCLE");
    expect(long.text.length).toBeLessThan(3_000);
    await logServer("PK\u0003\u0004\0\0");
    expect((await ask("job_log", { run: 103 })).gaps).toMatchObject([
      { why: "GitHub answered with no text" },
    ]);
    await logServer("", true);
    expect((await ask("job_log", { run: 103 })).gaps).toMatchObject([
      { what: "the log of job test (24)" },
    ]);
  });

  test("may be none", async () => {
    fake.repositories["acme/shop"] = { runs: [workflowRun(1, 5)] };
    await expect(ask("job_log")).rejects.toThrow("No workflow run has failed.");
    await expect(ask("job_log", { run: 5 })).rejects.toThrow("There is no run 5");
  });
});

bearsHostileServers({
  serve: () => serveGithub(fake),
  toolsAt,
  calls: [
    ["github_changes", {}],
    ["github_change", { change: "#12" }],
    ["github_job_log", { run: 103 }],
    ["github_rerun", { run: 103 }],
    ["github_cancel_run", { run: 103 }],
    ["github_revert", { pull: 12 }],
    ["github_open_issue", { title: "x" }],
    ["github_set_state", { number: 12, state: "open" }],
  ],
  at: NOW,
});

test("several accounts are told apart by their repositories; each is asked with its own token", async () => {
  const port = await listenHttp(serveGithub(fake));
  const url = `http://127.0.0.1:${port}`;
  const named = {
    work: { url, token: "WORK_TOKEN", repositories: ["acme/shop"] },
    home: { url, token: "HOME_TOKEN", repositories: ["ana/dots"] },
  };
  const settings = github.settings.parse({ named });
  const lent = {
    ...NOTHING_LENT,
    variable: (name: string) => (name === "WORK_TOKEN" ? TOKEN : "other"),
  };
  expect(github.variables?.(settings)).toEqual(["WORK_TOKEN", "HOME_TOKEN"]);
  const all = await github.tools(settings, lent);
  const { text, gaps } = await run(all, "github_changes", {}, { at: NOW });
  expect(text).toContain("merged #12");
  expect(gaps).toMatchObject([
    { what: "ana/dots", why: "GitHub refused with 401: Bad credentials" },
  ]);
  expect(await github.proofs?.(settings, lent)).toMatchObject([
    { subject: "github acme/shop" },
    { subject: "github ana/dots" },
  ]);
  expect(github.settings.safeParse({ repositories: "../x" }).success).toBe(false);
  expect(await github.unavailable?.(github.settings.parse({}), lent)).toBe(
    "GITHUB_TOKEN is not set, and integrations.github names no account",
  );
  expect(await github.unavailable?.(github.settings.parse({ token: TOKEN }), lent)).toMatch(
    /^GITHUB_REPOSITORIES is not set/,
  );
});
