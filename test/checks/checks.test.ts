import { describe, expect, test } from "vitest";
import { conclude, type CheckResult } from "../../src/checks/conclude.ts";
import { type CheckedSkill, matching } from "../../src/checks/match.ts";
import { planOf } from "../../src/checks/plan.ts";
import { argumentsOf, type Checks, checksSchema } from "../../src/checks/schema.ts";
import { subjectOfLabels, subjectOfText } from "../../src/checks/subject.ts";
import type { Finding } from "../../src/core/finding.ts";
import { readYaml } from "../../src/core/yaml-file.ts";

const GOOD = `
when:
  alerts: ["*ErrorRate*", Http5xx]
  words: [502, bad gateway]
checks:
  page: { tool: http_check, with: { url: "{{url}}" } }
  pods: { tool: kubernetes_diagnose, with: { namespace: "{{namespace}}" } }
rules:
  - if: [{ check: pods, kind: Service, cause: "*no endpoints*" }, { check: page }]
    say: "{{pods.name}} has no endpoints, so {{page.name}} fails: {{page.evidence}}"
    fix: "Correct the selector of {{pods.name}}."
  - if: { check: pods, cause: "exceeded quota*" }
    say: "Its namespace {{pods.namespace}} has no quota left."
`;

async function read(text: string) {
  const mistakes: string[] = [];
  const file = { name: "checks.yaml", path: "checks.yaml", text, mode: 0o644, gid: 0 };
  const { values } = await readYaml(file, checksSchema, mistakes);
  return { checks: values, mistakes };
}

async function good(): Promise<Checks> {
  const { checks, mistakes } = await read(GOOD.replace("[502,", '["502",'));
  expect(mistakes).toEqual([]);
  if (checks === undefined) throw new Error("no checks");
  return checks;
}

test.each([
  ["checks: {}", "checks.yaml:1:1: checks: expected 1 to 8 checks"],
  ["checks: { a: { tool: x, with: { url: '{{uri}}' } } }", "{{uri}} is"],
  ["checks: { a: { tool: x } }\nrules: [{ if: { check: b }, say: s }]", "no check is called b"],
  [
    "checks: { a: { tool: x } }\nrules: [{ if: { check: a }, say: '{{a.colour}}' }]",
    "{{a.colour}} is",
  ],
  ["checks: { a: { tool: x } }\nrule: []", "rule"],
])("a mistake is told with its line: %s", async (text, told) => {
  const { checks, mistakes } = await read(text);
  expect(checks).toBeUndefined();
  expect(mistakes.join("\n")).toContain(told);
  expect(mistakes[0]).toMatch(/^checks\.yaml:\d+:\d+: /);
});

describe("what it is about", () => {
  test("labels, as different systems call the same thing", () => {
    expect(
      subjectOfLabels({ kube_namespace: "shop", app: "checkout", Hostname: "web-1", x: "y" }),
    ).toEqual({ namespace: "shop", service: "checkout", host: "web-1" });
    expect(subjectOfLabels({ service: "a", app: "b" })).toEqual({ service: "a" });
    expect(subjectOfLabels({ instance: "db-1:9100" }).host).toBe("db-1");
    expect(subjectOfLabels({ instance: "localhost:9100" }).host).toBeUndefined();
    const probed = { instance: "https://shop.example.com/", job: "web" };
    expect(subjectOfLabels(probed)).toEqual({ ...probed, url: probed.instance });
  });

  test("words", () => {
    expect(subjectOfText("why does https://shop.example.com/pay fail in namespace shop?")).toEqual({
      url: "https://shop.example.com/pay",
      namespace: "shop",
    });
    expect(subjectOfText("service=checkout, pod: web-7f9-x.")).toEqual({
      service: "checkout",
      pod: "web-7f9-x",
    });
    for (const [said, subject] of Object.entries({
      "ECONNREFUSED 10.0.0.5:5432 since 14:00": { host: "10.0.0.5", port: "5432", time: "14:00" },
      "cpu at 100% on web-3": { host: "web-3" },
      "getaddrinfo ENOTFOUND db.internal": { host: "db.internal" },
      "slow at p99, errors on staging since we deployed v2.3, see app.log and postgres:15": {},
      "mail ana@example.com, e.g. about image web:200": {},
    }))
      expect(subjectOfText(said), said).toEqual(subject);
    expect(subjectOfText("the service is down and the queue has no consumer")).toEqual({});
  });
});

test("arguments are filled with it, and left out where it does not say", async () => {
  const { checks } = await read(
    'checks: { a: { tool: tcp_check, with: { host: "{{host}}", port: "{{port}}", tls: true, timeoutSeconds: 5 } } }',
  );
  const check = checks?.checks["a"];
  if (check === undefined) throw new Error("no check");
  const literal = { tls: "true", timeoutSeconds: "5" };
  expect(argumentsOf(check, { host: "db-1", namespace: "shop" })).toEqual({
    host: "db-1",
    ...literal,
  });
  expect(argumentsOf(check, {})).toEqual(literal);
});

describe("which checks fit", () => {
  const skill = async (name: string, description: string, when: Partial<Checks["when"]> = {}) => ({
    name,
    description,
    checks: { ...(await good()), when: { alerts: [], words: [], ...when } },
  });
  const names = (skills: CheckedSkill[]) => skills.map(({ name }) => name);

  test("an alert by its name, a question by words, and nothing where nothing fits", async () => {
    const skills = [
      await skill("http-5xx", "Finds the cause of HTTP server errors", (await good()).when),
      await skill("disk-full", "A file system without space or inodes", { words: ["disk full"] }),
      await skill("certificates", "TLS certificates that expire or do not fit"),
    ];
    expect(names(matching(skills, { alerts: ["HighErrorRate"], text: "" }))).toEqual(["http-5xx"]);
    expect(names(matching(skills, { alerts: ["higherrorrate"], text: "" }))).toEqual(["http-5xx"]);
    expect(names(matching(skills, { text: "checkout says Bad gateway" }))).toEqual(["http-5xx"]);
    expect(names(matching(skills, { text: "is the disk full?" }))).toEqual(["disk-full"]);
    expect(names(matching(skills, { text: "our certificate expired" }))).toEqual(["certificates"]);
    expect(matching(skills, { text: "show me the last deploys" })).toEqual([]);
    expect(matching(skills, { text: "the cause of the errors in our space" })).toEqual([]);
    expect(matching(skills, { text: "error 5021" })).toEqual([]);
  });
});

test("what several checks ask for is called once, and concluded once", async () => {
  const checks = await good();
  const skills = ["http-5xx", "sites"].map((name) => ({ name, description: "", checks }));
  const plan = planOf(skills, { url: "https://shop" });
  expect(plan).toEqual([
    {
      tool: "http_check",
      args: { url: "https://shop" },
      askedBy: [
        { skill: "http-5xx", check: "page" },
        { skill: "sites", check: "page" },
      ],
    },
    { tool: "kubernetes_diagnose", args: {}, askedBy: expect.any(Array) },
  ]);
  const cause = "exceeded quota: pods";
  const object = { kind: "Deployment", namespace: "shop", name: "web" };
  const found: Finding = { object, cause, severity: "error", evidence: "", since: null };
  const results = [{ check: "pods", ref: "T2", ok: true, findings: [found], gaps: [] }];
  const { statements } = conclude([checks, checks].map(({ rules }) => ({ rules, results })));
  expect(statements.map(({ text }) => text)).toEqual(["Its namespace shop has no quota left."]);
});

describe("what the findings mean", () => {
  const finding = (over: Partial<Finding> & { name?: string; kind?: string }): Finding => ({
    object: { kind: over.kind ?? "Service", namespace: "shop", name: over.name ?? "web" },
    cause: "selector app=x matches no pods, so the Service has no endpoints",
    severity: "error",
    evidence: "0 of 4 pods",
    since: null,
    ...over,
  });
  const result = (check: string, ...findings: Finding[]): CheckResult => ({
    check,
    ref: check === "page" ? "T1" : "T2",
    ok: true,
    findings,
    gaps: [],
  });
  const page = finding({
    kind: "URL",
    name: "https://shop",
    cause: "502",
    evidence: "502 in 3 ms",
  });

  test("a rule that holds is said with its evidence, and what it spoke of is not said again", async () => {
    const { rules } = await good();
    const { statements } = conclude([
      { rules, results: [result("page", page), result("pods", finding({}))] },
    ]);
    expect(statements).toEqual([
      {
        text: "web has no endpoints, so https://shop fails: 502 in 3 ms",
        refs: ["T2", "T1"],
        fix: "Correct the selector of web.",
      },
    ]);
  });

  test("what no rule speaks of is said by the finding's own word; warnings are not", async () => {
    const { rules } = await good();
    const mild = finding({ severity: "warning", cause: "exceeded quota: cpu" });
    const { statements } = conclude([
      { rules, results: [result("page", page), result("pods", mild)] },
    ]);
    expect(statements).toEqual([
      { text: "URL shop/https://shop: 502", refs: ["T1"], fix: undefined },
    ]);
  });

  test("what two checks find broken is said once, and not after a rule spoke of it", async () => {
    const { rules } = await good();
    const pod = (cause: string) => finding({ kind: "Deployment", name: "api", cause });
    const again = result("other", finding({ cause: "no endpoints" }), pod("0 of 2 ready"));
    const first = result("pods", finding({}), pod("OOMKilled"), pod("Unhealthy"));
    const { statements } = conclude([
      { rules, results: [result("page", page), first, { ...again, ref: "T3" }] },
    ]);
    expect(statements.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^web has no endpoints/),
      "Deployment shop/api: OOMKilled",
      "Deployment shop/api: Unhealthy",
    ]);
  });

  test("nothing found, nothing said; what failed or could not be seen is told", async () => {
    const { rules } = await good();
    const gap = { what: "secrets", why: "forbidden", help: "grant view" };
    const failed = { ...result("page"), ok: false };
    const unseen = { ...result("pods"), gaps: [gap] };
    expect(conclude([{ rules, results: [failed, unseen] }])).toEqual({
      statements: [],
      gaps: [gap],
      failed: ["T1"],
    });
  });
});
