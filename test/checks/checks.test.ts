import { describe, expect, test } from "vitest";
import { conclude, type CheckResult } from "../../src/checks/conclude.ts";
import { type CheckedSkill, matching } from "../../src/checks/match.ts";
import { isSaid, phraseOf } from "../../src/checks/phrases.ts";
import { planOf } from "../../src/checks/plan.ts";
import { argumentsOf, type Checks, checksSchema } from "../../src/checks/schema.ts";
import { subjectOfLabels } from "../../src/checks/subject.ts";
import { subjectOfText } from "../../src/checks/subject-text.ts";
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
    ).toEqual({ namespace: "shop", service: "checkout", host: "web-1", domain: "web-1" });
    expect(subjectOfLabels({ service: "a", app: "b" })).toEqual({ service: "a" });
    expect(subjectOfLabels({ instance: "db-1:9100" }).host).toBe("db-1");
    expect(subjectOfLabels({ instance: "localhost:9100" }).host).toBeUndefined();
    const probed = { instance: "https://shop.example.com/", job: "web" };
    const [url, domain] = [probed.instance, "shop.example.com"];
    expect(subjectOfLabels(probed)).toEqual({ ...probed, url, site: url, domain });
  });

  test("words", () => {
    expect(subjectOfText("why does https://shop.example.com/pay fail in namespace shop?")).toEqual({
      url: "https://shop.example.com/pay",
      site: "https://shop.example.com/pay",
      domain: "shop.example.com",
      namespace: "shop",
    });
    expect(subjectOfText("service=checkout, pod: web-7f9-x.")).toEqual({
      service: "checkout",
      pod: "web-7f9-x",
    });
    for (const [said, subject] of Object.entries({
      "ECONNREFUSED 10.0.0.5:5432 since 14:00": {
        host: "10.0.0.5",
        port: "5432",
        time: "14:00",
        since: "14:00",
      },
      "cpu at 100% on web-3": { host: "web-3", domain: "web-3" },
      "getaddrinfo ENOTFOUND db.internal": {
        host: "db.internal",
        domain: "db.internal",
        site: "https://db.internal",
      },
      "can we reach db:5432": { host: "db", domain: "db", port: "5432" },
      "redis://cache:6379 hangs": { host: "cache", domain: "cache", port: "6379" },
      "can we connect to 10.1.2.3 on port 22": { host: "10.1.2.3", port: "22" },
      "läuft nginx noch?": { service: "nginx" },
      "why did nginx.service stop": { service: "nginx" },
      "checkout isn't responding": { service: "checkout" },
      "which pods restart in ns shop": { namespace: "shop" },
      "pods crash in the shop namespace": { namespace: "shop" },
      "kubectl get pods -n batch fails": { namespace: "batch" },
      "what changed in the last 2 hours": { since: "2h" },
      "any errors from today": { since: "00:00" },
      "what was deployed today": { since: "00:00" },
      "errors of the past week": { since: "1w" },
      "errors from monday": {},
      "errors of checkout since 2 hours": { service: "checkout", since: "2h" },
      "errors of checkout for 3 days": { service: "checkout", since: "3d" },
      "fehler von checkout seit 2 Stunden": { service: "checkout", since: "2h" },
      "is the server down, is it up, is anything broken": {},
      "error:1234 and code 5678": {},
      "slow at p99, errors on staging since we deployed v2.3, see app.log and postgres:15": {},
      "mail ana@example.com, e.g. about image web:200": {},
    }))
      expect(subjectOfText(said), said).toEqual(subject);
    expect(subjectOfText("the service is down and the queue has no consumer")).toEqual({});
  });
});

test("a phrase with many gaps is looked for in steps, and a skill's has four at most", async () => {
  const said = "a ".repeat(200).trim().split(" ");
  // One way after the other, this would take longer than anybody lives.
  expect(isSaid(phraseOf(`a ${"* a ".repeat(40)}zz`), said)).toBe(false);
  expect(isSaid(phraseOf("a * * zz"), "a b c d zz".split(" "))).toBe(true);
  expect(isSaid(phraseOf("a * zz"), "a b c d e zz".split(" "))).toBe(false);
  const { mistakes } = await read(
    'when: { words: ["a * b * c * d * e * f"] }\nchecks: { a: { tool: x } }',
  );
  expect(mistakes.join("\n")).toContain('expected at most 4 "*"');
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
    checks: { ...(await good()), when: { alerts: [], words: [], about: [], ...when } },
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
  const results = [{ check: "pods", ref: "T2", ok: true, findings: [found], gaps: [], text: "" }];
  const { statements } = conclude(
    [checks, checks].map(({ rules }) => ({ rules, answers: [], results })),
  );
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
    text: "",
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
      { rules, answers: [], results: [result("page", page), result("pods", finding({}))] },
    ]);
    expect(statements).toEqual([
      {
        text: "web has no endpoints, so https://shop fails: 502 in 3 ms",
        refs: ["T2", "T1"],
        fix: "Correct the selector of web.",
      },
    ]);
  });

  test("what no rule speaks of is no cause: it is said beside it by the finding's own word; warnings are not", async () => {
    const { rules } = await good();
    const mild = finding({ severity: "warning", cause: "exceeded quota: cpu" });
    const { statements, others } = conclude([
      { rules, answers: [], results: [result("page", page), result("pods", mild)] },
    ]);
    expect(statements).toEqual([]);
    expect(others).toEqual([{ text: "URL shop/https://shop: 502", refs: ["T1"], fix: undefined }]);
  });

  test("what two checks find broken is said once, and not after a rule spoke of it", async () => {
    const { rules } = await good();
    const pod = (cause: string) => finding({ kind: "Deployment", name: "api", cause });
    const again = result("other", finding({ cause: "no endpoints" }), pod("0 of 2 ready"));
    const first = result("pods", finding({}), pod("OOMKilled"), pod("Unhealthy"));
    const { statements, others } = conclude([
      { rules, answers: [], results: [result("page", page), first, { ...again, ref: "T3" }] },
    ]);
    expect(statements.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^web has no endpoints/),
    ]);
    expect(others.map(({ text }) => text)).toEqual([
      "Deployment shop/api: OOMKilled",
      "Deployment shop/api: Unhealthy",
    ]);
  });

  test("nothing found, nothing said; what failed or could not be seen is told", async () => {
    const { rules } = await good();
    const gap = { what: "secrets", why: "forbidden", help: "grant view" };
    const failed = { ...result("page"), ok: false };
    const unseen = { ...result("pods"), gaps: [gap] };
    expect(conclude([{ rules, answers: [], results: [failed, unseen] }])).toEqual({
      statements: [],
      answers: [],
      others: [],
      gaps: [gap],
      failed: ["T1"],
    });
  });

  test("what was asked is answered where no rule holds and its checks looked, with their own words", async () => {
    const { checks } = await read(`
checks: { page: { tool: x }, pods: { tool: y } }
rules: [{ if: { check: page, cause: "*502*" }, say: "{{page.name}} is broken" }]
answers:
  - { unless: { check: page, kind: URL }, say: "It answers: {{page.said}}", show: pods }
  - { unless: { check: pods }, say: "Pods are well." }
`);
    if (checks === undefined) throw new Error("no checks");
    const seen = (...results: CheckResult[]) => conclude([{ ...checks, results }]);
    const well = { ...result("page"), text: "GET / 200\n  times" };
    const pods = { ...result("pods", finding({})), text: "1 Service\n\n- web" };
    const answer = {
      text: "It answers: GET / 200",
      refs: ["T1", "T2"],
      lines: ["1 Service", "- web"],
    };
    expect(seen(well, pods).answers).toEqual([answer]);
    // What else is broken is told beside it, and never in its place.
    expect(seen(well, pods).others).toHaveLength(1);
    expect(seen({ ...well, ok: false }, pods).answers).toEqual([]);
    expect(seen(result("page", page), pods).answers).toEqual([]);
    const warned = { ...page, cause: "slow", severity: "warning" as const };
    expect(seen(result("page", warned), pods).answers).toEqual([]);
  });

  test.each([
    ["answers: [{ unless: { check: b }, say: s }]", "no check is called b"],
    ["answers: [{ unless: { check: a }, say: '{{a.cause}}' }]", "{{a.cause}} is"],
    ["answers: [{ unless: { check: a }, say: s, show: c }]", "no check is called c"],
    ["when: { about: [sight] }", "when.about"],
  ])("a mistake in an answer is told with its line: %s", async (text, told) => {
    const { mistakes } = await read(`checks: { a: { tool: x } }\n${text}`);
    expect(mistakes.join("\n")).toMatch(/^checks\.yaml:2:/);
    expect(mistakes.join("\n")).toContain(told);
  });
});
