import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { approvalPolicy } from "../../src/config/policy.ts";
import { type ApprovalPolicy, namedIn } from "../../src/approvals/policy-form.ts";
import { type PolicyCall, decidePolicy } from "../../src/approvals/policy.ts";
import { globMatches } from "../../src/core/glob.ts";
import { PLATFORM_NAMES } from "../../src/adapters/platforms.ts";
import { isGroup } from "../../src/approvals/requester.ts";
import type { Effect, Json } from "../../src/core/entry.ts";

function policyOf(...rules: unknown[]) {
  return approvalPolicy.parse({ rules });
}

function run(argv: Json, effect: Effect = "write"): PolicyCall {
  return { tool: "run_command", effect, args: { argv } };
}

/** Why the call is denied, if it is. */
function denies(policy: ApprovalPolicy, call: PolicyCall): string | undefined {
  const decision = decidePolicy(policy, call);
  return decision.kind === "deny" ? decision.why : undefined;
}

function isRule(candidate: unknown): boolean {
  return approvalPolicy.safeParse({ rules: [candidate] }).success;
}

/** What becomes of a destructive call under one allow rule. */
function allowing(match: unknown): string {
  return decidePolicy(policyOf({ match, decide: "allow" }), run(["reboot"], "destructive")).kind;
}

/** What one rule that names the tool and a pattern for `argv` says; `none` when it does not match. */
function verdict(rule: "allow" | "ask" | "deny", pattern: unknown, argv: Json): string {
  const policy = approvalPolicy.parse({
    default: { write: rule === "deny" ? "allow" : "deny" },
    rules: [{ match: { tool: "run_command", args: { argv: pattern } }, decide: rule }],
  });
  const { kind } = decidePolicy(policy, run(argv));
  return kind === rule ? "matches" : "no match";
}

describe("without rules", () => {
  const builtIn = approvalPolicy.parse({});
  const asked = {
    kind: "ask",
    approvers: undefined,
    quorum: 1,
    expiresInMinutes: 60,
    requesterMayApprove: true,
    escalation: undefined,
  };

  it("a read is allowed", () => {
    expect(decidePolicy(builtIn, { tool: "ps", effect: "read", args: {} })).toEqual({
      kind: "allow",
      rule: "approvals.default.read (no rule matches)",
    });
  });

  it("a write may be approved by anyone in the thread, the requester included", () => {
    expect(decidePolicy(builtIn, { tool: "w", effect: "write", args: {} })).toEqual(asked);
  });

  it("a destructive call is approved by someone else than the requester", () => {
    const call: PolicyCall = { tool: "d", effect: "destructive", args: {} };
    expect(decidePolicy(builtIn, call)).toEqual({ ...asked, requesterMayApprove: false });
    expect(decidePolicy({ ...builtIn, singleOperator: true }, call)).toEqual(asked);
  });
});

describe("rules", () => {
  it("the first that matches wins", () => {
    const policy = policyOf(
      { match: { tool: "restart_*" }, decide: "ask", quorum: 2 },
      { match: { tool: "restart_web" }, decide: "allow" },
    );
    expect(decidePolicy(policy, { tool: "restart_web", effect: "write", args: {} })).toMatchObject({
      kind: "ask",
      quorum: 2,
    });
  });

  it("a deny wins wherever it stands, and says which rule it is", () => {
    const policy = policyOf(
      { match: { tool: "*" }, decide: "allow" },
      { match: { tool: ["a", "run_*"], effect: "write" }, decide: "deny" },
    );
    const why = "rule 2 of approvals.rules denies this call of run_command";
    expect(decidePolicy(policy, run(["ls"]))).toEqual({ kind: "deny", why, by: "approvals.rules" });
    expect(denies(policy, run(["ls"]))).toBe(why);
    expect(denies(policy, run(["ls"], "read"))).toBeUndefined();
  });

  it("a default of deny denies as well", () => {
    const policy = approvalPolicy.parse({ default: { write: "deny" } });
    expect(denies(policy, run(["ls"]))).toContain("approvals.default.write");
  });

  it("an asking rule says whom, how many, how long, and whom to turn to", () => {
    const rule = {
      match: { effect: "destructive" },
      decide: "ask",
      approvers: ["slack:group:S0SRE", "slack:T1:U07", "discord:role:1122"],
      quorum: 2,
      expiresInMinutes: 30,
      escalation: "call the duty manager",
    };
    const call = run(["reboot"], "destructive");
    const expected = {
      kind: "ask",
      byRule: true,
      approvers: rule.approvers,
      quorum: 2,
      expiresInMinutes: 30,
      requesterMayApprove: false,
      escalation: "call the duty manager",
    };
    expect(decidePolicy(policyOf(rule), call)).toEqual(expected);
    const single = { ...policyOf(rule), singleOperator: true };
    expect(decidePolicy(single, call)).toEqual({ ...expected, requesterMayApprove: true });
    const explicit = { ...policyOf({ ...rule, requesterMayApprove: false }), singleOperator: true };
    expect(decidePolicy(explicit, call)).toEqual(expected);
  });

  it("people are escalated to and paged at one time, with a list, a text or a page alone", () => {
    const rule = { match: { tool: "*" }, decide: "ask" as const, expiresInMinutes: 40 };
    const escalate = (terms: object) => {
      const decided = decidePolicy(policyOf({ ...rule, ...terms }), run(["reboot"]));
      return decided.kind === "ask" && decided.escalate;
    };
    const page = { service: "Mail" };
    expect(escalate({ page })).toEqual({ to: [], afterMinutes: 10, page });
    expect(escalate({ page, escalation: "call Di" })).toMatchObject({ to: [], page });
    const to = ["slack:group:S0DUTY"];
    expect(escalate({ page, escalation: to, escalateAfterMinutes: 5 })).toEqual({
      to,
      afterMinutes: 5,
      page,
    });
    expect(() => policyOf({ ...rule, escalateAfterMinutes: 5 })).toThrow(/or page/);
    expect(() => policyOf({ ...rule, page, escalateAfterMinutes: 40 })).toThrow(/not before/);
  });

  it("a destructive call is only allowed by a rule with the tool's whole name", () => {
    expect(allowing({ tool: "run_command" })).toBe("allow");
    expect(allowing({ tool: ["ps", "run_command"] })).toBe("allow");
    expect(allowing({ tool: "*" })).toBe("ask");
    expect(allowing({ tool: "run_*" })).toBe("ask");
    expect(allowing({ args: { argv: "reboot" } })).toBe("ask");
  });

  it("an argument that is missing or inherited never matches", () => {
    for (const name of ["argv", "constructor", "toString"]) {
      const policy = policyOf({ match: { args: { [name]: "*" } }, decide: "deny" });
      expect(denies(policy, { tool: "t", effect: "read", args: {} })).toBeUndefined();
    }
  });

  it("all arguments that a rule names must match", () => {
    const policy = policyOf({ match: { args: { host: "*.prod", port: 22 } }, decide: "deny" });
    const call = { tool: "t", effect: "read" } as const;
    expect(denies(policy, { ...call, args: { host: "a.prod", port: 22 } })).toBeDefined();
    expect(denies(policy, { ...call, args: { host: "a.prod", port: 23 } })).toBeUndefined();
    expect(denies(policy, { ...call, args: { host: "a.test", port: 22 } })).toBeUndefined();
  });
});

describe("what a pattern matches", () => {
  it.each([
    ["443", 443, "matches"],
    [443, "443", "matches"],
    ["44*", 443, "matches"],
    [true, true, "matches"],
    ["tr*", true, "matches"],
    [false, true, "no match"],
    ["a*c*e", "abcde", "matches"],
    ["a*c*e", "abcd", "no match"],
    ["staging", "Staging", "no match"],
    ["/var/log/*", "/var/log/syslog", "matches"],
    ["/var/log/*", "/var/log/../../etc/shadow", "no match"],
    ["/var/log/*", "/var/log/a..b", "matches"],
    ["*", { a: 1 }, "no match"],
    [["a", "b"], "a", "no match"],
  ])("allow %j lets the scalar %j through: %s", (pattern, value, expected) => {
    expect(verdict("allow", pattern, value)).toBe(expected);
  });

  it.each([
    ["staging", "STAGING"],
    ["*prod*", { env: "prod" }],
    [["dev", "prod"], "prod"],
    ["*", ""],
    ["null", null],
  ])("deny %j catches %j", (pattern, value) => {
    expect(verdict("deny", pattern, value)).toBe("matches");
  });

  it.each([
    ["git status", ["git", "status"], "matches"],
    [["git", "status"], ["git", "status"], "matches"],
    ["git log *", ["git", "log", "main"], "matches"],
    ["tail -n *", ["tail", "-n", "5"], "matches"],
    ["git log --since=*", ["git", "log", "--since=1 day ago"], "matches"],
    ["git log *", ["git", "log", "--output=/etc/cron.d/x"], "no match"],
    ["git log *in", ["git", "log", "-cmain"], "no match"],
    ["git log *", ["git", "log", "main", "x"], "no match"],
    ["git log *", ["git", "log"], "no match"],
    ["git status", ["git", "status", ""], "no match"],
    ["git status", ["/tmp/git", "status"], "no match"],
    ["git status", ["git status"], "no match"],
    [["git status"], ["git", "status"], "no match"],
    ["git status", ["Git", "status"], "no match"],
    ["cat /var/log/*", ["cat", "/var/log/../../etc/shadow"], "no match"],
    ["git status", ["env", "git", "status"], "no match"],
    ["*", [], "no match"],
    ["*", [["x"]], "no match"],
  ])("allow %j lets the list %j through: %s", (pattern, argv, expected) => {
    expect(verdict("allow", pattern, argv)).toBe(expected);
  });

  it.each([
    ["rm *", ["rm"], "matches"],
    ["rm *", ["rm", "-rf", "/"], "matches"],
    ["rm *", ["/bin/rm", "-rf", "/"], "matches"],
    ["rm *", ["RM", "x"], "matches"],
    ["reboot", ["reboot"], "matches"],
    ["reboot", ["reboot", "-f"], "no match"],
    ["rm *", ["rmdir", "x"], "no match"],
    [["git", "push", "*"], ["git", "push", "--force", "origin"], "matches"],
  ])("ask and deny %j hold %j up: %s", (pattern, argv, expected) => {
    expect(verdict("ask", pattern, argv)).toBe(expected);
    expect(verdict("deny", pattern, argv)).toBe(expected);
  });

  it.each([
    [["env", "A=1", "rm", "-rf", "/"]],
    [["timeout", "5", "nice", "/usr/bin/rm", "x"]],
    [["sh", "-c", "rm -rf /"]],
    [["bash", "-c", "cd /tmp && /bin/rm -rf *"]],
    [["sh", "-c", "true;rm x"]],
    [["sh", "-c", "echo $(rm x)"]],
    [["env", "-S", "sh -c 'rm x'"]],
  ])("deny rm * also meets it behind a wrapper: %j", (argv) => {
    expect(verdict("deny", "rm *", argv)).toBe("matches");
    expect(verdict("ask", "rm *", argv)).toBe("no match");
  });

  it("stars match any run of characters, in linear time", () => {
    expect(globMatches("*", "")).toBe(true);
    expect(globMatches("a*a", "a")).toBe(false);
    expect(globMatches("a**b", "ab")).toBe(true);
    expect(globMatches("a*b*b", "ab")).toBe(false);
    expect(globMatches("[a-z].+", "b")).toBe(false);
    expect(globMatches(`${"a*".repeat(50)}b`, "a".repeat(100_000))).toBe(false);
  });
});

describe("for all policies and calls", () => {
  const words = fc.constantFrom("rm", "git", "-f", "*", "x", "/bin/rm", "a b");
  const pattern = fc.oneof(
    words,
    fc.constantFrom("rm *", "git *", 5, true),
    fc.array(words, { minLength: 1, maxLength: 3 }),
  );
  const match = fc
    .record(
      {
        tool: fc.constantFrom("run_command", "run_*", "*", "other"),
        effect: fc.constantFrom("read", "write", "destructive"),
        args: fc.dictionary(fc.constantFrom("argv", "host"), pattern, { minKeys: 1 }),
      },
      { requiredKeys: [] },
    )
    .filter((fields) => Object.keys(fields).length > 0);
  const rule = (...kinds: string[]) =>
    fc.record({ match, decide: fc.constantFrom(...kinds) }).filter(isRule);
  const anyRule = rule("allow", "ask", "deny");
  const call: fc.Arbitrary<PolicyCall> = fc.record({
    tool: fc.constantFrom("run_command", "other"),
    effect: fc.constantFrom<Effect>("read", "write", "destructive"),
    args: fc.dictionary(
      fc.constantFrom("argv", "host"),
      fc.oneof<fc.Arbitrary<Json>[]>(words, fc.integer(), fc.array(words, { maxLength: 4 })),
    ),
  });

  it("a deny anywhere wins whatever the order", () => {
    fc.assert(
      fc.property(fc.array(anyRule), rule("deny"), fc.nat(), call, (others, deny, at, asked) => {
        const alone = decidePolicy(policyOf(deny), asked).kind;
        const rules = others.toSpliced(at % (others.length + 1), 0, deny);
        const among = decidePolicy(policyOf(...rules), asked).kind;
        expect(alone === "deny" ? among : "deny").toBe("deny");
      }),
      { numRuns: 1_000 },
    );
  });

  it("rules appended after one that matches never widen what it said", () => {
    fc.assert(
      fc.property(fc.array(anyRule), fc.array(anyRule), call, (first, more, asked) => {
        const closed = { match: { tool: "*" }, decide: "ask" };
        const before = decidePolicy(policyOf(...first, closed), asked);
        const after = decidePolicy(policyOf(...first, closed, ...more), asked);
        expect(after.kind === "deny" ? before : after).toEqual(before);
      }),
      { numRuns: 1_000 },
    );
  });

  it("what allow lets through, the same pattern would have caught as ask and as deny", () => {
    fc.assert(
      fc.property(match, call, (fields, asked) => {
        const says = (decision: string) =>
          decidePolicy(
            approvalPolicy.parse({
              default: { read: "ask", write: "ask" },
              rules: [{ match: fields, decide: decision }],
            }),
            asked,
          ).kind === decision;
        if (!isRule({ match: fields, decide: "allow" }) || !says("allow")) return;
        expect([says("ask"), says("deny")]).toEqual([true, true]);
      }),
      { numRuns: 1_000 },
    );
  });

  it("denies agrees with decide", () => {
    fc.assert(
      fc.property(fc.array(anyRule), call, (rules, asked) => {
        const policy = policyOf(...rules);
        const decision = decidePolicy(policy, asked);
        expect(denies(policy, asked)).toBe(decision.kind === "deny" ? decision.why : undefined);
      }),
    );
  });
});

describe("a mistake is", () => {
  const ask = { match: { tool: "t" }, decide: "ask" };
  it.each([
    ["an empty list of approvers", { ...ask, approvers: [] }, "approvers"],
    ["a name instead of an id", { ...ask, approvers: ["@ana"] }, "approvers.0"],
    ["everyone as an approver", { ...ask, approvers: ["*"] }, "approvers.0"],
    [
      "a quorum above the listed accounts",
      { ...ask, approvers: ["slack:T1:U1", "slack:T1:U1"], quorum: 2 },
      "quorum",
    ],
    ["a quorum of nobody", { ...ask, quorum: 0 }, "quorum"],
    ["more than a week to approve", { ...ask, expiresInMinutes: 10_081 }, "expiresInMinutes"],
    ["nothing to match", { ...ask, match: {} }, "match"],
    ["no argument to match", { ...ask, match: { args: {} } }, "match.args"],
    ["an empty pattern", { ...ask, match: { args: { a: " " } } }, "match.args.a"],
    ["an empty list as a pattern", { ...ask, match: { args: { a: [] } } }, "match.args.a"],
    ["a key that rules do not have", { ...ask, approver: [] }, ""],
    ["a quorum for what is allowed", { ...ask, decide: "allow", quorum: 2 }, "quorum"],
    [
      "allowing what is destructive in general",
      { match: { effect: "destructive", tool: "*" }, decide: "allow" },
      "decide",
    ],
  ])("%s", (_, rule, path) => {
    const issues = approvalPolicy.safeParse({ rules: [rule] }).error?.issues ?? [];
    expect(issues.map((issue) => issue.path.slice(2).join("."))).toEqual([path]);
  });

  it("allowing every destructive call by default", () => {
    const result = approvalPolicy.safeParse({ default: { destructive: "allow" } });
    expect(result.error?.issues[0]?.message).toContain("write an allow rule");
  });

  it("not a quorum that a group may fill", () => {
    const rule = { ...ask, approvers: ["slack:group:S0SRE"], quorum: 3 };
    expect(approvalPolicy.safeParse({ rules: [rule] }).success).toBe(true);
  });
});

it("a policy lists the tools and arguments it names, with their place", () => {
  const policy = policyOf(
    { match: { effect: "write" }, decide: "ask" },
    { match: { tool: ["a", "b_*"], args: { x: 1 } }, decide: "ask" },
  );
  const path = ["rules", 1, "match"];
  expect(namedIn(policy)).toEqual([
    { tools: ["a"], arg: undefined, path: [...path, "tool"] },
    { tools: ["b_*"], arg: undefined, path: [...path, "tool"] },
    { tools: ["a", "b_*"], arg: "x", path: [...path, "args", "x"] },
  ]);
});

it("groups and roles are told from accounts, on every platform that there is", () => {
  expect(["slack:T1:U1", "discord:1"].map(isGroup)).toEqual([false, false]);
  for (const { account, group } of PLATFORM_NAMES) {
    expect(isGroup(account.shown), account.shown).toBe(false);
    expect(group === undefined || isGroup(group.shown), group?.shown).toBe(true);
  }
});
