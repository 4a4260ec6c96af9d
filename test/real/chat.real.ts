import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openGuild } from "../adapters/discord/guild.ts";
import { openWorkspace } from "../adapters/slack/workspace.ts";
import type { Platform } from "../contracts/surface.ts";
import { collect, Program } from "../fakes/program.ts";
import { type Answers, type Provider, startProvider, WIRES } from "../fakes/provider.ts";
import { RedisServer } from "../fakes/redis-server.ts";

/** What the product is for, walked as its users do: the program itself, a real nginx, a fake Slack or Discord. */
const service = (verb: string) => spawnSync("service", ["nginx", verb], { encoding: "utf8" });

const ends: (() => Promise<unknown> | void)[] = [];
beforeEach(() => void service("stop"));
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  service("stop");
});

const call = (id: string, name: string, args: object) => ({
  id,
  name,
  arguments: JSON.stringify(args),
});
const CHECK = { url: "http://127.0.0.1/" };

/** What a good model would say, by what was asked last and how much it has seen since. */
const answers: Answers = ({ body }) => {
  const last = body.messages.findLastIndex(
    ({ role, content }) => role === "user" && JSON.stringify(content).includes("] "),
  );
  const asked = JSON.stringify(body.messages[last]?.content);
  const seen = body.messages.slice(last).filter(({ role }) => role === "tool").length;
  if (asked.includes("why is the shop slow")) {
    if (seen === 0) {
      return {
        content: "Looking at the site and its service.",
        toolCalls: [
          call("c1", "http_check", CHECK),
          call("c2", "service_status", { name: "nginx" }),
        ],
      };
    }
    if (seen === 2) {
      return {
        content: "Nothing listens on port 80, because nginx is stopped.",
        toolCalls: [call("c3", "restart_service", { name: "nginx" })],
      };
    }
    if (seen === 3) return { toolCalls: [call("c4", "http_check", CHECK)] };
    return {
      content:
        "CONFIRMED: the shop was down because nginx was stopped [T1] [T2]; I restarted it [T3], and it answers again [T4].",
    };
  }
  if (asked.includes("was it the disk")) {
    if (seen === 0) return { toolCalls: [call("c5", "disk_usage", {})] };
    return { content: "CONFIRMED: no, the disks have room [T5]." };
  }
  if (seen === 0) return { toolCalls: [call("c6", "incident_stats", { period: "last 7 days" })] };
  return { content: "CONFIRMED: one incident, the shop's outage, and it is resolved [T6]." };
};

interface Replica {
  child: ReturnType<Program["start"]>;
  log(): string;
}

const PLATFORMS = {
  Slack: async () => {
    const platform = await openWorkspace();
    const { botToken, appToken, apiUrl } = platform.slack;
    return {
      platform,
      env: { SLACK_BOT_TOKEN: botToken, SLACK_APP_TOKEN: appToken, SLACK_API_URL: apiUrl },
    };
  },
  Discord: async () => {
    const platform = await openGuild();
    const { token, apiUrl } = platform.discord;
    return { platform, env: { DISCORD_TOKEN: token, DISCORD_API_URL: apiUrl } };
  },
} satisfies Record<string, () => Promise<{ platform: Platform; env: Record<string, string> }>>;

test.each([
  ["Slack", "SQLite"],
  ["Slack", "Redis"],
  ["Discord", "SQLite"],
  ["Discord", "Redis"],
] as const)(
  "on %s with %s: mention, approve after the process at work was killed, go on, ask for the summary",
  async (where, store) => {
    const { platform, env } = await PLATFORMS[where]();
    ends.push(() => platform.end());
    const wire = WIRES["openai-compatible"];
    const provider: Provider = await startProvider(wire, answers);
    ends.push(() => provider.stop());
    const shared: Record<string, string> = { ...env, ...provider.env, LOG_LEVEL: "info" };
    if (store === "Redis") {
      const redis = await RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
      ends.push(() => redis.stop());
      shared["REDIS_URL"] = `unix://${redis.path}`;
      shared["WATCHKEEPER_SECRET"] = "a secret of the walk, 32 long or more";
    }
    const program = new Program(shared);
    ends.push(() => program.remove());
    writeFileSync(
      join(program.folder, "watchkeeper.yaml"),
      'network: { allow: ["127.0.0.1"] }\ntimezone: Europe/Madrid\n',
    );

    const replicas: Replica[] = [];
    async function start(): Promise<Replica> {
      const child = program.start();
      const replica = { child, log: collect(child.stderr) };
      await expect.poll(replica.log).toContain('"serving"');
      replicas.push(replica);
      return replica;
    }
    async function kill({ child }: Replica): Promise<void> {
      const gone = once(child, "close");
      child.kill("SIGKILL");
      await gone;
    }
    const shown = (key: Parameters<Platform["shown"]>[0]) => () => platform.shown(key);

    await start();
    if (store === "Redis") await start();

    const asked = performance.now();
    const key = await platform.begin("ana", "why is the shop slow? it is http://127.0.0.1/");
    await expect.poll(shown(key)).toContain('"name":"nginx"}');
    expect(platform.shown(key)).toContain("Nothing listens on port 80");
    const cardAfterMs = performance.now() - asked;
    await sleep(300); // the card's delivery is written down

    const atWork = replicas.find(({ log }) => log().includes('"run started"'));
    if (atWork === undefined) throw new Error("nobody worked on it");
    await kill(atWork);
    if (store === "SQLite") await start();
    expect(service("status").status).not.toBe(0);

    await platform.press(key, "ana", "Approve", "service nginx restart");
    await expect.poll(() => platform.told("ana")).toContain("someone else has to approve it");
    await platform.press(key, "bob", "Approve", "service nginx restart");
    await expect.poll(shown(key)).toContain("it answers again");
    expect(service("status").status).toBe(0);
    expect(platform.shown(key)).toMatch(/approved by bob/i);

    await platform.write(key, "ana", "was it the disk?");
    await expect.poll(shown(key)).toContain("the disks have room");

    await platform.write(
      key,
      "ana",
      `incident open the shop is down severity=sev1 services='["shop"]'`,
    );
    await expect.poll(shown(key)).toMatch(/inc-\d{8}-\w{4}/);
    const [incident] = /inc-\d{8}-\w{4}/.exec(platform.shown(key)) ?? [];
    await platform.write(key, "ana", `incident resolve ${incident} cause='nginx was stopped'`);
    await expect.poll(shown(key)).toMatch(/resolved/);
    await platform.write(key, "ana", "what happened last week?");
    await expect.poll(shown(key)).toContain("Last week (Mon ");
    await platform.write(key, "ana", "which incidents did we have these days?");
    await expect.poll(shown(key)).toContain("one incident, the shop's outage");
    await platform.write(key, "bob", "incidents last 7 days");
    await expect.poll(shown(key)).toMatch(/1 incident.* opened.*1 resolved.*MTTR/);

    const { out } = await program.run(["audit"]);
    const entries = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string; tool?: string });
    const restarts = entries.filter(
      ({ kind, tool }) => kind === "tool_started" && tool === "restart_service",
    );
    expect(restarts).toHaveLength(1);
    expect(platform.shown(key).split("Confirmed: the shop was down")).toHaveLength(2);
    // Who asked is told of the decision, once; nobody else is.
    expect(platform.pings()).toHaveLength(1);
    const transcript = process.env["WALK_TRANSCRIPTS"];
    if (transcript !== undefined) {
      const head = `# ${where} on ${store}; card after ${Math.round(cardAfterMs)} ms\n`;
      writeFileSync(join(transcript, `${where}-${store}.txt`), head + platform.shown(key));
    }
  },
  120_000,
);
