import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { checkPages, checkPolicyNames, loadConfig } from "../../src/config/config.ts";
import { isBotError } from "../../src/core/errors.ts";
import { type Tool, defineTool } from "../../src/tools/tool.ts";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "watchkeeper-config-"));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

async function load(yaml: string | Uint8Array | undefined, env: Record<string, string> = {}) {
  if (yaml !== undefined) await writeFile(join(cwd, "watchkeeper.yaml"), yaml);
  return loadConfig(env, { cwd });
}

/** The lines of the error, without the first. */
async function mistakes(yaml: string | Uint8Array | undefined, env: Record<string, string> = {}) {
  return linesOf(await load(yaml, env).catch((error: unknown) => error));
}

function linesOf(error: unknown): string[] {
  if (!isBotError(error, "CONFIG_INVALID")) return [`not refused: ${String(error)}`];
  return error.message.split("\n- ").slice(1);
}

function toolOf(name: string, input: z.ZodType): Tool {
  return defineTool<unknown>({
    name,
    description: "For tests.",
    input,
    effect: "read",
    timeoutMs: 1_000,
    run: async () => ({ text: "" }),
  });
}

/** What counts as a secret in an environment. */
async function secretsOf(env: Record<string, string>): Promise<string[]> {
  return (await load(undefined, env)).secrets.map(({ value }) => value);
}

describe("without any configuration", () => {
  it("everything has its default", async () => {
    const { values, ...config } = await load(undefined);
    expect(values).toMatchObject({
      "logs.roots": ["/var/log"],
      "skills.folders": [],
      "network.allow": [],
    });
    expect(config).toEqual({
      dataDir: join(cwd, "data"),
      agentFile: join(cwd, "agent.md"),
      host: hostname(),
      platforms: [],
      wakeups: "in-process",
      port: 3000,
      isPortSet: false,
      incidentChannels: [],
      updateMinutes: {},
      people: [],
      links: { allow: [] },
      timezone: undefined,
      logLevel: "info",
      drainMs: 5_000,
      verifyAfterMinutes: 5,
      file: undefined,
      terminal: { color: true, dumb: false },
      approvals: {
        default: { read: "allow", write: "ask", destructive: "ask" },
        rules: [],
        singleOperator: false,
        grants: { uses: 5, minutes: 30 },
      },
      access: { rules: [] },
      model: {
        id: undefined,
        isStandard: false,
        values,
        models: {},
        maxOutputTokens: 8_192,
        firstLook: true,
        fallbacks: [],
        routes: [],
      },
      budgets: {
        stepsPerRun: 30,
        tokensPerRun: 400_000,
        minutesPerRun: 15,
        tokensPerDay: 5_000_000,
        tokensPerPersonDay: 500_000,
        tokensPerPlaceDay: 2_500_000,
        tokensPerGuestDay: 50_000,
      },
      policyNames: [],
      pages: [],
      variables: {},
      secrets: [],
    });
  });

  it("an empty variable or an empty yaml is as good as none", async () => {
    const none = await load(undefined);
    const empty = {
      DATA_DIR: "",
      LOG_LEVEL: " ",
      DRAIN_SECONDS: "",
      WATCHKEEPER_CONFIG: "",
      MODEL: "",
    };
    expect(await load(undefined, empty)).toEqual(none);
    for (const yaml of ["", "# only words\n", "---\n", "\uFEFF"]) {
      expect(await load(yaml)).toEqual({ ...none, file: join(cwd, "watchkeeper.yaml") });
    }
  });
});

describe("what is read", () => {
  it("variables and yaml", async () => {
    await writeFile(
      join(cwd, "other.yaml"),
      `approvals: { singleOperator: true, default: { read: ask } }
network: { allow: [10.20.0.0/16, "*.internal.example.com", fd00::1] }
logs: { roots: [/srv/logs/, /var/log/../log/app] }
`,
    );
    const config = await load("not: read", {
      DATA_DIR: "/srv/wk",
      LOG_LEVEL: "debug",
      DRAIN_SECONDS: "0.3",
      WATCHKEEPER_CONFIG: "other.yaml",
    });
    expect(config).toMatchObject({
      dataDir: "/srv/wk",
      logLevel: "debug",
      drainMs: 300,
      file: join(cwd, "other.yaml"),
      approvals: { singleOperator: true, default: { read: "ask", write: "ask" } },
      values: {
        "network.allow": ["10.20.0.0/16", "*.internal.example.com", "fd00::1"],
        "logs.roots": ["/srv/logs", "/var/log/app"],
      },
    });
  });

  it("cannot be changed afterwards", async () => {
    const config = await load("approvals: { rules: [{ match: { tool: x }, decide: deny }] }");
    expect(Object.isFrozen(config.approvals.rules[0]?.match)).toBe(true);
    expect(Object.isFrozen(config.values["logs.roots"])).toBe(true);
  });

  it("anchors and aliases, as far as they do not multiply", async () => {
    const yaml = `approvals:
  rules:
    - { match: &m { tool: x }, decide: deny }
    - { match: *m, decide: ask }
`;
    const { approvals, policyNames } = await load(yaml);
    expect(approvals.rules).toMatchObject([{}, { match: { tool: "x" } }]);
    expect(policyNames.map(({ at }) => at)).toEqual(Array(2).fill("watchkeeper.yaml:3:21"));
    const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"];
    for (const [from, to] of ["ab", "bc", "cd", "de"]) {
      bomb.push(`${to}: &${to} [${Array.from({ length: 9 }, () => `*${from}`).join()}]`);
    }
    expect(await mistakes(bomb.join("\n"))).toEqual([
      expect.stringContaining("watchkeeper.yaml: it cannot be read as yaml: Excessive alias count"),
    ]);
  });
});

describe("mistakes", () => {
  it("are reported all at once and in the order of the lines, each with its place, what is wrong and what is expected", async () => {
    const yaml = `aprovals: {}
access: { rules: [{ who: stranger, channels: "#ops", decide: allow }, { who: [], tools: x }] }
approvals:
  default: { destructive: allow }
  rules:
    - match: { tol: x, tool: y }
      decide: maybe
    - match: { args: { argv: "rm *" } }
network:
  allow: ["https://example.com/"]
logs:
  roots: [var/log, /, /proc/self]
model: { effort: max, maxOutputTokens: 9000, contextWindow: 10 }
budgets: { stepsPerRun: 0, tokensPerWeek: 1 }
`;
    const env = {
      MODEL: "anthropc/hidden-value",
      ANTHROPIC_BASE_URL: "https://user:hidden-value@models.example.com",
      OPENAI_API_KEY: "hidden-value 2",
      LOG_LEVEL: "hidden-value",
      DRAIN_SECONDS: "hidden-value",
      WATCHKEEPER_CONFG: "hidden-value",
    };
    const found = await mistakes(yaml, env);
    expect(found).toEqual([
      expect.stringMatching(/^MODEL: expected anthropic\/<name>, openai\/<name>/),
      expect.stringMatching(/^ANTHROPIC_BASE_URL: expected an http or https URL such as /),
      expect.stringMatching(/^OPENAI_API_KEY: expected the key alone/),
      "LOG_LEVEL: expected one of trace, debug, info, warn, error, fatal, silent",
      "DRAIN_SECONDS: expected a number of seconds from 0 to 60",
      "WATCHKEEPER_CONFG: no such variable; did you mean WATCHKEEPER_CONFIG?",
      "watchkeeper.yaml:1:1: aprovals: unknown; did you mean approvals?",
      expect.stringMatching(
        /^watchkeeper\.yaml:2:21: access\.rules\[0\]\.who: expected "slack:group:<id>".* or a membership: member, /,
      ),
      expect.stringMatching(
        /^watchkeeper\.yaml:2:36: access\.rules\[0\]\.channels: expected "slack/,
      ),
      'watchkeeper.yaml:2:71: access.rules[1].decide is required; expected one of "allow"|"ask"|"deny"',
      "watchkeeper.yaml:2:73: access.rules[1].who is empty, so the rule could never match",
      expect.stringMatching(
        /^watchkeeper\.yaml:4:14: approvals\.default\.destructive: expected ask/,
      ),
      "watchkeeper.yaml:6:16: approvals.rules[0].match.tol: unknown; did you mean tool?",
      'watchkeeper.yaml:7:7: approvals.rules[0].decide: expected one of "allow"|"ask"|"deny"',
      'watchkeeper.yaml:8:7: approvals.rules[1].decide is required; expected one of "allow"|"ask"|"deny"',
      expect.stringMatching(/^watchkeeper\.yaml:10:11: network\.allow\[0\]: expected an address/),
      "watchkeeper.yaml:12:11: logs.roots[0]: expected an absolute path such as /var/log",
      expect.stringMatching(/^watchkeeper\.yaml:12:20: logs\.roots\[1\]: expected a folder/),
      expect.stringMatching(/^watchkeeper\.yaml:12:23: logs\.roots\[2\]: expected a folder/),
      expect.stringMatching(/^watchkeeper\.yaml:13:10: model\.effort: expected one of/),
      expect.stringMatching(/^watchkeeper\.yaml:13:46: model\.contextWindow: /),
      expect.stringMatching(/^watchkeeper\.yaml:14:12: budgets\.stepsPerRun: /),
      expect.stringMatching(/^watchkeeper\.yaml:14:28: budgets\.tokensPerWeek: unknown/),
    ]);
    expect(found.join()).not.toContain("hidden-value");
  });

  it.each(["-1", "60.1", "61", "1e1", "0x5", "5s", "NaN", " 5"])(
    "%j is no time to drain",
    async (seconds) => {
      expect(await mistakes(undefined, { DRAIN_SECONDS: seconds })).toEqual([
        "DRAIN_SECONDS: expected a number of seconds from 0 to 60",
      ]);
    },
  );

  it.each([
    ["a: 1\na: 2\n", "watchkeeper.yaml:2:1: this key is there twice"],
    ["- a\n", "watchkeeper.yaml:1:1: the file takes an object, not a list"],
    ["words", "watchkeeper.yaml:1:1: the file takes an object, not text"],
    ["approvals:\n", "watchkeeper.yaml:1:1: approvals takes an object, not nothing"],
    ["a: !x 1\n", "watchkeeper.yaml:1:4: Unresolved tag: !x"],
    ["logs: {}\n---\nlogs: {}\n", "watchkeeper.yaml:2:1: expected one document"],
    ["? [logs]\n: {}\n", "watchkeeper.yaml:1:3: expected a text as the key"],
    ["logs:\n\troots: []\n", "watchkeeper.yaml:2:1: Tabs are not allowed as indentation"],
    ["logs: *a\n", "watchkeeper.yaml: it cannot be read as yaml: Unresolved alias"],
    ["logs: &a { roots: [*a] }\n", "watchkeeper.yaml:1:20: logs.roots[0] takes text"],
    [
      "approvals: { rules: [{ match: { args: { __proto__: x } }, decide: deny }] }",
      "watchkeeper.yaml:1:41: __proto__ cannot be a key",
    ],
    [
      "approvals: { rules: [{ match: { args: { tag: 1.10 } }, decide: deny }] }",
      "watchkeeper.yaml:1:46: 1.10 is the number 1.1; write that, or put quotes around it",
    ],
    ["[".repeat(100_000), "watchkeeper.yaml:1:"],
    [new Uint8Array([0xff, 0xfe, 0x61, 0]), "watchkeeper.yaml: expected a text in UTF-8"],
    [`#${"x".repeat(1024 * 1024)}`, "watchkeeper.yaml: larger than 1 MiB"],
  ])("%#: %.40j", async (yaml, expected) => {
    const found = await mistakes(yaml);
    expect(found.map((line) => line.startsWith(expected))).toContain(true);
  });

  it.each([
    ["missing.yaml", "there is no such file"],
    [".", "expected a regular file"],
    ["/dev/zero", "expected a regular file"],
  ])("a yaml that is named must be one: %s", async (name, expected) => {
    expect(await mistakes(undefined, { WATCHKEEPER_CONFIG: name })).toEqual([
      `WATCHKEEPER_CONFIG: ${name}: ${expected}`,
    ]);
  });

  it("a policy is never silently left unread", async () => {
    await writeFile(join(cwd, "watchkeeper.yml"), "approvals: {}");
    expect(await mistakes(undefined)).toEqual([
      "watchkeeper.yml: this name is not read; rename it to watchkeeper.yaml",
    ]);
    await symlink(join(cwd, "nowhere"), join(cwd, "watchkeeper.yaml"));
    expect(await mistakes(undefined)).toEqual(["watchkeeper.yaml: there is no such file"]);
  });

  it("any text as yaml is read or refused, with a place for every mistake", async () => {
    const piece = fc.constantFrom(
      ..."approvals rules match tool args decide deny network allow logs roots a".split(" "),
      ..."|: |:\n|- |\n|  |{|}|[|]|,|&a |*a|\"|'|#|!|? |1.0|null|---\n|%|\t|<<".split("|"),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        const loaded = await load(pieces.join("")).catch((error: unknown) => error);
        const found = loaded instanceof Error ? linesOf(loaded) : [];
        for (const line of found) {
          expect(line).toMatch(/^watchkeeper\.yaml(:[1-9]\d*:[1-9]\d*: .|: it cannot be read)/);
        }
      }),
      { numRuns: 300 },
    );
    // 300 loads take minutes where others come first.
  }, 300_000);
});

describe("tools and arguments that the policy names", () => {
  const tools: Tool[] = [
    toolOf(
      "http_check",
      z.strictObject({ url: z.string(), pinned: z.string().optional().meta({ internal: true }) }),
    ),
    toolOf("run_command", z.strictObject({ argv: z.array(z.string()) })),
  ];

  it("must exist, and are reported with their line", async () => {
    const config = await load(`approvals:
  rules:
    - { match: { tool: run_comand }, decide: deny }
    - match:
        tool: [http_*, kubernetes_*]
        args: { ulr: x, pinned: y }
      decide: deny
    - { match: { args: { argv: x, url: y, host: z } }, decide: deny }
    - { match: { tool: run_command, args: { argv: x } }, decide: deny }
access:
  rules: [{ who: guest, tools: [run_command, http_chek], decide: deny }]
`);
    const error = await Promise.resolve()
      .then(() => checkPolicyNames(config, tools))
      .catch((thrown: unknown) => thrown);
    expect(linesOf(error)).toEqual([
      "watchkeeper.yaml:3:18: run_comand: no tool has this name; did you mean run_command?",
      "watchkeeper.yaml:5:9: kubernetes_*: no tool has this name",
      "watchkeeper.yaml:6:17: argument ulr: unknown; did you mean url?",
      "watchkeeper.yaml:6:25: argument pinned: unknown; known are url",
      "watchkeeper.yaml:8:43: argument host: unknown; known are url, argv",
      "watchkeeper.yaml:11:46: http_chek: no tool has this name; did you mean http_check?",
    ]);
  });
});

it("a rule that pages needs a pager that can, and is reported with its line", async () => {
  const config = await load(`approvals:
  rules:
    - match: { effect: destructive }
      decide: ask
      page: { service: Mail }
    - { match: { tool: x }, decide: ask, page: { service: Mail, instance: eu } }
`);
  const check = async (tools: Tool[]) =>
    linesOf(await (async () => checkPages(config, tools))().catch((error: unknown) => error));
  const none = "page: PagerDuty is not configured: set PAGERDUTY_TOKEN and PAGERDUTY_FROM.";
  expect(await check([])).toEqual([
    `watchkeeper.yaml:5:7: ${none}`,
    `watchkeeper.yaml:6:42: ${none}`,
  ]);
  const whyNot = ({ instance }: { instance?: string | undefined }) =>
    instance === "eu" ? "there is no eu" : undefined;
  const pager = { whyNot } as Tool["pager"] & object;
  expect(await check([{ ...toolOf("page", z.strictObject({})), pager }])).toEqual([
    "watchkeeper.yaml:6:42: page: there is no eu",
  ]);
});

describe("secrets", () => {
  it.each([
    ["GITHUB_TOKEN", "ghp_12345678"],
    ["my_api_key", "12345678"],
    ["APIKEY", "12345678"],
    ["AWS_SECRET_ACCESS_KEY", "12345678"],
    ["DB_PASSWORD", "correct horse"],
    ["SENTRY_DSN", "https://k@h/1"],
    ["STRIPE_KEY", "12345678"],
    ["SLACK_WEBHOOK_URL", "https://hooks.example.com/x"],
    ["GOOGLE_CREDENTIALS", "{}{}{}{}"],
    ["DB_PASS", "12345678"],
  ])("%s holds one", async (name, value) => {
    expect((await load(undefined, { [name]: value })).secrets).toEqual([{ name, value }]);
  });

  it.each([
    ["PATH", "/usr/bin:/bin"],
    ["OLDPWD", "/home/someone"],
    ["KEYBOARD", "qwertyuiop"],
    ["DB_PASSWORD_FILE", "/run/secrets/db"],
    ["SECRET_FLAG", "true"],
    ["HOMEPAGE", "https://example.com/a:b@c"],
  ])("%s holds none", async (name, value) => {
    expect(await secretsOf({ [name]: value })).toEqual([]);
  });

  it("are found in addresses, also percent-encoded, also with an @ in them", async () => {
    expect(await secretsOf({ DATABASE_URL: "postgres://app:p%40ssw0rd!@db:5432/x" })).toEqual([
      "p%40ssw0rd!",
      "p@ssw0rd!",
    ]);
    expect(await secretsOf({ X: "mongodb://u:pass@word1@a,b/db redis://:another-one@h" })).toEqual([
      "pass@word1",
      "another-one",
    ]);
    expect(await secretsOf({ X: "http://u:100%25%zz-bad@h" })).toEqual(["100%25%zz-bad"]);
  });

  it("of several lines count as a whole and line by line", async () => {
    const pem = "-----BEGIN KEY-----\nMIIabcdefgh\nijklmnopqr\nshort\n-----END KEY-----\n";
    expect(await secretsOf({ TLS_PRIVATE_KEY: pem })).toEqual([
      pem.trim(),
      "MIIabcdefgh",
      "ijklmnopqr",
    ]);
  });
});
