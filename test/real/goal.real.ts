import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collect, Program } from "../fakes/program.ts";
import { type Answers, type Provider, startProvider, WIRES } from "../fakes/provider.ts";
import { FakeSlack, typed } from "../fakes/slack/slack.ts";
import { until } from "../until.ts";

/**
 * Work that nobody looks after: it is paused, killed while paused, resumed, killed in the middle of a call, uses up its budget, is
 * extended by a press and in words, and ends with a report in the thread and in a folder.
 */

const PARTS = ["front", "cart", "orders", "stock", "mail", "bills"];
const folder = mkdtempSync(join(tmpdir(), "wk-goal-"));
const reports = join(folder, "reports");
let slack: FakeSlack;
let people: { ana: { id: string }; bob: { id: string }; ops: { id: string } };
let shop: Server;
let provider: Provider;
let served: { program: Program; child: ReturnType<Program["start"]> } | undefined;
/** How often each part of the shop was asked, and the parts that never answer. */
const asked = new Map<string, number>();
const hanging = new Set<string>();
const held: ServerResponse[] = [];

const call = (id: string, name: string, args: object) => ({
  id,
  name,
  arguments: JSON.stringify(args),
});

/** What a good model would say: a plan of a task for each part, each part checked and written into the report, and an answer. */
const answers: Answers = ({ body, results }) => {
  const said = JSON.stringify(body.messages);
  const form = JSON.stringify(body.response_format ?? {});
  if (form.includes("goal_plan")) {
    const tasks = PARTS.filter((part) => !new RegExp(`Done:[^"]*the ${part}\\b`).test(said));
    const isDone = /\[x\][^"]*the bills|bills is well/.test(said);
    return {
      content: JSON.stringify({
        tasks: isDone ? [] : tasks.map((part) => ({ text: `Check the ${part}`, requires: [] })),
        deliverables: ["append_to_report"],
        done: isDone,
        answer: isDone ? "CONFIRMED: all six parts of the shop are well [T1]." : "",
      }),
    };
  }
  if (form.includes("verdict"))
    return {
      content: JSON.stringify({ verdict: "done", reason: "A call shows it.", tasks: [] }),
    };
  const part = /Check the (\w+)(?!.*Check the \w+)/s.exec(said)?.[1] ?? "front";
  if (results === 0)
    return { toolCalls: [call("c1", "http_check", { url: `${shopUrl()}/${part}` })] };
  const cited = /\[T\d+\]/.exec(said.slice(said.lastIndexOf('"role":"tool"')))?.[0] ?? "[T1]";
  if (results === 1) {
    const text = `The ${part} is well ${cited}.`;
    return { toolCalls: [call("c2", "append_to_report", { heading: `The ${part}`, text })] };
  }
  return { content: `CONFIRMED: the ${part} is well ${cited}.` };
};

function shopUrl(): string {
  const address = shop.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}

const yaml = () => `
network: { allow: ["127.0.0.1"] }
approvals:
  rules: [{ match: { tool: http_check, args: { url: "${shopUrl()}/*" } }, decide: allow }]
goals:
  enabled: true
  folder: ${reports}
  budget: { steps: 23, minutes: 60, tokens: 1000000 }
  replan: 2
`;

/** The same store each time. */
async function serve(): Promise<void> {
  const program = new Program({
    DATA_DIR: join(folder, "data"),
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    ...provider.env,
  });
  writeFileSync(join(program.folder, "watchkeeper.yaml"), yaml());
  const child = program.start();
  served = { program, child };
  const log = collect(child.stderr);
  await until(() => {
    if (/"level":(?:50|60)|CONFIG_INVALID/.test(log())) throw new Error(log());
    return log().includes('"serving"');
  });
}

/** It dies as by a power cut, and comes back. */
async function killed(): Promise<void> {
  const { child, program } = served ?? {};
  const ended = child && once(child, "exit");
  child?.kill("SIGKILL");
  await ended;
  program?.remove();
  hanging.clear();
  held.length = 0;
  await serve();
}

beforeAll(async () => {
  mkdirSync(reports);
  slack = await FakeSlack.start();
  const [ana, bob] = [slack.addUser({ name: "ana" }), slack.addUser({ name: "bob" })];
  people = { ana, bob, ops: slack.addChannel({ name: "ops", members: [ana, bob] }) };
  shop = createServer((request, response) => {
    const part = (request.url ?? "").slice(1);
    asked.set(part, (asked.get(part) ?? 0) + 1);
    if (hanging.has(part)) held.push(response);
    else response.end("well");
  });
  shop.listen(0, "127.0.0.1");
  await once(shop, "listening");
  provider = await startProvider(WIRES["openai-compatible"], answers);
  await serve();
});

afterAll(async () => {
  served?.program.remove();
  await provider.stop();
  await slack.stop();
  shop.closeAllConnections();
  shop.close();
  rmSync(folder, { recursive: true, force: true });
});

const messages = (root: string) => slack.messages(people.ops, root);
const shown = (root: string) => messages(root).map((message) => slack.textOf(message));

/** What people see now, added to what they saw. */
const seen: string[] = [];
function note(root: string, what: string): void {
  seen.push(`════ ${what}\n${shown(root).join("\n───\n")}`);
  const path = process.env["TRANSCRIPT"];
  if (path !== undefined) writeFileSync(path, `${seen.join("\n\n")}\n`);
}

/** @throws Error with all that people see, where it never comes true */
async function comes(root: string, what: () => boolean): Promise<void> {
  await until(what).catch((error: unknown) => {
    const all = `${shown(root).join("\n───\n")}\n${[...asked].join(" ")}`;
    throw new Error(`It never came:\n${all}`, { cause: error });
  });
}

const buttons = (root: string) =>
  messages(root).flatMap((message) =>
    slack.buttonsOf(message).map(({ label, actionId }) => ({ ts: message.ts, label, actionId })),
  );

async function press(who: { id: string }, root: string, label: string): Promise<void> {
  const find = () => buttons(root).findLast((each) => each.label.startsWith(label));
  await comes(root, () => find() !== undefined);
  const { ts = "", actionId = "" } = find() ?? {};
  await slack.press(who, people.ops, ts, actionId);
}

test("a goal is paused, killed, resumed, killed again, extended and finished, with one report in the thread and in the folder", async () => {
  const { ana, bob, ops } = people;
  hanging.add("cart");
  const said = "goal check every part of the shop and write a report";
  const root = slack.say(ana, ops, typed(said), { mention: true });
  const living = () => shown(root).find((text) => text.includes("Steps")) ?? "";

  // The second task hangs in a call: somebody pauses the goal, and the program dies with it paused.
  await comes(root, () => asked.get("cart") === 1);
  await press(bob, root, "Pause");
  await comes(root, () => living().includes("Paused by bob"));
  note(root, "paused by bob while it checks the cart");
  await killed();
  await comes(root, () => buttons(root).some(({ label }) => label === "Resume"));
  expect(living()).toContain("Paused by bob");

  // It goes on where it was, and dies again in the middle of a call.
  hanging.add("orders");
  await press(ana, root, "Resume");
  await comes(root, () => asked.get("orders") === 1);
  note(root, "at work on the orders, before the program is killed");
  await killed();

  // Its budget is used up, and people give it more.
  await comes(root, () => living().includes("The 23 steps of its budget are used up."));
  note(root, "its budget is used up");
  hanging.add("bills");
  await press(bob, root, "Extend");
  await comes(root, () => asked.get("bills") === 1);
  slack.say(ana, ops, typed("goal extend by 20 steps and 30m"), {
    mention: true,
    thread: root,
  });
  await comes(root, () => living().includes("of 55"));
  for (const response of held.splice(0)) response.end("well");
  await comes(root, () => shown(root).some((text) => text.includes("Confirmed: all six parts")));
  await comes(root, () => readdirSync(reports).length === 1);
  await comes(root, () => slack.sharedFiles.length > 0);
  note(root, "the end");

  expect(living()).toMatch(/^done after /);
  expect(living()).toMatch(/of 55\n/);
  const [file = ""] = readdirSync(reports);
  const report = readFileSync(join(reports, file), "utf8");
  for (const part of PARTS) {
    expect(report.match(new RegExp(`## The ${part}\n`, "g")), part).toHaveLength(1);
    expect(report).toContain(`- [x] Check the ${part}`);
  }
  expect(report).toMatch(/^# check every part of the shop and write a report\n/);
  const uploads = slack.sharedFiles.filter(({ name }) => name.endsWith("-g1.md"));
  expect(uploads).toHaveLength(1);
  expect(uploads[0]?.thread).toBe(root);
  expect(Buffer.from(uploads[0]?.bytes ?? "").toString()).toBe(report);
  // One message told all of it, and nobody was left with a button of a goal that is over.
  expect(shown(root).filter((text) => text.includes("Steps"))).toHaveLength(1);
  expect(buttons(root).filter(({ label }) => /Pause|Resume|Extend|Stop/.test(label))).toEqual([]);
}, 120_000);
