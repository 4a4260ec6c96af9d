import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { collect, Program } from "../fakes/program.ts";
import { startProvider, WIRES } from "../fakes/provider.ts";
import { FakeSlack, typed } from "../fakes/slack/slack.ts";
import { closedPort } from "../tools/network/servers.ts";
import { until } from "../until.ts";

/**
 * On-call begins with the page: a real Prometheus and a real Alertmanager fire on a service that is down. No model is configured. The
 * thread names the cause, a silence and a fix are approved in it, the fix is looked at again, the incident ends with the alert's own
 * times, and the next one like it is met with what fixed this one.
 */

const TOKEN = "a-token-of-real-alerts";
const folder = mkdtempSync(join(tmpdir(), "wk-oncall-"));
const children: ChildProcess[] = [];
let ports: { shop: number; prometheus: number; alertmanager: number; program: number };
let slack: FakeSlack;
let people: ReturnType<typeof furnish>;
let program: Program;
/** What the first test left: the incident, and when its alert began by the Alertmanager. */
let known = { incident: "", startsAt: "" };

const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

/** The shop: a server that a person starts by its script, and that a fault kills by its process id. */
const SHOP = (port: number) => `#!/bin/sh
setsid ${process.execPath} -e 'require("node:http").createServer((q, a) => a.end("shop_up 1\\n")).listen(${port}, "127.0.0.1"); require("node:fs").writeFileSync("${folder}/shop.pid", String(process.pid))' >/dev/null 2>&1 &
`;

const prometheusOf = ({ shop, alertmanager }: typeof ports) => `
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [rules.yml]
alerting: { alertmanagers: [{ static_configs: [{ targets: ["127.0.0.1:${alertmanager}"] }] }] }
scrape_configs:
- { job_name: shop, static_configs: [{ targets: ["127.0.0.1:${shop}"], labels: { service: shop } }] }
`;
const RULES = `groups:
- name: shop
  rules:
  - alert: ShopDown
    expr: up{job="shop"} == 0
    labels: { severity: critical }
    annotations: { summary: "The shop at {{ $labels.instance }} does not answer" }
`;
const alertmanagerOf = ({ program: port }: typeof ports) => `
route: { receiver: bot, group_wait: 1s, group_interval: 1s, repeat_interval: 1h, group_by: [alertname] }
receivers:
- name: bot
  webhook_configs:
  - url: http://127.0.0.1:${port}/alerts/alertmanager
    send_resolved: true
    http_config: { authorization: { credentials: ${TOKEN} } }
`;

const yaml = (channel: string) => `
alerts:
  routes: [{ match: {}, channel: "${channel}", triage: true, windowMinutes: 0.05 }]
verify: { afterMinutes: 0.1 }
network: { allow: ["127.0.0.1"] }
timezone: Europe/Madrid
`;

function furnish() {
  const [ana, bob] = [slack.addUser({ name: "ana" }), slack.addUser({ name: "bob" })];
  return { ana, bob, ops: slack.addChannel({ name: "ops", members: [ana, bob] }) };
}

function launch(name: string, argv: readonly string[]): void {
  children.push(spawn(name, argv, { stdio: "ignore" }));
}

beforeAll(async () => {
  const [shop = 0, prometheus = 0, alertmanager = 0, port = 0] = await Promise.all(
    Array.from({ length: 4 }, closedPort),
  );
  ports = { shop, prometheus, alertmanager, program: port };
  slack = await FakeSlack.start();
  people = furnish();
  file("rules.yml", RULES);
  launch("prometheus", [
    `--config.file=${file("prometheus.yml", prometheusOf(ports))}`,
    `--storage.tsdb.path=${folder}/p`,
    `--web.listen-address=127.0.0.1:${prometheus}`,
  ]);
  launch("prometheus-alertmanager", [
    `--config.file=${file("am.yml", alertmanagerOf(ports))}`,
    `--storage.path=${folder}/a`,
    `--web.listen-address=127.0.0.1:${alertmanager}`,
    "--cluster.listen-address=",
  ]);
  startShop();
  program = await serve({});
  await until(async () => (await metric("up")).includes('"1"]'));
});

/** The program with a database that is the same each time. */
async function serve(env: Record<string, string>): Promise<Program> {
  const served = new Program({
    DATA_DIR: join(folder, "data"),
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    PORT: String(ports.program),
    LISTEN_HOST: "127.0.0.1",
    ALERTS_TOKEN: TOKEN,
    PROMETHEUS_URL: `http://127.0.0.1:${ports.prometheus}`,
    ALERTMANAGER_URL: `http://127.0.0.1:${ports.alertmanager}`,
    ...env,
  });
  writeFileSync(
    join(served.folder, "watchkeeper.yaml"),
    yaml(`slack:${slack.team.id}:${people.ops.id}`),
  );
  const log = collect(served.start().stderr);
  await until(() => {
    if (/"level":(?:50|60)|expected|watchkeeper.yaml/.test(log())) throw new Error(log());
    return log().includes('"serving"');
  });
  return served;
}
afterAll(async () => {
  program.remove();
  await slack.stop();
  for (const child of children) {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
  stopShop();
  rmSync(folder, { recursive: true, force: true });
});

function startShop(): void {
  spawn("sh", [file("start-shop.sh", SHOP(ports.shop))], { stdio: "ignore" });
}

/** The fault: its process dies. */
function stopShop(): void {
  try {
    process.kill(Number(readFileSync(join(folder, "shop.pid"), "utf8")), "SIGKILL");
  } catch {
    // It is not there.
  }
}

async function get(url: string): Promise<string> {
  return fetch(url).then(
    async (answer) => answer.text(),
    (error: unknown) => String(error),
  );
}

const metric = (query: string) =>
  get(`http://127.0.0.1:${ports.prometheus}/api/v1/query?query=${query}`);

/** The messages with which threads begin, the oldest first. */
const roots = () =>
  slack.messages(people.ops).filter(({ ts, thread_ts: thread = ts }) => thread === ts);

const said = (root: string) =>
  slack.messages(people.ops, root).map((message) => slack.textOf(message));
const shown = (root: string) => said(root).join("\n");

async function press(who: { id: string }, root: string, label: string): Promise<void> {
  const find = () =>
    slack
      .messages(people.ops, root)
      .flatMap((message) =>
        slack
          .buttonsOf(message)
          .filter((each) => each.label === label)
          .map(({ actionId }) => ({ ts: message.ts, actionId })),
      )
      .at(-1);
  await until(() => find() !== undefined).catch((error: unknown) => {
    throw new Error(`No button ${label} in:\n${shown(root)}`, { cause: error });
  });
  const { ts = "", actionId = "" } = find() ?? {};
  await slack.press(who, people.ops, ts, actionId);
}

/** Presses what opens a form, and sends it with changes. */
async function fill(
  who: { id: string },
  root: string,
  label: string,
  changes: Record<string, string>,
): Promise<void> {
  await press(who, root, label);
  await until(() => slack.views(who).length > 0);
  const view = slack.views(who).at(-1);
  const blocks = Object.entries(changes).map(([name, text]) => [name, { input: text }] as const);
  await slack.submit(who, view?.id ?? "", Object.fromEntries(blocks));
}

/** A time as people there read it, to the second. */
const madrid = (time: string) =>
  new Date(time).toLocaleTimeString("sv", { timeStyle: "medium", timeZone: "Europe/Madrid" });

const INCIDENT = /inc-\d{8}-[a-z2-7]{4}/;

const write = (who: { id: string }, root: string, text: string) =>
  slack.say(who, people.ops, typed(text), { mention: true, thread: root });

/** All that stands in the channel, for who wants to read what people saw. */
function transcript(): string {
  return roots()
    .map(({ ts }) => said(ts).join("\n  ───\n  "))
    .join("\n════\n");
}

/** Writes what people saw, for who wants to read it. */
function keep(...words: string[]): void {
  const path = process.env["TRANSCRIPT"];
  if (path !== undefined) writeFileSync(path, `${[...words, transcript()].join("\n")}\n`);
}

/** @throws Error with all that people saw, where it never comes true */
async function comes(what: () => boolean | Promise<boolean>): Promise<void> {
  await until(what).catch((error: unknown) => {
    throw new Error(`It never came:\n${transcript()}`, { cause: error });
  });
}

test("a page is triaged, silenced, mended, looked at again and closed without a model, and the next one like it knows what helped", async () => {
  const { ana, bob } = people;
  stopShop();
  const firedAt = Date.now();
  await comes(() => roots().length === 1);
  const root = roots()[0]?.ts ?? "";

  // What fires, and beneath it why: within seconds, from checks alone.
  await comes(() => /Without a model/.test(shown(root)));
  const triagedAt = Date.now();
  expect(shown(root)).toContain("ShopDown");
  expect(shown(root)).toMatch(/LIKELY: .*(refused|not answer|does not|down)/i);

  const alerts = await get(`http://127.0.0.1:${ports.alertmanager}/api/v2/alerts`);
  const [, startsAt = ""] = /"startsAt":"([^"]+)"/.exec(alerts) ?? [];

  // Silenced by two people: it is in the Alertmanager, and taken back it is gone.
  await press(ana, root, "Silence 1 h");
  await press(bob, root, "Approve");
  const silences = () => get(`http://127.0.0.1:${ports.alertmanager}/api/v2/silences`);
  await comes(async () => (await silences()).includes('"state":"active"'));
  await press(ana, root, "Undo");
  await press(bob, root, "Approve");
  await comes(async () => !(await silences()).includes('"state":"active"'));

  // An incident, with the alert's own time as its beginning.
  await fill(ana, root, "Open incident…", { title: "The shop is down" });
  await comes(() => INCIDENT.test(shown(root)));
  const [incident = ""] = INCIDENT.exec(shown(root)) ?? [];

  // The fix: exactly this command, approved by somebody else, and looked at again after its time.
  write(ana, root, `run run_command argv='["/bin/sh","${folder}/start-shop.sh"]'`);
  await press(bob, root, "Approve");
  await comes(async () => (await metric("up")).includes('"1"]'));
  await comes(() => /fixed/i.test(shown(root)));

  // The alert is over, and the incident ends with its time.
  await comes(() => /Resolved after/.test(shown(root)));
  await fill(ana, root, `Resolve ${incident}…`, { cause: "The process was killed" });
  await comes(() => /resolved/i.test(shown(root)));

  // The next one like it.
  stopShop();
  await comes(() => roots().length === 2);
  const next = roots()[1]?.ts ?? "";
  await comes(() => /From memory/.test(shown(next)));
  expect(shown(next)).toContain("start-shop.sh");

  // Asked in words, without a model: the incident's times are the alert's own, to the second.
  const asked = slack.say(ana, people.ops, typed("what happened today?"), { mention: true });
  await comes(() => INCIDENT.test(shown(asked)));
  known = { incident, startsAt };
  expect(shown(asked)).toContain(`${incident}, sev1: The shop is down`);
  expect(shown(asked)).toContain(madrid(startsAt));
  expect(shown(asked)).toMatch(
    /start-shop\.sh: done, approved by bob; seen to hold when looked at again/,
  );
  keep(`The cause stood beneath ${triagedAt - firedAt} ms after the fault.`);
}, 300_000);

test("a model tells the same times, checks answer while its provider is dead, and it answers again once the provider is back", async () => {
  const { ana } = people;
  const { incident, startsAt } = known;
  const began = madrid(startsAt);
  let isDead = false;
  const provider = await startProvider(WIRES.anthropic, ({ n, body }) => {
    if (isDead) return { error: { message: "Overloaded", type: "overloaded_error" }, status: 529 };
    const { messages } = body;
    const asked = messages.findLastIndex(({ role }) => role === "user");
    if (messages.slice(asked).some(({ role }) => role === "tool")) {
      // It says what it read, and whether it read of this time.
      const read = JSON.stringify(messages.slice(asked));
      const line = read.includes(began)
        ? `${incident} began at ${began} [T1].`
        : `Nothing [T1]: ${read}`;
      return { content: `CONFIRMED: ${line}` };
    }
    if (JSON.stringify(messages[asked]).includes("Say: ok")) return { content: "ok" };
    return { toolCalls: [{ id: `toolu_${n}`, name: "handoff", arguments: '{"period":"today"}' }] };
  });
  onTestFinished(() => provider.stop());
  program.remove();
  program = await serve(provider.env);

  const asked = slack.say(ana, people.ops, typed("how did the shop fare today?"), {
    mention: true,
  });
  await comes(() => shown(asked).includes(`${incident} began at`));
  expect(shown(asked)).toContain(began);

  // It dies before its next answer: the checks' answer stands in its place, in the same thread.
  isDead = true;
  write(ana, asked, `is http://127.0.0.1:${ports.shop}/ up?`);
  await comes(() => /Without a model/i.test(shown(asked)));
  expect(shown(asked)).toMatch(/refused/);
  const whileDead = provider.requests.length;

  isDead = false;
  const later = slack.say(ana, people.ops, typed("how did the shop fare today?"), {
    mention: true,
  });
  await comes(() => shown(later).includes(`${incident} began at`));
  expect(provider.requests.length).toBeGreaterThan(whileDead);
  keep();
}, 300_000);
