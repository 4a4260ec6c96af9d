import { describe, expect, test } from "vitest";
import { accessPolicy, approvalPolicy } from "../../src/config/policy.ts";
import {
  type AccessCall,
  type AccessPolicy,
  decideAccess,
  groupsIn,
} from "../../src/approvals/access.ts";
import { decidePolicy } from "../../src/approvals/policy.ts";
import type { Requester } from "../../src/approvals/requester.ts";

const STANDINGS = ["member", "outsider", "guest", "bot", "deactivated", "unknown"] as const;

function who(standing: Requester["membership"], account = "slack:T1:U1"): Requester {
  return { account, membership: standing, groups: [] };
}

const CALLS = {
  "a look at incidents": { tool: "incident_search", effect: "read", open: true },
  "a read of the host": { tool: "read_log", effect: "read" },
  "a write of our records": { tool: "incident_open", effect: "write", own: true },
  "a write": { tool: "run_command", effect: "write" },
  "a destructive call": { tool: "restart_service", effect: "destructive" },
} as const satisfies Record<string, Omit<AccessCall, "channel">>;

const PLACES = ["slack:T1:C1", "slack:T1:D1", "discord:1:2", "discord:dm:3"];

describe("without rules", () => {
  const builtIn = accessPolicy.parse({});
  const cells = STANDINGS.flatMap((standing) =>
    PLACES.flatMap((channel) => Object.keys(CALLS).map((call) => [standing, channel, call])),
  ) as [Requester["membership"], string, keyof typeof CALLS][];

  test.each(cells)("a %s in %s: %s", (standing, channel, name) => {
    const access = decideAccess(builtIn, { ...CALLS[name], channel }, [who(standing)]);
    const may = standing === "member" || name === "a look at incidents";
    expect(access.kind).toBe(may ? "allow" : "deny");
  });

  test.each(Object.keys(CALLS) as (keyof typeof CALLS)[])(
    "nobody may have %s, a listed bot only what reads",
    (name) => {
      const call = { ...CALLS[name], channel: "slack:T1:C1" };
      expect(decideAccess(builtIn, call, []).kind).toBe("deny");
      const all = accessPolicy.parse({ rules: [{ who: "*", decide: "allow" }] });
      expect(decideAccess(all, call, []).kind).toBe("deny");
      const listed = { ...who("bot"), isListed: true as const };
      const reads = CALLS[name].effect === "read";
      expect(decideAccess(builtIn, call, [listed]).kind).toBe(reads ? "allow" : "deny");
      const guest = decideAccess(builtIn, call, [listed, who("guest")]);
      expect(guest.kind).toBe(name === "a look at incidents" ? "allow" : "deny");
      const none = accessPolicy.parse({ rules: [{ who: "bot", decide: "deny" }] });
      expect(decideAccess(none, call, [listed]).kind).toBe("deny");
    },
  );

  test.each([
    ["a read of the host", "guest", "Guests can't run checks here."],
    [
      "a write of our records",
      "outsider",
      "People who aren't in this channel can't change records",
    ],
    ["a write", "bot", "Bots can't ask for actions here."],
    [
      "a destructive call",
      "unknown",
      "People from outside this server or workspace can't ask for actions here.",
    ],
  ] as const)("%s is refused to a %s in words", (call, standing, words) => {
    const access = decideAccess(builtIn, { ...CALLS[call], channel: "slack:T1:C1" }, [
      who(standing),
    ]);
    expect(access).toMatchObject({ why: expect.stringContaining(words) });
    expect(access).toMatchObject({
      why: expect.stringMatching(/Ask a full member of this channel\.$/),
    });
  });

  test("the least of what several may holds, and nobody may nothing", () => {
    const call = { ...CALLS["a read of the host"], channel: "slack:T1:C1" };
    const both = [who("member"), who("guest", "slack:T1:U2")];
    expect(decideAccess(builtIn, call, both).kind).toBe("deny");
    expect(decideAccess(builtIn, call, both.toReversed()).kind).toBe("deny");
    expect(decideAccess(builtIn, call, []).kind).toBe("deny");
  });
});

describe("a rule", () => {
  const read = { ...CALLS["a read of the host"], channel: "slack:T1:C1" };
  const policy = (...rules: unknown[]): AccessPolicy => accessPolicy.parse({ rules });
  const verdict = (rules: unknown[], call: AccessCall, ...people: Requester[]) =>
    decideAccess(policy(...rules), call, people).kind;

  test("lets a standing, an account or a group ask for what it names, and no more", () => {
    const partner: Requester = { ...who("guest"), groups: ["slack:group:SPARTNER"] };
    for (const one of ["guest", "slack:T1:U1", "slack:group:SPARTNER", ["bot", "guest"], "*"]) {
      const rules = [{ who: one, tools: "read_*", effects: ["read"], decide: "allow" }];
      expect(verdict(rules, read, partner), String(one)).toBe("allow");
      expect(verdict(rules, { ...read, tool: "disk_usage" }, partner)).toBe("deny");
      expect(verdict(rules, { ...read, effect: "write" }, partner)).toBe("deny");
    }
    const others = ["bot", "slack:T1:U2", "slack:group:SOTHER"];
    expect(verdict([{ who: others, decide: "allow" }], read, partner)).toBe("deny");
  });

  test.each([
    ["*", true],
    ["slack:T1:C1", true],
    ["slack:T1", true],
    ["slack:T1:C", false],
    ["slack:T1:C2", false],
    ["discord:1", false],
    [["discord:1", "slack:T1:C1"], true],
  ])("for %j holds in slack:T1:C1: %s", (channels, holds) => {
    const rules = [{ who: "guest", channels, decide: "ask" }];
    expect(verdict(rules, read, who("guest"))).toBe(holds ? "ask" : "deny");
  });

  test("that stands first decides, for members too, and says so", () => {
    const rules = [
      { who: "member", tools: "read_log", decide: "deny" },
      { who: "*", decide: "allow" },
    ];
    expect(decideAccess(policy(...rules), read, [who("member")])).toEqual({
      kind: "deny",
      why: "Rule 1 of access.rules doesn't let those who asked use read_log here.",
      by: "access.rules",
    });
    expect(verdict(rules, read, who("unknown"))).toBe("allow");
    expect(verdict(rules, { ...read, tool: "x" }, who("member"))).toBe("allow");
  });

  test("that asks has one who may be asked, whoever else asks too", () => {
    const rules = [{ who: "guest", decide: "ask" }];
    expect(verdict(rules, read, who("guest"), who("member"))).toBe("ask");
    expect(verdict(rules, read, who("guest"), who("bot"))).toBe("deny");
  });

  test("names groups that are looked up", () => {
    const rules = [{ who: ["guest", "slack:group:S1"], decide: "allow" }];
    const access = policy(...rules, { who: "discord:role:7", decide: "deny" });
    const match = { requester: ["member", "slack:group:S2"] };
    const approvals = approvalPolicy.parse({ rules: [{ match, decide: "ask" }] });
    expect(groupsIn(access, approvals)).toEqual([
      "slack:group:S1",
      "discord:role:7",
      "slack:group:S2",
    ]);
  });
});

describe("a rule of approvals with a requester", () => {
  const call = { tool: "t", effect: "write" as const, args: {} };
  const policy = (requester: unknown, kind: string) =>
    approvalPolicy.parse({ rules: [{ match: { requester }, decide: kind }] });
  const kindOf = (requester: unknown, kind: string, requesters?: Requester[]) =>
    decidePolicy(policy(requester, kind), { ...call, requesters }).kind;

  test("allows only if it names everybody who asks", () => {
    expect(kindOf("member", "allow", [who("member")])).toBe("allow");
    expect(kindOf("member", "allow", [who("member"), who("guest")])).toBe("ask");
    expect(kindOf(["member", "guest"], "allow", [who("member"), who("guest")])).toBe("allow");
    expect(kindOf("member", "allow")).toBe("ask");
    expect(kindOf("member", "allow", [])).toBe("ask");
  });

  test("denies if it names one of them, or if nobody knows who they are", () => {
    expect(kindOf("guest", "deny", [who("member")])).toBe("ask");
    expect(kindOf("guest", "deny", [who("member"), who("guest")])).toBe("deny");
    expect(kindOf("slack:T1:U1", "deny", [who("member")])).toBe("deny");
    expect(
      kindOf("slack:group:S1", "deny", [{ ...who("member"), groups: ["slack:group:S1"] }]),
    ).toBe("deny");
    expect(kindOf("guest", "deny")).toBe("deny");
  });
});
