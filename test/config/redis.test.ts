import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { messageOf } from "../../src/core/errors.ts";
import { settingsOf } from "../../src/core/settings.ts";
import { redis } from "../../src/journal/redis/store.ts";
import { chosenStore } from "../../src/journal/stores.ts";

const SECRET = "a secret of the tests, 32 long or more";

describe("the shared store's address", () => {
  let cwd: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), "wk-config-"));
  });
  afterEach(() => rmSync(cwd, { recursive: true }));
  const load = (env: Record<string, string>) => loadConfig(env, { cwd });
  const mistakes = async (env: Record<string, string>) => {
    const error: unknown = await load(env).catch((thrown: unknown) => thrown);
    return messageOf(error).split("\n- ").slice(1);
  };

  it.each([
    ["redis://h", { kind: "tcp", host: "h", port: 6379, tls: false }, 0, "Redis at h:6379"],
    [
      "rediss://cache.example.com:6380/3",
      { kind: "tcp", host: "cache.example.com", port: 6380, tls: true },
      3,
      "Redis at cache.example.com:6380, database 3",
    ],
    [
      "redis://[::1]:7000/",
      { kind: "tcp", host: "::1", port: 7000, tls: false },
      0,
      "Redis at ::1:7000",
    ],
    [
      "unix:///run/r.sock?db=2",
      { kind: "unix", path: "/run/r.sock" },
      2,
      "Redis at /run/r.sock, database 2",
    ],
  ])("%s", async (url, at, database, shown) => {
    const { values } = await load({ REDIS_URL: url, WATCHKEEPER_SECRET: SECRET });
    expect(settingsOf(redis, values)).toEqual({
      address: { at, database, username: undefined, password: undefined },
      replicas: 0,
      secret: SECRET,
    });
    expect(chosenStore(values).shown).toBe(shown);
  });

  it.each([
    "redis://bot:p%40ss-word%2F@h",
    "unix://bot:p%40ss-word%2F@/run/r.sock",
    "redis://:p%40ss-word%2F@h",
  ])("may have a password, which is held as a secret: %s", async (url) => {
    const { values, secrets } = await load({ REDIS_URL: url, WATCHKEEPER_SECRET: SECRET });
    expect(settingsOf(redis, values).address).toMatchObject({ password: "p@ss-word/" });
    expect(secrets.map(({ value }) => value)).toEqual(
      expect.arrayContaining(["p%40ss-word%2F", "p@ss-word/", SECRET]),
    );
    expect(chosenStore(values).shown).not.toContain("word");
  });

  it.each([
    "http://h",
    "h:6379",
    "redis://",
    "redis://h:0",
    "redis://h:65536",
    "redis://h/x",
    "redis://h?db=1",
    "redis://h#1",
    "redis://user@h",
    "redis://u:hidden-value@w@h",
    "redis://u:%zz@h",
    "unix://run/r.sock",
    "unix:///run/r.sock?db=x",
  ])("%s is none", async (url) => {
    const found = await mistakes({ REDIS_URL: url, WATCHKEEPER_SECRET: SECRET });
    expect(found).toEqual([expect.stringMatching(/^REDIS_URL: expected redis:\/\//)]);
    expect(found.join()).not.toContain("hidden-value");
  });

  it("needs the secret that signs what is kept there, and a long one", async () => {
    expect(await mistakes({ REDIS_URL: "redis://h" })).toEqual([
      expect.stringMatching(/^WATCHKEEPER_SECRET: missing; with REDIS_URL/),
    ]);
    expect(await mistakes({ WATCHKEEPER_SECRET: "hidden-value" })).toEqual([
      expect.stringMatching(/^WATCHKEEPER_SECRET: expected at least 32 characters/),
    ]);
    const { values } = await load({ WATCHKEEPER_SECRET: SECRET });
    expect(chosenStore(values).shown).toMatch(/^SQLite in /);
  });

  it("brings its own wake-ups, unless the yaml names another engine", async () => {
    const env = { REDIS_URL: "redis://h", WATCHKEEPER_SECRET: SECRET };
    expect(await load({})).toMatchObject({ wakeups: "in-process" });
    expect(await load(env)).toMatchObject({ wakeups: "bullmq" });
    writeFileSync(join(cwd, "watchkeeper.yaml"), "wakeups: { engine: in-process }");
    expect(await load(env)).toMatchObject({ wakeups: "in-process" });
    writeFileSync(join(cwd, "watchkeeper.yaml"), "wakeups: { engine: bullmq }");
    expect(await mistakes({})).toEqual([
      "REDIS_URL: missing; with wakeups.engine: bullmq it is needed",
    ]);
  });

  it("comes with how many replicas are expected there", async () => {
    const env = { REDIS_URL: "redis://h", WATCHKEEPER_SECRET: SECRET };
    const replicas = async () => settingsOf(redis, (await load(env)).values).replicas;
    expect(await replicas()).toBe(0);
    writeFileSync(join(cwd, "watchkeeper.yaml"), "redis: { replicas: 2 }");
    expect(await replicas()).toBe(2);
    writeFileSync(join(cwd, "watchkeeper.yaml"), "redis: { replicas: -1 }");
    expect(await mistakes(env)).toEqual([expect.stringContaining("replicas")]);
  });
});
