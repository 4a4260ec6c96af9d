import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/entry.ts";
import { createTools as registered } from "../../../src/tools/registry.ts";
import { createEncoder } from "../../../src/security/encoder.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { prepare, run } from "../calling.ts";
import { type Answer, NOW, serve } from "./server.ts";

const session = (id: number, changes: JsonObject = {}): JsonObject => ({
  id: String(id),
  user: "shop",
  client: `10.0.0.9:${50_000 + id}`,
  db: "shop",
  command: "Sleep",
  s: "5",
  state: "",
  query: null,
  transaction_s: null,
  began: null,
  locked: null,
  modified: null,
  ...changes,
});

const causes = async (tools: readonly Tool[]) =>
  ((await run(tools, "mysql_diagnose", {})).findings ?? []).map(({ cause }) => cause);

describe("on MySQL 8", () => {
  test("nothing is found where nothing is wrong, within the server's own limits", async () => {
    const { tools, heard } = await serve();
    const { text, findings, gaps } = await run(tools, "mysql_diagnose", {});
    expect({ findings, gaps }).toEqual({ findings: [], gaps: [] });
    expect(text).toBe(
      "MySQL 8.0.36, up 24 h, replicates from no other, 2 of 151 connections (at most 9 so far), 1 running",
    );
    expect(heard.slice(1, 4)).toEqual([
      "SET SESSION max_execution_time = 10000, lock_wait_timeout = 2, innodb_lock_wait_timeout = 2, time_zone = 'SYSTEM'",
      "SET ROLE NONE",
      "START TRANSACTION READ ONLY",
    ]);
  });

  test("a transaction that began at no possible time is told, without one", async () => {
    const { tools } = await serve({
      "information_schema.PROCESSLIST": [
        session(10, { s: "240", began: "9e99", locked: "3", modified: "1", transaction_s: "240" }),
      ],
    });
    const { findings } = await run(tools, "mysql_diagnose", {});
    expect(findings?.map(({ since }) => since)).toEqual([null]);
  });

  test("the session at the root of all waits comes first, with what it did last", async () => {
    const { tools } = await serve({
      "information_schema.PROCESSLIST": [
        session(10, { s: "240", began: String(NOW - 250), locked: "3", modified: "1" }),
        session(11, {
          command: "Query",
          s: "30",
          state: "updating",
          query: "UPDATE items\nSET amount = 1",
          began: String(NOW - 30),
        }),
        session(12, {
          command: "Query",
          s: "20",
          state: "Waiting for table metadata lock",
          query: "ALTER TABLE items ADD x int",
        }),
        session(13, {
          command: "Query",
          s: "10",
          state: "Waiting for table metadata lock",
          query: "SELECT 1 FROM items",
        }),
      ],
      "performance_schema.data_lock_waits": [
        { waiting: "11", blocking: "10", what: "`shop`.`items`" },
      ],
      "performance_schema.metadata_locks": [
        { waiting: "12", blocking: "10", what: "the definition of `shop`.`items`" },
        { waiting: "13", blocking: "12", what: "the definition of `shop`.`items`" },
      ],
      "performance_schema.events_statements_current": [
        { id: "10", query: "SELECT * FROM items FOR UPDATE" },
      ],
    });
    const { findings } = await run(tools, "mysql_diagnose", {});
    expect(findings).toEqual([
      {
        object: { kind: "Session", namespace: "shop", name: "10" },
        cause: "it holds locks that 3 sessions wait for",
        severity: "error",
        evidence:
          "shop from 10.0.0.9 is idle in a transaction for 4 min; its statement: SELECT * FROM items FOR UPDATE. The longest wait: 30 s for `shop`.`items`: UPDATE items SET amount = 1",
        fix: "mysql_end_session id=10",
        since: "2026-11-23T02:09:10Z",
      },
    ]);
  });

  test.each([
    [
      "a replica whose SQL thread stopped is named by its error",
      {
        "SHOW REPLICA STATUS": [
          {
            Channel_Name: "",
            Source_Host: "db1",
            Source_Port: "3306",
            Replica_IO_Running: "Yes",
            Replica_SQL_Running: "No",
            Last_IO_Error: "",
            Last_SQL_Error: "Duplicate entry '7' for key 'PRIMARY'",
            Seconds_Behind_Source: null,
          },
        ],
      },
      ["Duplicate entry '7' for key 'PRIMARY'"],
    ],
    [
      "a replica that is late says how late",
      {
        "SHOW REPLICA STATUS": [
          {
            Channel_Name: "",
            Source_Host: "db1",
            Source_Port: "3306",
            Replica_IO_Running: "Yes",
            Replica_SQL_Running: "Yes",
            Last_IO_Error: "",
            Last_SQL_Error: "",
            Seconds_Behind_Source: "600",
          },
        ],
      },
      ["it is 10 min behind"],
    ],
    [
      "a full disk is known by the errors that it gave",
      {
        "performance_schema.events_errors_summary_global_by_error": [
          { number: "1021", name: "ER_DISK_FULL", times: "4", last: String(NOW), ago_s: "20" },
        ],
      },
      ["the disk is full"],
    ],
    [
      "a primary that is read-only is named, a replica is not",
      {
        "SHOW GLOBAL VARIABLES": [
          { Variable_name: "max_connections", Value: "151" },
          { Variable_name: "super_read_only", Value: "ON" },
        ],
      },
      ["it takes no writes: super_read_only is on"],
    ],
    [
      "connections that are used up",
      {
        "SHOW GLOBAL VARIABLES": [{ Variable_name: "max_connections", Value: "2" }],
      },
      ["connections are used up: 2 of 2"],
    ],
    [
      "long statements and transactions",
      {
        "information_schema.PROCESSLIST": [
          session(20, { command: "Query", s: "90", state: "executing", query: "SELECT 1" }),
          session(21, { s: "300", began: String(NOW - 300) }),
          session(22, { command: "Binlog Dump GTID", s: "9000", query: null }),
        ],
      },
      ["idle in a transaction for 5 min", "a statement runs for 1 min 30 s"],
    ],
  ] satisfies [string, Record<string, Answer>, string[]][])("%s", async (_, answers, found) => {
    const { tools } = await serve(answers);
    expect(await causes(tools)).toEqual(found);
  });

  test("what the user may not see is a gap with the grant that helps, and the rest is told", async () => {
    const denied = { errno: 1142, message: "SELECT command denied to user" };
    const { tools } = await serve({
      "performance_schema.data_lock_waits": denied,
      "performance_schema.metadata_locks": denied,
      "performance_schema.events_statements_current": denied,
      "performance_schema.events_errors_summary_global_by_error": denied,
      "SHOW REPLICA STATUS": { errno: 1227, message: "Access denied" },
      "SHOW ENGINE INNODB STATUS": { errno: 1227, message: "Access denied" },
    });
    const { text, gaps } = await run(tools, "mysql_diagnose", {});
    expect(text).toContain("MySQL 8.0.36, up 24 h, replication not seen");
    expect(gaps?.map(({ help }) => help)).toEqual([
      ...Array.from({ length: 3 }, () => "GRANT SELECT ON performance_schema.* to the bot's user."),
      "GRANT REPLICATION CLIENT ON *.* to the bot's user.",
      "GRANT SELECT ON performance_schema.* to the bot's user.",
      "GRANT PROCESS to the bot's user.",
    ]);
  });

  test.each([
    ["8.0.11-TiDB-v7.5.1", "TiDB Server"],
    ["5.7.44", "MySQL Community Server (GPL)"],
    ["10.4.34-MariaDB", "mariadb.org binary distribution"],
  ])("%s is not taken for one that the tools know", async (version, comment) => {
    const { tools } = await serve({ "SELECT VERSION()": [{ version, comment }] });
    await expect(run(tools, "mysql_diagnose", {})).rejects.toMatchObject({
      code: "NOT_AVAILABLE",
      message: expect.stringContaining(`It says that it is ${version}`),
    });
  });

  test.each([
    [
      "a right to write",
      {
        "SHOW GRANTS": [
          { Grants: "GRANT SELECT, INSERT (name, amount) ON `shop`.* TO `watch`@`%`" },
        ],
      },
      "do more than read (INSERT)",
    ],
    [
      "every right",
      { "SHOW GRANTS": [{ Grants: "GRANT ALL PRIVILEGES ON `shop`.* TO `watch`@`%`" }] },
      "ALL PRIVILEGES",
    ],
    [
      "a right to run routines",
      { "SHOW GRANTS": [{ Grants: "GRANT SELECT, EXECUTE ON `shop`.* TO `watch`@`%`" }] },
      "EXECUTE",
    ],
    ["hashes of passwords", { "FROM mysql.user": [] }, "hashes of passwords (mysql.user)"],
    [
      "functions that it cannot see",
      { "FROM mysql.func": { errno: 1142, message: "denied" } },
      "GRANT SELECT ON mysql.func",
    ],
    [
      "a function of a library",
      { "FROM mysql.func": [{ name: "sys_exec" }] },
      "sys_exec is a function of a library",
    ],
  ] satisfies [string, Record<string, Answer>, string][])(
    "a query is refused to a user with %s, before it is sent",
    async (_, answers, why) => {
      const { tools, heard } = await serve(answers);
      const asked = run(tools, "mysql_query", { sql: "SELECT SYS_EXEC('id')" });
      await expect(asked).rejects.toMatchObject({
        code: "NOT_AVAILABLE",
        message: expect.stringContaining(why),
      });
      expect(heard.join("\n")).not.toContain("SYS_EXEC");
    },
  );

  test("a held secret does not show by its begin, where a cell or a statement is cut", async () => {
    const held = "s3cret-of-the-shop-".repeat(3);
    const encoder = createEncoder([{ name: "SHOP", value: held }]);
    const long = `${"x".repeat(70)} ${held} ${"x".repeat(70)}`;
    const { tools } = await serve({
      "EXPLAIN SELECT": [{ id: "1" }],
      "SELECT name FROM items": [{ name: `${"y".repeat(30)} ${long}` }],
      "information_schema.PROCESSLIST": [session(10, { command: "Query", s: "90", query: long })],
    });
    const shown = [
      await run(tools, "mysql_query", { sql: "SELECT name FROM items" }, { encoder }),
      await run(tools, "mysql_diagnose", {}, { encoder }),
    ];
    expect(JSON.stringify(shown[1])).toContain("xxx");
    expect(JSON.stringify(shown)).not.toContain("s3cret");
  });

  test.each([
    "SELECT * FROM items LOCK IN SHARE MODE",
    "SELECT * FROM items FOR/* x */share",
    "SELECT * FROM items /*!50000LOCK IN *//*!50000SHARE MODE*/",
  ])("a query that keeps others from writing is not sent: %s", async (sql) => {
    const { tools, heard } = await serve({ "EXPLAIN SELECT": [{ id: "1" }] });
    await expect(run(tools, "mysql_query", { sql })).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
    expect(heard.join("\n")).not.toContain("SELECT * FROM items");
  });

  test("a query is sent once the server has a plan of it, with its own limit of rows", async () => {
    const rows = Array.from({ length: 51 }, (_, at) => ({
      name: `item ${at}\n1. Service web: down`,
    }));
    const { tools, heard } = await serve({
      "EXPLAIN SELECT": [{ id: "1" }],
      "SELECT name FROM items": rows,
    });
    const { text } = await run(tools, "mysql_query", { sql: "SELECT name FROM items" });
    expect(heard.slice(-3)).toEqual([
      "EXPLAIN SELECT name FROM items",
      "SET SESSION sql_select_limit = 51",
      "SELECT name FROM items",
    ]);
    expect(text.split("\n")).toHaveLength(52);
    expect(text).toContain("item 0 1. Service web: down");
    await expect(run(tools, "mysql_query", { sql: "KILL 5" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
    expect(heard).not.toContain("KILL 5");
  });

  test("a session is ended only while it is the one that was shown", async () => {
    const of = (id: number, client: string) => [
      session(id, { client, command: "Query", query: "UPDATE items SET amount = 0" }),
    ];
    const shown = await serve({
      "information_schema.PROCESSLIST": of(10, "10.0.0.9:50010"),
      "KILL CONNECTION 10": [],
    });
    const { tool, args, ctx } = prepare(shown.tools, "mysql_end_session", { id: 10 });
    const pinned = await tool.pin?.(args, ctx);
    expect(pinned).toMatchObject({ session: "shop@10.0.0.9:50010", serverStarted: NOW - 86_400 });
    expect(await tool.preview?.(pinned, ctx)).toMatchObject({
      lines: expect.arrayContaining([{ label: "Statement", value: "UPDATE items SET amount = 0" }]),
      blastRadius: expect.stringContaining("0 sessions wait for it."),
    });
    await tool.run(pinned, ctx);
    expect(shown.heard.at(-1)).toBe("KILL CONNECTION 10");

    const others = { "information_schema.PROCESSLIST": of(10, "10.0.0.9:61000") };
    const restarted = {
      "information_schema.PROCESSLIST": of(10, "10.0.0.9:50010"),
      "SHOW GLOBAL STATUS": [{ Variable_name: "Uptime", Value: "60" }],
    };
    for (const answers of [others, restarted]) {
      const later = await serve(answers);
      const again = prepare(later.tools, "mysql_end_session", { id: 10 });
      await expect(again.tool.precheck?.(pinned, again.ctx)).rejects.toMatchObject({
        code: "PRECHECK_FAILED",
      });
      expect(await again.tool.run(pinned, again.ctx)).toMatchObject({ failed: true });
      expect(later.heard.join("\n")).not.toContain("KILL");
    }
  });
});

test("without a second user there is no tool that ends sessions", async () => {
  const tools = await registered({ "mysql.url": "mysql://u@db" });
  expect(tools.map(({ name }) => name)).not.toContain("mysql_end_session");
});
