import { join } from "node:path";
import type { Lab } from "../lab.ts";
import type { Fault } from "../part.ts";
import { askRabbit } from "../parts/queues.ts";
import { openPostgres, FAULTY_NAME } from "../clients.ts";
import { visit } from "./shop.ts";

/** PostgreSQL, MariaDB, Redis and RabbitMQ. */

/** Keeps sessions with the server open, each with what it says first; they end with the fault. */
function holdSessions(lab: Lab, name: string, queries: readonly string[]): void {
  const argv = [
    process.execPath,
    join(import.meta.dirname, "../sessions.ts"),
    String(lab.state.ports["postgres"]),
  ];
  lab.run(name, [...argv, ...queries]);
}

function sessions(
  fault: Pick<Fault, "name" | "about" | "asked" | "named">,
  queries: readonly string[],
): Fault {
  return {
    ...fault,
    parts: ["postgres"],
    async break(lab) {
      holdSessions(lab, fault.name, queries);
    },
    async mend(lab) {
      await lab.end(fault.name);
      // Until idle sessions have noticed that their client is gone, there may be no room for one more.
      await lab.until(`the end of ${fault.name}`, async () => {
        const admin = await openPostgres(lab.state.ports["postgres"] ?? 0, "postgres").catch(
          () => undefined,
        );
        // A session that works notices only when it next writes to its client.
        await admin?.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1",
          [FAULTY_NAME],
        );
        await admin?.end();
        return admin !== undefined;
      });
    },
  };
}

function mysql(lab: Lab, statement: string): string[] {
  return [
    "mariadb",
    `--socket=${join(lab.folder, "mariadb/mariadb.sock")}`,
    "-u",
    "root",
    "stock",
    "-e",
    statement,
  ];
}

function redis(lab: Lab, ...words: string[]): string {
  return lab.output(["redis-cli", "-p", String(lab.state.ports["redis"]), ...words]);
}

const WAITING = "UPDATE orders SET total = 1 WHERE id = 1";

/** How many sessions there are, and how many there may be. */
const COUNTS = [
  'psql $POSTGRES_ADMIN_URL -c "SELECT state, count(*) FROM pg_stat_activity GROUP BY 1"',
  "psql $POSTGRES_ADMIN_URL -c 'SHOW max_connections'",
];
/** Who does what, and who waits for whom. */
const SESSIONS = [
  `psql $POSTGRES_ADMIN_URL -xc "SELECT *, pg_blocking_pids(pid) FROM pg_stat_activity WHERE state <> 'idle'"`,
  ...COUNTS,
];

export const DATABASE_FAULTS: readonly Fault[] = [
  sessions(
    {
      name: "lock-storm",
      about: "an idle transaction holds a row of orders, and six sessions wait for it",
      asked: {
        question: "orders hang: updates in the database do not finish",
        cause: /holds locks that 6 sessions wait for/,
      },
      named: {
        raw: SESSIONS,
        ask: "run postgres_diagnose",
        says: /it holds locks that 6 sessions wait for/,
      },
    },
    [
      "BEGIN; UPDATE orders SET total = 0 WHERE id = 1",
      ...Array.from({ length: 6 }, () => WAITING),
    ],
  ),
  sessions(
    {
      name: "slow-query",
      about: "a query without an index reads all orders, over and over",
      asked: {
        question: "the database is slow, something runs for ages",
        cause: /a statement runs for .*orders a JOIN orders b/,
      },
      named: {
        raw: SESSIONS,
        ask: "run postgres_diagnose",
        says: /a statement runs for/,
      },
    },
    [
      "DO $$ BEGIN FOR i IN 1..100000 LOOP PERFORM count(*) FROM orders a JOIN orders b ON a.total = b.total WHERE a.customer = 7; END LOOP; END $$",
    ],
  ),
  sessions(
    {
      name: "connections-used-up",
      about: "idle sessions take every connection that PostgreSQL has",
      asked: {
        question: "postgres says too many connections, the shop cannot connect",
        cause: /no connection left: .*(?:too many clients|slots are reserved)/,
      },
      named: {
        raw: ["psql $POSTGRES_URL -c 'SELECT 1'"],
        ask: "run postgres_diagnose",
        says: /connection slots are reserved|too many clients already/,
      },
    },
    Array.from({ length: 60 }, () => "SELECT 1"),
  ),
  {
    name: "replication-slot",
    about: "a replication slot without a reader keeps write-ahead log for ever",
    asked: {
      question: "the write-ahead log of postgres grows and grows",
      cause: /replication slot gone_replica has no reader/,
    },
    parts: ["postgres"],
    named: {
      raw: [
        "psql $POSTGRES_ADMIN_URL -xc 'SELECT *, pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) FROM pg_replication_slots'",
        "psql $POSTGRES_ADMIN_URL -xc 'TABLE pg_stat_replication'",
        ...COUNTS,
      ],
      ask: "run postgres_diagnose",
      says: /ReplicationSlot gone_replica.*no reader/,
    },
    async break(lab) {
      holdSessions(lab, "replication-slot", [
        "SELECT pg_create_physical_replication_slot('gone_replica', true)",
      ]);
    },
    async mend(lab) {
      await lab.end("replication-slot");
      const port = String(lab.state.ports["postgres"]);
      const query = "SELECT pg_drop_replication_slot('gone_replica')";
      lab.output([
        "psql",
        "-h",
        "127.0.0.1",
        "-p",
        port,
        "-U",
        "postgres",
        "-d",
        "shop",
        "-c",
        query,
      ]);
    },
  },
  {
    name: "mysql-lock",
    about: "a transaction in MariaDB holds a row, and another waits for it",
    asked: {
      question: "updates of the stock in mysql hang",
      cause: /holds locks that 1 session waits for/,
    },
    parts: ["mariadb"],
    async break(lab) {
      lab.run(
        "mysql-holder",
        mysql(lab, "BEGIN; UPDATE items SET amount = 0 WHERE id = 1; DO SLEEP(3600)"),
      );
      const holds = "SELECT STATE FROM information_schema.PROCESSLIST";
      await lab.until("the transaction that holds the row", async () =>
        lab.output(mysql(lab, holds)).includes("User sleep"),
      );
      const wait = "SET innodb_lock_wait_timeout = 3600; UPDATE items SET amount = 1 WHERE id = 1";
      lab.run("mysql-waiter", mysql(lab, wait));
    },
    async mend(lab) {
      await lab.end("mysql-waiter");
      await lab.end("mysql-holder");
      // The server looks after a session's client only when it next answers it.
      const left =
        "SELECT CONCAT('KILL ', ID, ';') FROM information_schema.PROCESSLIST WHERE USER = 'root' AND ID <> CONNECTION_ID()";
      const kills = lab.output(mysql(lab, left)).split("\n").slice(1).join(" ").trim();
      if (kills !== "") lab.output(mysql(lab, kills));
    },
    named: {
      raw: [
        "mariadb --socket=mariadb/mariadb.sock -u root -e 'SHOW FULL PROCESSLIST'",
        "mariadb --socket=mariadb/mariadb.sock -u root -e 'SHOW ENGINE INNODB STATUS\\G'",
      ],
      ask: "run mysql_diagnose",
      says: /Session stock\/\d+: it holds locks that 1 session waits for[^]*Fix: mysql_end_session/,
    },
  },
  {
    name: "redis-full",
    about: "Redis has used up its memory and refuses writes",
    asked: {
      question: "redis refuses writes: OOM command not allowed",
      cause: /its memory is used up: it refuses writes/,
    },
    parts: ["redis"],
    async break(lab) {
      redis(lab, "config", "set", "maxmemory-policy", "noeviction");
      for (let i = 0; i < 70; i++)
        redis(lab, "setrange", `session:cache:${i}`, String(1024 * 1024 - 1), "x");
    },
    async mend(lab) {
      redis(lab, "flushall");
    },
    named: {
      raw: ["redis-cli -u $REDIS_TARGET_URL info", "redis-cli -u $REDIS_TARGET_URL --memkeys"],
      ask: "run redis_diagnose",
      says: /its memory is used up: it refuses writes/,
    },
  },
  {
    name: "redis-slow",
    about: "somebody runs KEYS over many keys in Redis",
    asked: { question: "redis is slow since this morning", cause: /EVAL holds Redis up/ },
    parts: ["redis"],
    async break(lab) {
      const script =
        "for i=1,200000 do redis.call('set','k:'..i,i) end for i=1,20 do redis.call('keys','*x*') end";
      redis(lab, "eval", script, "0");
    },
    async mend(lab) {
      redis(lab, "flushall");
      redis(lab, "slowlog", "reset");
    },
    named: {
      raw: ["redis-cli -u $REDIS_TARGET_URL info", "redis-cli -u $REDIS_TARGET_URL slowlog get 64"],
      ask: "run redis_diagnose",
      says: /Command EVAL.*: it held Redis up[^]*redis.call\('keys'/,
    },
  },
  {
    name: "queue-without-consumer",
    about: "5 000 orders wait in a queue that nobody reads",
    asked: {
      question: "orders pile up in the queue and nobody processes them",
      cause: /Nobody reads the queue orders: 5000 messages/,
    },
    parts: ["rabbitmq"],
    async break(lab) {
      const message = {
        properties: {},
        routing_key: "orders",
        payload: "order",
        payload_encoding: "string",
      };
      for (let sent = 0; sent < 5_000; sent += 100)
        await Promise.all(
          Array.from({ length: 100 }, () =>
            askRabbit(lab, "POST", "exchanges/%2F/amq.default/publish", message),
          ),
        );
    },
    mend: async (lab) => void (await askRabbit(lab, "DELETE", "queues/%2F/orders/contents")),
    named: {
      raw: [
        "curl -su $RABBITMQ_USER:$RABBITMQ_PASSWORD $RABBITMQ_URL/api/overview",
        "curl -su $RABBITMQ_USER:$RABBITMQ_PASSWORD $RABBITMQ_URL/api/queues?columns=name,messages_ready,messages_unacknowledged,consumers",
      ],
      ask: "run rabbitmq_diagnose",
      says: /Queue orders: it has no consumers/,
    },
  },
  {
    name: "database-gone",
    about: "PostgreSQL is down, and the shop answers 503",
    asked: {
      question: "$SHOP_URL says database unavailable",
      cause: /PostgreSQL takes no session.*connection refused/,
    },
    parts: ["postgres", "shop"],
    named: {
      raw: ["psql $POSTGRES_URL -c 'SELECT 1'", "ss -ltnp"],
      ask: "run postgres_diagnose",
      says: /connection refused/,
    },
    async break(lab) {
      visit(lab);
      await lab.end("postgres");
    },
    async mend(lab) {
      const { postgres } = await import("../parts/databases.ts");
      await postgres.start(lab);
    },
  },
];
