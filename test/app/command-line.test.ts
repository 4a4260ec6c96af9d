import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, test } from "vitest";
import { auditLines } from "../../src/app/cli/audit.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import { collect, Program } from "../fakes/program.ts";

let program: Program;
const begin = (env: Record<string, string> = {}) => (program = new Program(env));
afterEach(() => program.remove());

const lines = (text: string) => text.trim().split("\n");
const touch = (file: string) => `run run_command argv='["touch","${file}"]'`;

interface AuditLine {
  kind: string;
  thread: string;
  action?: string;
  outcome?: string;
}

/** What `audit` prints, without another start. */
async function audited(): Promise<AuditLine[]> {
  const journal = await openSqliteJournal({ path: program.store });
  try {
    const found: AuditLine[] = [];
    for await (const line of auditLines(journal, { key: undefined, since: undefined })) {
      found.push(JSON.parse(line) as AuditLine);
    }
    return found;
  } finally {
    await journal.close();
  }
}

describe("ask", () => {
  test("answers on stdout, tells progress on stderr, and exits with 0", async () => {
    const { code, out, err } = await begin().run(["ask", "run disk_usage"]);
    expect(code).toBe(0);
    expect(out).toMatch(/✓ disk_usage[^]*used/);
    expect(err).toContain("disk_usage");
  });

  test("exits with 1 when it failed, and says what was meant, or that no model is configured", async () => {
    begin();
    const [slip, half, plain] = await Promise.all([
      program.run(["ask", "run disk_usag"]),
      program.run(["ask", "undo"]),
      program.run(["ask", "who painted the shop?"]),
    ]);
    expect(slip).toMatchObject({
      code: 1,
      out: expect.stringContaining("Did you mean disk_usage?"),
    });
    expect(half).toMatchObject({ code: 1, out: expect.stringContaining("Usage: undo a1") });
    expect(plain).toMatchObject({ code: 1, out: expect.stringContaining("run disk_usage") });
    expect(lines(plain.out)[0]).toMatch(/I don't have an AI model yet.*MODEL/);
  });

  test("exits with 2 on a wrong command line or configuration, naming every mistake", async () => {
    begin({ LOG_LEVEL: "loud", DRAIN_SECONDS: "x" });
    const fine = new Program();
    const [none, unknown, mistaken] = await Promise.all([
      fine.run(["ask"]),
      fine.run(["--colour"]),
      program.run(["doctor"]),
    ]).finally(() => fine.remove());
    expect([none.code, unknown.code, mistaken.code]).toEqual([2, 2, 2]);
    expect(mistaken.err).toMatch(/LOG_LEVEL[^]*DRAIN_SECONDS/);
  });

  test("exits with 1 and says so where the folder of the store cannot be made", async () => {
    const { code, out, err } = await begin({ DATA_DIR: "/proc/nowhere/data" }).run(["ask", "help"]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(lines(err)).toEqual([expect.stringContaining("I can't make the folder /proc/nowhere")]);
  });

  test("exits with 3 when it needs approval, and the thread goes on where it says", async () => {
    const file = join(begin().folder, "touched");
    const { code, err } = await program.run(["ask", touch(file)]);
    expect(code).toBe(3);
    expect(existsSync(file)).toBe(false);
    const thread = /npm start -- --thread (\S+)/.exec(err)?.[1] ?? "";
    const { code: after, out } = await program.run(["--thread", thread], "y\n");
    expect(after).toBe(0);
    expect(out).toContain("a1 approved");
    expect(existsSync(file)).toBe(true);
    expect((await audited()).map(({ kind }) => kind)).toEqual([
      "command",
      "run_started",
      "action_proposed",
      "click",
      "vote",
      "tool_started",
      "tool_finished",
    ]);
  });

  test("prints one JSON object with --json", async () => {
    const { out } = await begin().run(["ask", "--json", "run disk_usage"]);
    expect(JSON.parse(out)).toMatchObject({
      status: "completed",
      results: [{ tool: "disk_usage", outcome: "ok" }],
    });
  });

  test("never shows or stores a secret that the environment holds", async () => {
    const secret = "hunter2-correct-horse";
    const env = { DB_PASSWORD: secret };
    const { out, err } = await begin(env).run([
      "ask",
      `run http_check url=http://127.0.0.1:1/${secret}`,
    ]);
    const stored = readFileSync(program.store, "latin1");
    const wal = `${program.store}-wal`;
    const log = existsSync(wal) ? readFileSync(wal, "latin1") : "";
    for (const text of [out, err, stored, log]) expect(text).not.toContain(secret);
    expect(out).toContain("[secret:DB_PASSWORD]");
  });
});

describe("a conversation", () => {
  test("works with piped input: each line is asked, and it ends when all is answered", async () => {
    // Nothing is left to be waited for: the test's own time is over long before the drain time would be.
    const { code, out } = await begin({ DRAIN_SECONDS: "60" }).run([], "run disk_usage\nhelp\n");
    expect(code).toBe(0);
    expect(out).toContain("✓ disk_usage");
    expect(out).toContain("ype a command");
    expect(out).not.toContain("\u001B");
  });

  test("killed at the card, it shows the card again and goes on", async () => {
    const file = join(begin().folder, "touched");
    const child = program.start();
    const said = collect(child.stdout);
    child.stdin.write(`${touch(file)}\n`);
    await expect.poll(said).toContain("y approve");
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
    const [first] = await audited();
    const { out } = await program.run(["--thread", first?.thread ?? ""], "y\n");
    expect(out).toMatch(/a1 · DESTRUCTIVE · Run touch[^]*touch[^]*a1 approved by/);
    expect(existsSync(file)).toBe(true);
  });

  test("killed while a command runs, its outcome is unknown and never run again", async () => {
    const file = join(begin().folder, "count");
    const script = join(program.folder, "slow.sh");
    writeFileSync(script, `echo x >> ${file}; sleep 60`);
    const child = program.start();
    const said = collect(child.stdout);
    child.stdin.write(`run run_command argv='["sh","${script}"]'\n`);
    await expect.poll(said).toContain("y approve");
    child.stdin.write("y\n");
    await expect.poll(() => existsSync(file)).toBe(true);
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
    // As after the few seconds in which nobody else may take up what the dead process held.
    const db = new DatabaseSync(program.store);
    db.exec("UPDATE journal SET due_at = 0 WHERE token IS NOT NULL");
    db.close();
    const [first] = await audited();
    const { out } = await program.run(["--thread", first?.thread ?? ""], "");
    expect(out).toMatch(/UNKNOWN/);
    expect(readFileSync(file, "utf8")).toBe("x\n");
    expect(await audited()).toContainEqual(
      expect.objectContaining({ kind: "tool_finished", outcome: "unknown" }),
    );
  });

  test("stops soon on a signal, and what it stores is its owner's alone to read", async () => {
    begin();
    const stop = async (signal: "SIGINT" | "SIGTERM") => {
      const child = program.start();
      const said = collect(child.stdout);
      child.stdin.write("run disk_usage\n");
      await expect.poll(said).toContain("✓ disk_usage");
      const files = readdirSync(join(program.folder, "data"));
      expect(files).toContain("watchkeeper.db-wal");
      for (const file of files) {
        expect(statSync(join(program.folder, "data", file)).mode & 0o077, file).toBe(0);
      }
      const began = performance.now();
      const closed = once(child, "close");
      child.kill(signal);
      await closed;
      expect(performance.now() - began).toBeLessThan(20_000);
    };
    await Promise.all([stop("SIGINT"), stop("SIGTERM")]);
  });

  test("npm start hands a SIGTERM on, as a container's or service's first process gets it", async () => {
    const { folder } = begin();
    const env = { ...process.env, DATA_DIR: join(folder, "data"), npm_config_loglevel: "silent" };
    const child = spawn("npm", ["start"], { cwd: join(import.meta.dirname, "../.."), env });
    const said = collect(child.stdout);
    child.stdin.write("run disk_usage\n");
    await expect.poll(said).toContain("✓ disk_usage");
    const closed = once(child, "close"); // once the program has let go of the output, too
    child.kill("SIGTERM");
    await closed;
    expect(child.exitCode).toBe(143);
  });

  test("a server and an ask share one folder", async () => {
    const child = begin().start();
    const said = collect(child.stdout);
    child.stdin.write("run disk_usage\n");
    await expect.poll(said).toContain("✓ disk_usage");
    const asks = await Promise.all([1, 2].map(() => program.run(["ask", "run disk_usage"])));
    expect(asks.map(({ code }) => code)).toEqual([0, 0]);
    child.stdin.write("tools\n");
    await expect.poll(said).toContain("kill_process");
    const closed = once(child, "close");
    child.stdin.end();
    expect(await closed).toEqual([0, null]);
    expect(new Set((await audited()).map(({ thread }) => thread)).size).toBe(3);
  });
});

describe("looking at what happened", () => {
  test("--thread opens the terminal's threads and no other's", async () => {
    mkdirSync(join(begin().folder, "data"));
    const journal = await openSqliteJournal({ path: program.store });
    const key = "slack:T1:C1:1.1";
    const actor = { account: "slack:T1:U1", name: "ana" };
    await journal.post(key, { id: "m1", kind: "message", actor, text: "restart it" });
    await journal.close();
    const { code, err, out } = await program.run(["--thread", key], "approve a1\n");
    expect(code).toBe(2);
    expect(err).toContain("--thread opens the terminal's own threads");
    expect(out).toBe("");
    expect((await audited()).map(({ kind }) => kind)).toEqual(["message"]);
  });

  test("trace prints a thread's journal, named by its beginning; audit can be limited to a time", async () => {
    await begin().run(["ask", "run disk_usage"]);
    const [first] = await audited();
    const short = first?.thread.slice("terminal:".length, "terminal:".length + 8) ?? "";
    const [known, unknown, since, mistaken] = await Promise.all([
      program.run(["trace", short]),
      program.run(["trace", "nothing"]),
      program.run(["audit", "--since", "1h"]),
      program.run(["audit", "--since", "yesterday"]),
    ]);
    expect(known.code).toBe(0);
    // A check that took longer than a moment is told as begun, too.
    const told = (out: string) => lines(out).filter((line) => !line.includes("tool_started"));
    expect(told(known.out).map((line) => line.trim().split(/\s+/)[2])).toEqual([
      undefined,
      "command",
      "run_started",
      "tool_finished",
      "run_ended",
      "delivered",
    ]);
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("No thread") });
    expect(told(since.out)).toHaveLength(3);
    expect(mistaken.code).toBe(2);
  });

  test("doctor refuses a policy that npm start refuses, in the same words", async () => {
    const file = join(begin().folder, "watchkeeper.yaml");
    writeFileSync(
      file,
      "approvals: { rules: [{ match: { tool: restart_servce }, decide: deny }] }",
    );
    const ended = await Promise.all(
      [["doctor"], ["ask", "tools"], []].map((args) => program.run(args)),
    );
    for (const each of ended) {
      expect(each).toMatchObject({
        code: 2,
        err: expect.stringMatching(/yaml:1:\d+.*did you mean restart_service/),
      });
    }
  });

  test("npm start reads .env, and doctor says so; a variable that is set outside wins", async () => {
    begin({ MODEL: "", PORT: "3001" });
    writeFileSync(join(program.folder, ".env"), "LOG_LEVEL=loud\nPORT=none\n");
    expect(await program.run(["doctor"])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^(?![^]*PORT)[^]*LOG_LEVEL/),
    });
    writeFileSync(join(program.folder, ".env"), "LOG_LEVEL=warn\n");
    const bare = new Program();
    const [read, unread] = await Promise.all([
      program.run(["doctor"]),
      bare.run(["doctor"]),
    ]).finally(() => bare.remove());
    expect(read.out).toMatch(/ok +environment +\.env was read/);
    expect(unread).toMatchObject({
      err: "",
      out: expect.stringMatching(/– +environment +no \.env/),
    });
  });

  test("audit --verify says of each thread whether it is what was written, and where it was touched", async () => {
    begin();
    await Promise.all(["tools", "help"].map((text) => program.run(["ask", text])));
    const fine = await program.run(["audit", "--verify"]);
    expect(fine.code).toBe(0);
    const heads = lines(fine.out).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(heads).toHaveLength(2);
    expect(heads[0]).toEqual({
      thread: expect.stringMatching(/^terminal:/),
      entries: expect.any(Number),
      sealedFrom: 1,
      head: expect.stringMatching(/^[\w-]{43}$/),
    });
    const kept = join(program.folder, "heads.jsonl");
    writeFileSync(kept, fine.out);
    const against = ["audit", "--verify", "--against", kept];
    const db = new DatabaseSync(program.store);
    const thread = String(heads[0]?.["thread"]);
    db.exec("BEGIN");
    db.exec(
      `DELETE FROM entry WHERE seq > 1; UPDATE journal SET last = 1, head = (SELECT head FROM entry WHERE journal = journal.id AND seq = 1)`,
    );
    db.exec("COMMIT");
    // Only heads that were kept elsewhere tell that it was set back.
    const [alone, setBack] = await Promise.all([
      program.run(["audit", "--verify", thread]),
      program.run([...against, thread]),
    ]);
    expect(alone.code).toBe(0);
    expect(setBack).toMatchObject({ code: 1, out: expect.stringContaining("has 1") });
    db.exec("UPDATE entry SET body = replace(body, 'terminal', 'slack') WHERE seq = 1");
    db.close();
    const touched = await program.run(["audit", "--verify"]);
    expect(touched).toMatchObject({ code: 1, out: expect.stringContaining("entry 1 is not what") });
    expect(lines(touched.out)).toHaveLength(2);
    writeFileSync(kept, "nothing of ours");
    const misused = [against, ["audit", "--against", kept]].map((args) => program.run(args));
    expect((await Promise.all(misused)).map(({ code }) => code)).toEqual([2, 2]);
  });

  test("doctor ends quietly when who reads its output has enough of it", async () => {
    const child = begin().start("doctor");
    const said = collect(child.stderr);
    child.stdout.destroy();
    expect(await once(child, "close")).toEqual([0, null]);
    expect(said()).toBe("");
  });

  test("a command that only looks leaves 0.3's store as it is, and doctor says what a start does to it; a start says that it did", async () => {
    mkdirSync(join(begin().folder, "data"));
    const db = new DatabaseSync(program.store);
    db.exec("PRAGMA journal_mode = WAL");
    db.exec(readFileSync(join(import.meta.dirname, "../journal/version-2.sql"), "utf8"));
    const [doctor, audit, trace, kept, verified] = await Promise.all(
      [
        ["doctor"],
        ["audit"],
        ["trace", "old"],
        ["artifact", "old", "68ac09b529b4a9db"],
        ["audit", "--verify"],
      ].map((args) => program.run(args)),
    );
    expect(doctor).toMatchObject({ code: 0, err: "" });
    expect(doctor?.out).toMatch(
      /^ok +store .*1 thread and 0 incidents; readable, `audit --verify` checks the seals$/m,
    );
    expect(doctor?.out).toMatch(
      /^– +store .*store version 2 \(0\.3\); `npm start` upgrades it to 6, 0\.3 cannot read it then: keep a copy\.$/m,
    );
    expect(lines(audit?.out ?? "")).toHaveLength(3);
    expect(lines(trace?.out ?? "")).toHaveLength(4);
    expect(kept?.out).toBe("kept whole\n");
    expect(JSON.parse(verified?.out ?? "")).toMatchObject({ entries: 3, sealedFrom: null });
    // As a 0.3 that runs goes on with it.
    expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: 2 });
    db.exec("INSERT INTO entry VALUES (1, 4, 'msg:4', 0, 'message', 2, '{}')");
    db.exec("DELETE FROM entry WHERE seq = 4");
    const upgraded = /store upgraded from 2 to 6; 0\.3 cannot read it any more/;
    const started = await program.run(["ask", "help"]);
    expect(started).toMatchObject({ code: 0, err: expect.stringMatching(upgraded) });
    expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: 6 });
    db.close();
    const after = await program.run(["doctor"]);
    expect(after.out).not.toContain("store version");
  });

  test("doctor says what works, what a short password takes away, and fails when the store is damaged", async () => {
    const short = { GRAFANA_URL: "http://127.0.0.1:1", GRAFANA_TOKEN: "abc" };
    const fine = await begin(short).run(["doctor"]);
    expect(fine.out).toMatch(/– +tools +GRAFANA_TOKEN is too short .* off: .*grafana_search/);
    expect(fine).toMatchObject({ code: 0, out: expect.stringMatching(/ok +store[^]*http_check/) });
    writeFileSync(program.store, "not a database, ".repeat(500));
    const broken = await program.run(["doctor"]);
    expect(broken).toMatchObject({
      code: 1,
      out: expect.stringMatching(/BROKEN +store +.*not a database/),
    });
  });
});
