import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DATABASE_FAULTS } from "../../lab/faults/databases.ts";
import { type Lab, openLab, removeLab } from "../../lab/lab.ts";
import { mariadb, postgres, redis } from "../../lab/parts/databases.ts";
import { rabbitmq } from "../../lab/parts/queues.ts";
import { Program } from "../fakes/program.ts";

/** A real PostgreSQL, MariaDB, RabbitMQ and Redis of the lab: each fault is named by one command, and gone when it is mended. */

const PARTS = [postgres, mariadb, redis, rabbitmq];
const FAULTS = DATABASE_FAULTS.filter(({ parts }) =>
  parts.every((name) => PARTS.some((part) => part.name === name)),
);

let lab: Lab;
let program: Program;
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "wk-lab-"));
  // PostgreSQL, MariaDB and RabbitMQ run as accounts of their own.
  chmodSync(folder, 0o755);
  lab = openLab(folder);
  for (const part of PARTS) await part.start(lab);
  program = new Program(lab.state.variables);
}, 180_000);
afterAll(async () => {
  program.remove();
  await removeLab(lab);
}, 60_000);

test.each(FAULTS)("$name is named: $about", async (fault) => {
  const { ask = "", says = /^$/ } = fault.named ?? {};
  const found = async () => (await program.run(["ask", ask])).out;
  expect(await found()).not.toMatch(says);
  await fault.break(lab);
  try {
    // RabbitMQ counts every five seconds.
    await expect.poll(found).toMatch(says);
  } finally {
    await fault.mend(lab);
  }
  await expect.poll(found).not.toMatch(says);
});

test("the card of a session that is to end shows whose it is, what it does and who waits for it", async () => {
  const storm = FAULTS.find(({ name }) => name === "lock-storm");
  await storm?.break(lab);
  try {
    const found = async () => (await program.run(["ask", "run postgres_diagnose"])).out;
    await expect.poll(found).toContain("it holds locks that 6 sessions wait for");
    const [, pid = ""] = /Fix: postgres_end_session pid=(\d+)/.exec(await found()) ?? [];
    const { code, err } = await program.run(["ask", `run postgres_end_session pid=${pid}`]);
    expect(code).toBe(3);
    expect(err).toContain("UPDATE orders SET total = 0 WHERE id = 1");
    expect(err.replaceAll(/[\s│]+/g, " ")).toContain("6 sessions wait for it.");
  } finally {
    await storm?.mend(lab);
  }
});

test("MariaDB's tools: what its server refuses to a query, what a card shows, what is read back", async () => {
  const ask = async (words: string) => (await program.run(["ask", words])).out;
  expect(await ask("run mysql_tables")).toMatch(/1 table, .*\n.*stock\.items/);
  expect(await ask("run mysql_statements")).toContain("stock: INSERT INTO `items`");
  const query = (sql: string) => ask(`run mysql_query sql=${JSON.stringify(sql)}`);
  expect(await query("SELECT name FROM items WHERE id < 3")).toMatch(/name\s+item 1\s+item 2/);
  for (const sql of [
    "UPDATE items SET amount = 0",
    "SET GLOBAL max_connections = 5",
    "KILL 1",
    "SELECT 1; SELECT 2",
    "SELECT 1 INTO OUTFILE '/tmp/x'",
    "SELECT * FROM mysql.global_priv",
  ])
    expect(await query(sql)).toMatch(/\(error (?:1064|1142|1227)\)/);

  const held = FAULTS.find(({ name }) => name === "mysql-lock");
  await held?.break(lab);
  try {
    await expect.poll(() => ask("run mysql_diagnose")).toContain("Fix: mysql_end_session");
    const [, id = ""] = /mysql_end_session id=(\d+)/.exec(await ask("run mysql_diagnose")) ?? [];
    const { code, err } = await program.run(["ask", `run mysql_end_session id=${id}`]);
    expect(code).toBe(3);
    expect(err).toContain("DO SLEEP(3600)");
    expect(err.replaceAll(/[\s│]+/g, " ")).toContain("1 session waits for it.");
  } finally {
    await held?.mend(lab);
  }
});

test("doctor proves every connection", async () => {
  const { out } = await program.run(["doctor"]);
  expect(out).toMatch(/^ok +rabbitmq +(?:Found nothing wrong: )?RabbitMQ 3/m);
  expect(out).toMatch(/^ok +redis +(?:Found nothing wrong: )?Redis [67]/m);
  expect(out).toMatch(/^ok +postgres +(?:Found nothing wrong: )?PostgreSQL 1\d/m);
  expect(out).toMatch(/^ok +mysql +(?:Found nothing wrong: )?MariaDB 1\d/m);
});
