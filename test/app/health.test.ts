import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createHealth, type HealthParts } from "../../src/app/health.ts";
import { startHttpServer } from "../../src/app/http.ts";

const chat = (state: { isUp: boolean }) => ({ transport: "slack", isUp: () => state.isUp });

function healthOf(parts: Partial<HealthParts> = {}) {
  const health = createHealth({ beat: async () => {}, ...parts });
  const read = async () => {
    const { status, text } = await health.route.handle({
      headers: {},
      body: "",
      query: new URLSearchParams(),
    });
    return [status, text];
  };
  return { ...health, read };
}

test("it is ready from its start until it stops, and says why it is not", async () => {
  const slack = { isUp: false };
  const { start, stop, read } = healthOf();
  expect(await read()).toEqual([503, "not ready: it is starting\n"]);
  start([chat(slack)]);
  expect(await read()).toEqual([503, "not ready: no platform is connected\n"]);
  slack.isUp = true;
  expect(await read()).toEqual([200, "ready\n"]);
  stop();
  expect(await read()).toEqual([503, "not ready: it is stopping\n"]);
});

test("one platform that is up is enough, and what needs no connection always is", async () => {
  const slack = healthOf();
  slack.start([chat({ isUp: false }), { transport: "discord", isUp: () => true }]);
  expect(await slack.read()).toEqual([200, "ready\n"]);
  expect(slack.connected()).toEqual(
    new Map([
      ["slack", false],
      ["discord", true],
    ]),
  );
  const agents = healthOf();
  agents.start([{ transport: "terminal" }]);
  expect(await agents.read()).toEqual([200, "ready\n"]);
});

test("a store that takes no writes makes it not ready, in words that name nothing of the store", async () => {
  let now = 0;
  let isFull = true;
  const { start, read } = healthOf({
    now: () => now,
    beat: async () => {
      if (isFull) throw new Error("redis://user:secret@10.0.0.7 is full");
    },
  });
  start([chat({ isUp: true })]);
  expect(await read()).toEqual([503, "not ready: the store takes no writes\n"]);
  isFull = false;
  now = 1_000;
  expect(await read()).toEqual([200, "ready\n"]);
});

test("however many ask, the store is asked once a second, and one that hangs only once", async () => {
  let [now, beats] = [0, 0];
  const hanging = Promise.withResolvers<void>();
  const { start, read } = healthOf({
    now: () => now,
    async beat() {
      beats += 1;
      await hanging.promise;
    },
  });
  start([chat({ isUp: true })]);
  const answers = [read(), read()];
  now = 60_000;
  answers.push(read());
  hanging.resolve();
  expect(await Promise.all(answers)).toEqual([1, 2, 3].map(() => [200, "ready\n"]));
  now = 60_999;
  await read();
  expect(beats).toBe(1);
  now = 61_000;
  await read();
  expect(beats).toBe(2);
});

test("a process that stops while the store is asked is not ready", async () => {
  const asked = Promise.withResolvers<void>();
  const { start, stop, read } = healthOf({ beat: async () => asked.promise });
  start([chat({ isUp: true })]);
  const answer = read();
  stop();
  asked.resolve();
  expect(await answer).toEqual([503, "not ready: it is stopping\n"]);
});

test("it is alive and not ready while it stops: both are served", async () => {
  const { route, start, stop } = healthOf();
  const log = pino({ level: "silent" });
  const server = await startHttpServer({ routes: [route], port: 0, host: "127.0.0.1", log });
  onTestFinished(() => server.stop());
  const statusOf = async (path: string) =>
    (await fetch(`http://127.0.0.1:${server.port}${path}`)).status;
  start([chat({ isUp: true })]);
  expect([await statusOf("/healthz"), await statusOf("/readyz")]).toEqual([200, 200]);
  stop();
  expect([await statusOf("/healthz"), await statusOf("/readyz")]).toEqual([200, 503]);
});
