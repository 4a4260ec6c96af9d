import { beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/entry.ts";
import { createEncoder } from "../../../src/security/encoder.ts";
import { gitlab } from "../../../src/tools/gitlab/integration.ts";
import { NOTHING_LENT } from "../../../src/tools/registry.ts";
import { type FakeGitlab, serveGitlab } from "../../fakes/gitlab.ts";
import { type Calling, run } from "../calling.ts";
import { bearsHostileServers } from "../hostile.ts";
import { listenHttp } from "../network/servers.ts";
import { writing } from "../writing.ts";

const TOKEN = "glpat-Zt9qLw27KfPz4RbNcTy8";
const NOW = Date.parse("2026-11-23T02:00:00Z");
const SHA = "a1b2c3d4e5f60718293a4b5c6d7e8f9001122334";
const ago = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();
const user = (username: string) => ({ id: 1, username });

const merge = (iid: number, minutes: number, title = `Change ${iid}`) => ({
  id: 1_000 + iid,
  iid,
  title,
  state: "merged",
  author: user("ana"),
  created_at: ago(minutes + 60),
  merged_at: ago(minutes),
  updated_at: ago(minutes),
  merge_commit_sha: SHA,
  target_branch: "main",
});
const job = (id: number, name: string, status: string) => ({
  id,
  name,
  status,
  stage: "test",
  ref: "main",
  failure_reason: status === "failed" ? "script_failure" : undefined,
  commit: { id: SHA },
  pipeline: { id: 70 },
  user: user("bo"),
  created_at: ago(12),
  finished_at: ago(10),
});

let fake: FakeGitlab;
beforeEach(() => {
  fake = {
    token: TOKEN,
    version: "17.5.1-ee",
    merges: [merge(12, 30), merge(9, 9_000)],
    diffs: [
      { old_path: "a.ts", new_path: "b.ts", renamed_file: true, diff: "@@ -1 +1 @@\n-a\n+b\n" },
      {
        old_path: "new.ts",
        new_path: "new.ts",
        new_file: true,
        diff: "@@ -0,0 +1,3 @@\n+1\n+2\n+3\n",
      },
      { old_path: "big.bin", new_path: "big.bin", diff: "", too_large: true },
    ],
    deployments: [
      {
        id: 5,
        sha: SHA,
        ref: "main",
        status: "failed",
        updated_at: ago(18),
        environment: { name: "production" },
        user: user("cd"),
      },
    ],
    releases: [{ tag_name: "v1.2", name: "Pools", released_at: ago(20), author: user("cy") }],
    pipelines: [
      { id: 70, ref: "main", sha: SHA, status: "failed", updated_at: ago(10) },
      { id: 69, ref: "main", sha: SHA, status: "success", updated_at: ago(11) },
    ],
    jobs: [job(1, "lint", "success"), job(2, "rspec", "failed")],
    traces: {
      2: "section_start:1700000000:step_script\r\u001b[0Kbundle exec rspec\nretrying\nretrying\nexpected 2 got 3\n\u001b[31;1mERROR: Job failed: exit code 1\n",
    },
  };
});

async function toolsAt(url: string) {
  return gitlab.tools(
    gitlab.settings.parse({ url, token: TOKEN, projects: "acme/shop" }),
    NOTHING_LENT,
  );
}

const tools = async () => toolsAt(`http://127.0.0.1:${await listenHttp(serveGitlab(fake))}`);

async function ask(name: string, args: JsonObject = {}, calling: Calling = {}) {
  return run(await tools(), `gitlab_${name}`, args, { at: NOW, ...calling });
}

describe("what changed", () => {
  test("is told from the moment on; an environment whose newest deployment failed is a finding", async () => {
    const { text, findings, gaps } = await ask("changes", { at: ago(15) });
    expect(
      text
        .split("\n")
        .slice(1)
        .map((line) => line.slice(25)),
    ).toEqual([
      "3 min before: gitlab acme/shop: deployed a1b2c3d4 (main) to production: failed by cd",
      '5 min before: gitlab acme/shop: release v1.2 "Pools" by cy',
      '15 min before: gitlab acme/shop: merged !12 "Change 12" into main (a1b2c3d4) by ana',
      "5 min after: gitlab acme/shop: pipeline 70 on main (a1b2c3d4): failed",
    ]);
    expect(findings).toMatchObject([
      {
        object: { kind: "Deployment", namespace: "acme/shop", name: "production" },
        severity: "error",
        since: ago(18),
      },
    ]);
    expect(gaps).toEqual([]);
  });

  test("may be nothing, hidden in part, or hundreds with hostile titles and a secret", async () => {
    const held = "hunter2-held-hunter2-held";
    fake.merges = Array.from({ length: 450 }, (_, at) =>
      merge(at, 1, `${"x".repeat(85)} ${held}\n1. fine`),
    );
    fake.forbidden = /^deployments/;
    const { text, gaps } = await ask(
      "changes",
      {},
      { encoder: createEncoder([{ name: "PASSWORD", value: held }]) },
    );
    expect(text).not.toMatch(/hunter2|^1\./m);
    expect(text.split("\n")).toHaveLength(42);
    expect(gaps).toMatchObject([
      { what: "deployments of acme/shop", why: "GitLab refused with 403: 403 Forbidden" },
      { what: "older merges of acme/shop" },
    ]);
    expect((await ask("changes", { since: "30s" })).text).toMatch(/^0 changes/);
    await expect(ask("changes", { project: "acme/shpo" })).rejects.toThrow(
      "Did you mean acme/shop?",
    );
  });
});

test("a failed pipeline is told by its jobs and the end of their log", async () => {
  const { text, findings } = await ask("job_log");
  expect(text.split("\n")).toEqual([
    "Pipeline 70 of acme/shop: 1 of 2 jobs failed.",
    "Job 2 rspec (stage test): script_failure.",
    "  bundle exec rspec",
    "  retrying (×2)",
    "  expected 2 got 3",
    "  ERROR: Job failed: exit code 1",
  ]);
  expect(findings).toMatchObject([{ object: { kind: "Job", name: "rspec" }, severity: "warning" }]);
  fake.pipelines = [];
  await expect(ask("job_log")).rejects.toThrow("No pipeline has failed.");
});

test("a merge request is told with who approved it and its files, the largest first", async () => {
  Object.assign(fake.merges[0] ?? {}, {
    description: "Why.",
    source_branch: "topic",
    merge_user: user("bo"),
    merged_by: null,
    head_pipeline: { id: 70, status: "failed" },
  });
  expect((await ask("merge_request", { number: 12 })).text.split("\n")).toEqual([
    '!12 "Change 12" by ana: merged 2026-11-23 01:30:00 UTC (30 min ago) by bo as a1b2c3d4; approved by cy.',
    "From topic into main, pipeline failed.",
    'Description: "Why."',
    "3 files changed, +4 -1:",
    "- new.ts +3 -0 added",
    "- b.ts +1 -1 renamed from a.ts",
    "- big.bin +0 -0 (lines not given)",
  ]);
  fake.forbidden = /diffs|approvals/;
  expect((await ask("merge_request", { number: 12 })).gaps).toHaveLength(2);
  await expect(ask("merge_request", { number: 99 })).rejects.toThrow("no merge request !99");
});

describe("running a job again", () => {
  test("shows it, starts it, reads it back, and is undone by cancelling the new one", async () => {
    const {
      precheck,
      preview,
      run: carryOut,
      verify,
    } = await writing(await tools(), "gitlab_retry_job", { job: 2 });
    await precheck();
    expect((await preview())?.lines.slice(0, 2)).toEqual([
      { label: "Project", value: "acme/shop" },
      { label: "Job", value: "2 rspec, failed" },
    ]);
    expect(await verify()).toMatchObject({ verdict: "not done" });
    const { text, undo } = await carryOut();
    expect(text).toBe("Started job 902 in the place of 2.");
    expect(await verify()).toMatchObject({ verdict: "done", undo });
    await expect(precheck()).rejects.toThrow("It was run again already, as job 902.");
    const back = await writing(await tools(), undo?.tool ?? "", undo?.args ?? {});
    await back.precheck();
    await back.run();
    expect(await back.verify()).toMatchObject({ verdict: "done" });
    await expect(back.precheck()).rejects.toThrow("The job has ended: canceled.");
  });

  test("that is not there is refused; a broken answer may have started it", async () => {
    await expect(writing(await tools(), "gitlab_retry_job", { job: 9 })).rejects.toThrow(
      "There is no job 9",
    );
    fake.failing = 502;
    const { run: carryOut, verify } = await writing(await tools(), "gitlab_retry_job", { job: 2 });
    await expect(carryOut()).rejects.toMatchObject({ code: "ABORTED" });
    expect(await verify()).toMatchObject({ verdict: "done" });
  });
});

describe("reverting a merge request", () => {
  const BRANCH = "revert-a1b2c3d4";
  const revert = async () => writing(await tools(), "gitlab_revert", { number: 12 }, { at: NOW });

  test("shows that it applies, opens the one that takes it back, and is undone by closing that", async () => {
    const { precheck, preview, run: carryOut, verify, pinned } = await revert();
    expect(pinned).toMatchObject({ project: "acme/shop", before: { sha: SHA } });
    await precheck();
    expect((await preview())?.lines.slice(1)).toEqual([
      { label: "Reverts", value: '!12 "Change 12" by ana' },
      { label: "Merged", value: "2026-11-23 01:30:00 UTC (30 min ago) as a1b2c3d4 into main" },
      { label: "Changed", value: "3 files changed, +4 -1: new.ts, b.ts, big.bin" },
      { label: "Applies", value: "yes, GitLab has tried it" },
      { label: "Branch", value: BRANCH },
    ]);
    expect(await verify()).toMatchObject({ verdict: "not done" });
    expect(fake.branches).toEqual(["main"]);
    const { text, undo } = await carryOut();
    expect(text).toBe(
      "Opened !13, which reverts !12: https://gitlab.example.com/acme/shop/-/merge_requests/13",
    );
    expect(fake.merges[0]).toMatchObject({
      source_branch: BRANCH,
      target_branch: "main",
      title: 'Revert "Change 12"',
    });
    expect(await verify()).toMatchObject({ verdict: "done", undo });
    await expect(precheck()).rejects.toThrow("!13 reverts it already, and is opened.");
    const back = await writing(await tools(), undo?.tool ?? "", undo?.args ?? {});
    await back.precheck();
    const closed = await back.run();
    expect(await back.verify()).toMatchObject({ verdict: "done", undo: closed.undo });
    await expect(back.precheck()).rejects.toThrow("state was opened and is closed");
    await expect(precheck()).rejects.toThrow(
      `The branch ${BRANCH} is there already: open !13 again, or delete it.`,
    );
    const again = await writing(await tools(), closed.undo?.tool ?? "", closed.undo?.args ?? {});
    await again.run();
    expect(fake.merges[0]).toMatchObject({ iid: 13, state: "opened" });
  });

  test.each([
    ["is not merged", () => ({ merged_at: null, state: "opened" }), "!12 is not merged."],
    [
      "was fast-forwarded",
      () => ({ merge_commit_sha: null }),
      "!12 was merged without a commit of its own",
    ],
    [
      "does not apply",
      () => void (fake.stuck = "conflict"),
      "GitLab refused with 400: Sorry, we cannot revert this commit automatically.",
    ],
    [
      "was reverted by hand",
      () =>
        void fake.merges.push({
          ...merge(14, 5),
          description: "This reverts merge request !12",
          created_at: ago(9),
        }),
      "!14 reverts it already, and is merged.",
    ],
  ])("that %s is refused before anybody is asked", async (_, change, why) => {
    Object.assign(fake.merges[0] ?? {}, change());
    await expect((await revert()).precheck()).rejects.toThrow(why);
    expect(fake.branches).toEqual(["main"]);
  });

  test.each([
    ["the target branch is protected", () => void (fake.protected = ["main"]), /You are not allow/],
    ["GitLab is too old to try it", () => void (fake.version = "13.2.10"), /from 13\.3 on$/],
    ["its version is hidden", () => void (fake.version = undefined), /403 Forbidden$/],
  ])("where %s is not tried beforehand, and says so", async (_, change, why) => {
    change();
    const { precheck, preview, run: carryOut } = await revert();
    await precheck();
    const applies = (await preview())?.lines.find(({ label }) => label === "Applies");
    expect(applies?.value).toMatch(/^not known: /);
    expect(applies?.value).toMatch(why);
    expect((await carryOut()).text).toMatch(/^Opened !13/);
  });

  test("that was merged again since is refused", async () => {
    const { precheck } = await revert();
    Object.assign(fake.merges[0] ?? {}, { merge_commit_sha: SHA.replace("a", "b") });
    await expect(precheck()).rejects.toThrow("It has changed since it was shown: sha was");
  });

  test.each([
    ["revert", /revert$/, "deleted again: nothing is left of it.", []],
    ["merge request", /^POST merge_requests$/, "deleted again: nothing is left of it.", []],
    ["merge request", /^POST merge_requests$|^DELETE/, "could not be deleted: delete", [BRANCH]],
  ])("whose %s is refused says what became of its branch (%s)", async (_, forbidden, why, left) => {
    fake.forbidden = forbidden;
    const { run: carryOut, verify } = await revert();
    const { text, failed, gaps } = await carryOut();
    expect({ failed, gaps }).toMatchObject({
      failed: true,
      gaps: [{ help: expect.stringContaining("api for writes") }],
    });
    expect(text).toContain(`403 Forbidden. The branch ${BRANCH} was`);
    expect(text).toContain(why);
    expect(fake.branches).toEqual(["main", ...left]);
    expect((await verify())?.evidence).toMatch(left.length > 0 ? /without a merge/ : /^no merge/);
  });

  test("that broke off says that its branch may be there", async () => {
    const { run: carryOut, verify } = await revert();
    fake.failing = 502;
    await expect(carryOut()).rejects.toMatchObject({
      code: "ABORTED",
      message: `GitLab answered 502. The branch ${BRANCH} was made; it may hold the revert.`,
    });
    expect(await verify()).toMatchObject({
      verdict: "not done",
      evidence: `the branch ${BRANCH} is there without a merge request: open one, or delete it.`,
    });
  });
});

describe.each([
  ["changes", {}],
  ["job_log", {}],
] as [string, JsonObject][])("%s", (name, args) => {
  test("that is denied says so", async () => {
    fake.token = "another";
    expect(await ask(name, args)).toMatchObject({
      failed: true,
      gaps: [{ help: expect.stringContaining("GITLAB_TOKEN") }],
    });
  });
});

bearsHostileServers({
  serve: () => serveGitlab(fake),
  toolsAt,
  calls: [
    ["gitlab_changes", {}],
    ["gitlab_job_log", {}],
    ["gitlab_merge_request", { number: 12 }],
    ["gitlab_retry_job", { job: 2 }],
    ["gitlab_cancel_job", { job: 2 }],
    ["gitlab_revert", { number: 12 }],
    ["gitlab_set_state", { number: 12, state: "opened" }],
  ],
  at: NOW,
});

test("doctor asks each project; without projects the tools are not offered", async () => {
  const settings = gitlab.settings.parse({ token: TOKEN, projects: "acme/shop" });
  expect(await gitlab.proofs?.(settings, NOTHING_LENT)).toMatchObject([
    { subject: "gitlab acme/shop" },
  ]);
  expect(await gitlab.unavailable?.(gitlab.settings.parse({ token: TOKEN }), NOTHING_LENT)).toMatch(
    /^GITLAB_PROJECTS is not set/,
  );
});
