import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { HOSTS } from "../../src/journal/redis/layout.ts";
import { collect, Program } from "../fakes/program.ts";
import { RedisServer } from "../fakes/redis-server.ts";
import { FakeSlack } from "../fakes/slack/slack.ts";
import { eventually, until } from "../until.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

/** The program on two machines that share one Redis and serve one Slack workspace. */
async function scene() {
  const redis = await RedisServer.start();
  cleanups.push(() => redis.stop());
  const slack = await FakeSlack.start();
  cleanups.push(() => slack.stop());
  const ana = slack.addUser({ name: "ana" });
  const bob = slack.addUser({ name: "bob" });
  const ops = slack.addChannel({ name: "ops", members: [ana, bob] });
  const start = async (host: string) => {
    const program = new Program({
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: slack.apiUrl,
      REDIS_URL: `unix://${redis.path}`,
      WATCHKEEPER_SECRET: "a secret of the tests, 32 long or more",
      WATCHKEEPER_HOST: host,
    });
    cleanups.push(() => program.remove());
    const child = program.start();
    const log = collect(child.stderr);
    await expect.poll(log).toContain('"serving"');
    // What is sent to a connection that has just died is lost, on the real platform too.
    const kill = async () => {
      const { connections } = slack;
      child.kill("SIGKILL");
      await until(() => slack.connections < connections);
    };
    return { kill };
  };
  const shown = (root: string) =>
    slack
      .messages(ops, root)
      .map((message) => slack.textOf(message))
      .join("\n");
  const press = async (root: string, label: string) => {
    const open = () =>
      slack
        .messages(ops, root)
        .flatMap((message) =>
          slack.buttonsOf(message).map((button) => ({ ts: message.ts, ...button })),
        )
        .findLast((button) => button.label === label);
    await expect.poll(open).toBeDefined();
    const { ts, actionId } = open() ?? { ts: "", actionId: "" };
    await slack.press(bob, ops, ts, actionId);
  };
  const mark = join(redis.folder, "mark");
  const submit = () => slack.submit(bob, slack.views(bob).at(-1)?.id ?? "", "");
  const ask = (host: string) =>
    slack.say(ana, ops, `run run_command argv='["touch","${mark}"]' host=${host}`, {
      mention: true,
    });
  return { redis, start, shown, press, submit, ask, mark };
}

test("what a card says is done on one machine is done there alone, denied anywhere, and void once that machine is gone", async () => {
  const { redis, start, shown, press, submit, ask, mark } = await scene();
  const [web] = await Promise.all([start("web-1"), start("db-1")]);
  const roots = [ask("web-1"), ask("web-1"), ask("web-1")] as const;
  const [approved, denied, lost] = roots;
  for (const root of roots) {
    await eventually(() => expect(shown(root)).toContain("mark on web-1?"));
  }
  await web.kill();
  await press(approved, "Approve");
  await press(denied, "Deny…");
  await submit();
  await eventually(() => expect(shown(denied)).toMatch(/denied by bob/));
  await eventually(() => expect(shown(approved)).toMatch(/approved by bob/));
  expect(existsSync(mark)).toBe(false);
  const again = await start("web-1");
  await eventually(() => expect(shown(approved)).toMatch(/web-1 · Exit code 0/));
  expect(existsSync(mark)).toBe(true);
  expect(shown(denied)).not.toContain("Exit code");
  expect(shown(lost)).not.toContain("Exit code");
  await again.kill();
  await press(lost, "Approve");
  redis.cli("ZADD", HOSTS, "1000", "web-1");
  await eventually(() =>
    expect(shown(lost)).toMatch(/void: (?:web-1 is gone|no machine called web-1)/),
  );
  expect(shown(lost)).toContain("(serving: db-1); nothing was run");
}, 120_000);
