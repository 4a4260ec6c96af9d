import { describe, expect, test } from "vitest";
import { type Alert, alertOf } from "../../src/alerts/alert.ts";
import { type Group, Groups, isFlapping, type Word } from "../../src/alerts/groups.ts";
import { openingOf, stateOf } from "../../src/alerts/shown.ts";

const MINUTE = 60_000;

/** A route's journal, word by word. */
function route() {
  const groups = new Groups();
  let seq = 0;
  return {
    groups,
    say(atMinute: number, ...alerts: Alert[]): Group[] {
      seq += 1;
      const rule = { groupBy: ["cluster"], windowMs: 10 * MINUTE };
      const word: Word = { seq, at: atMinute * MINUTE, source: "alertmanager", alerts, rule };
      return [...groups.add(word)];
    },
  };
}

const word = (atMinute: number) => ({
  seq: 1_000 + atMinute,
  at: atMinute * MINUTE,
  source: "alertmanager",
  rule: { groupBy: ["cluster"], windowMs: 10 * MINUTE },
});

const firing = (name: string, labels: Record<string, string> = {}) =>
  alertOf({ name, status: "firing", labels });
const over = (name: string, labels: Record<string, string> = {}) =>
  alertOf({ name, status: "resolved", labels });

test("an alert's repeats, its end and its return within ten minutes are one group's", () => {
  const { groups, say } = route();
  const [group] = say(0, firing("Disk", { instance: "a" }));
  say(60, firing("Disk", { instance: "a" }));
  say(120, over("Disk", { instance: "a" }));
  expect(group?.overAt).toBe(120 * MINUTE);
  say(129, firing("Disk", { instance: "a" }));
  expect(groups.open.size).toBe(1);
  const [member] = group?.members.values() ?? [];
  expect(member).toMatchObject({ told: 4, fired: 2, firstAt: 0, lastAt: 129 * MINUTE });
  expect(group?.overAt).toBeUndefined();
  say(130, over("Disk", { instance: "a" }));
  expect(say(141, firing("Disk", { instance: "a" }))).not.toContain(group);
});

test("an alert's name and the route's labels make a group, whatever the instance", () => {
  const { groups, say } = route();
  say(
    0,
    firing("Cpu", { instance: "a", cluster: "x" }),
    firing("Cpu", { instance: "b", cluster: "x" }),
  );
  expect(groups.open.size).toBe(1);
  say(1, firing("Cpu", { instance: "c", cluster: "y" }));
  expect(groups.open.size).toBe(2);
});

test("a group is over when all of its alerts are", () => {
  const { say } = route();
  const [group] = say(0, firing("Cpu", { instance: "a" }), firing("Cpu", { instance: "b" }));
  say(1, over("Cpu", { instance: "a" }));
  expect(group?.overAt).toBeUndefined();
  say(2, over("Cpu", { instance: "b" }));
  expect(group?.overAt).toBe(2 * MINUTE);
});

test("other alerts of the same service join within the window, and are named", () => {
  const { groups, say } = route();
  const [group] = say(0, firing("Errors", { service: "checkout" }));
  expect(say(5, firing("Latency", { service: "checkout", instance: "a" }))).toEqual([group]);
  expect(group && stateOf("alerts:slack:T1:C1", group, 5 * MINUTE).folded).toEqual(["Latency"]);
  say(5, firing("Latency", { service: "search" }));
  say(40, firing("Restarts", { service: "checkout" }));
  expect(groups.open.size).toBe(3);
});

test("what is over before it was heard of begins nothing; what is over days later still ends its group", () => {
  const { groups, say } = route();
  expect(say(0, over("Cpu"))).toEqual([]);
  const [group] = say(1, firing("Cpu"));
  for (let day = 1; day < 9; day += 1) say(day * 1_440, firing("Other", { node: `n${day}` }));
  expect(say(9 * 1_440, over("Cpu"))).toEqual([group]);
  expect(group?.overAt).toBe(9 * 1_440 * MINUTE);
  say(11 * 1_440, firing("Later"));
  expect(groups.open.has(group?.id ?? "")).toBe(false);
});

describe("a storm", () => {
  test("10 000 alerts of 20 causes are 25 groups at the most, and none is lost", () => {
    const { groups, say } = route();
    let told = 0;
    for (let request = 0; request < 100; request += 1) {
      const alerts = Array.from({ length: 100 }, (_, i) => {
        const cause = (request * 7 + i) % 20;
        const labels = { service: `s${cause}`, instance: `i${request}-${i}` };
        return firing(`Alert${i % 5}`, labels);
      });
      told += alerts.length;
      say(request / 20, ...alerts);
    }
    expect(groups.open.size).toBeLessThanOrEqual(25);
    const kept = [...groups.open.values()].reduce(
      (sum, { members, forgotten }) =>
        sum + forgotten + [...members.values()].reduce((n, member) => n + member.told, 0),
      0,
    );
    expect(kept).toBe(told);
  });

  test("1 000 alerts that share nothing are 20 groups, the newest of which says what it folded", () => {
    const { groups, say } = route();
    for (let i = 0; i < 1_000; i += 1) say(i / 1_000, firing(`Alert${i}`, { instance: `i${i}` }));
    expect(groups.open.size).toBe(20);
    const newest = [...groups.open.values()].at(-1);
    expect([...(newest?.members.values() ?? [])].filter(({ isFolded }) => isFolded)).toHaveLength(
      980,
    );
  });

  test("is told as one, the most urgent and newest names first, not under the title of the group that it joined", () => {
    const { groups, say } = route();
    for (let i = 0; i < 20; i += 1) say(0, firing(`Old${i}`, { service: `s${i}` }));
    const [group] = say(1, firing("Old19", { service: "s19" }));
    const told = () => group && stateOf("alerts:slack:T1:C1", group, 2 * MINUTE);
    expect(told()?.name).toBe("Old19");
    expect(told()?.folded).toEqual([]);
    for (let i = 0; i < 500; i += 1) say(1, firing("NodeDown", { device: `d${i}` }));
    for (let i = 0; i < 40; i += 1) say(1, firing(`Rare${i}`, { severity: "warning" }));
    say(1, firing("CoreSwitch", { priority: "P1" }));
    say(2, firing("Rare7", { severity: "warning" }));
    expect(groups.open.size).toBe(20);
    expect(told()?.name).toBe("Storm: 542 alerts, most NodeDown (500)");
    expect(told()?.folded.slice(0, 2)).toEqual(["CoreSwitch", "Rare7"]);
    expect(
      told()
        ?.alerts.slice(0, 2)
        .map(({ name }) => name),
    ).toEqual(["CoreSwitch", "Rare7"]);
    expect(group && openingOf(group)).toBe("🔥 Storm: 542 alerts, most NodeDown (500)");
  });

  test("of ever new names is remembered up to a bound, and all of its words are counted", () => {
    const { groups, say } = route();
    const names = Array.from({ length: 5_000 }, (_, i) => firing(`Alert${i}`, { pod: `p${i}` }));
    for (let i = 0; i < names.length; i += 500) say(0, ...names.slice(i, i + 500));
    const last = [...groups.open.values()].at(-1);
    const sizes = Object.values(last ?? {}).flatMap((each: unknown) =>
      each instanceof Map || each instanceof Set
        ? [each.size]
        : Array.isArray(each)
          ? [each.length]
          : [],
    );
    expect(Math.max(...sizes)).toBe(2_000);
    expect(last?.forgotten).toBe(5_000 - 19 - 2_000);
    expect(last && openingOf(last)).toBe("🔥 Storm: over 2000 alerts, all with different names");
  });

  test("of alerts with different names says so", () => {
    const { groups, say } = route();
    for (let i = 0; i < 30; i += 1) say(0, firing(`A${i}`, { service: `s${i}` }));
    const last = [...groups.open.values()].at(-1);
    expect(last && openingOf(last)).toBe("🔥 Storm: 11 alerts, all with different names");
  });
});

test("an alert that comes and goes in ever the same distance needs few groups in a day", () => {
  const { groups, say } = route();
  const began = new Set<string>();
  for (let minute = 0; minute < 24 * 60; minute += 30) {
    for (const { id } of say(minute, firing("Flap"))) began.add(id);
    say(minute + 1, over("Flap"));
  }
  expect(began.size).toBeLessThanOrEqual(4);
  const last = [...groups.open.values()].at(-1);
  expect(last?.again).toBeGreaterThan(40);
});

test("whoever turns six times within an hour flaps", () => {
  const { say } = route();
  const [group] = say(0, firing("Flap"));
  if (group === undefined) throw new Error("no group");
  for (const minute of [1, 3, 5]) {
    expect(isFlapping(group, minute * MINUTE)).toBe(false);
    say(minute, over("Flap"));
    say(minute + 1, firing("Flap"));
  }
  expect(isFlapping(group, 7 * MINUTE)).toBe(true);
  expect(group.again).toBe(3);
  // A repeat is no change.
  say(14, firing("Flap"));
  expect(isFlapping(group, 15 * MINUTE)).toBe(true);
  expect(isFlapping(group, 16 * MINUTE)).toBe(false);
});

test("several alerts of one group that are told at once are one time that it was told of", () => {
  const { say } = route();
  const [group] = say(0, firing("Cpu", { instance: "a" }), firing("Cpu", { instance: "b" }));
  expect(group?.told).toBe(1);
  say(1, firing("Cpu", { instance: "a" }), over("Cpu", { instance: "b" }));
  expect(group?.told).toBe(2);
});

test("in a maintenance window nothing gets a group; what has one is still told of", () => {
  const { groups, say } = route();
  const quiet = { window: "nightly", until: 60 * MINUTE };
  const [known] = say(0, firing("Disk"));
  groups.add({ ...word(1), alerts: [firing("Backup"), over("Disk")], quiet });
  expect(known?.overAt).toBe(MINUTE);
  expect(groups.open.size).toBe(1);
  groups.add({ ...word(2), alerts: [firing("Disk")], quiet });
  expect([...groups.held.values()].map(({ alert }) => alert.name)).toEqual(["Backup", "Disk"]);
  const names = new Set(["Backup", "Disk"]);
  expect([...groups.quiet.values()]).toEqual([
    { window: "nightly", until: 60 * MINUTE, firstAt: MINUTE, count: 2, names },
  ]);
  groups.add({ ...word(3), alerts: [over("Backup")], quiet });
  expect(groups.held.size).toBe(1);
});

test("of thousands of alerts every one is counted, and the group is over only when all are", () => {
  const { say } = route();
  const many = Array.from({ length: 1_900 }, (_, i) => ({ instance: `i${i}` }));
  const [group] = say(0, ...many.map((labels) => firing("Cpu", labels)));
  expect([group?.members.size, group?.live]).toEqual([1_900, 1_900]);
  say(1, ...many.slice(1).map((labels) => over("Cpu", labels)));
  expect(group?.overAt).toBeUndefined();
  say(2, over("Cpu", { instance: "i0" }));
  expect(group?.overAt).toBe(2 * MINUTE);
});

test("a group's opening says what its own alert says, whoever joined it since; a bot's own message joins none for want of room", () => {
  const { groups, say } = route();
  const told = (name: string, summary: string) =>
    alertOf({ name, status: "firing", labels: { service: "shop" }, summary });
  const [group] = say(0, told("HighLatency", "p99 is 4 s"));
  say(1, told("DiskFull", "/data is full"));
  expect(group && openingOf(group)).toBe("🔥 HighLatency (2 alerts): p99 is 4 s");
  for (let i = 0; i < 25; i += 1) say(2, firing(`A${i}`, { service: `s${i}` }));
  expect(groups.open.size).toBe(20);
  const own = { ...word(3), alerts: [firing("CheckoutDown", { service: "checkout" })] };
  const [begun] = groups.add({ ...own, own: "slack:T1:C1:17.5" });
  expect(begun?.name).toBe("CheckoutDown");
  expect(groups.open.size).toBe(21);
});
