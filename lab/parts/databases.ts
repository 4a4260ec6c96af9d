import { existsSync } from "node:fs";
import { join } from "node:path";
import { openPostgres } from "../clients.ts";
import type { Part } from "../part.ts";

const POSTGRES = "/usr/lib/postgresql/15/bin";

/** A shop's orders, enough of them that a query without an index takes its time. */
const SHOP = `
CREATE TABLE orders (id bigserial PRIMARY KEY, customer int NOT NULL, state text NOT NULL, total numeric NOT NULL, at timestamptz NOT NULL DEFAULT now());
INSERT INTO orders (customer, state, total, at)
  SELECT n % 5000, (ARRAY['paid','open','sent'])[n % 3 + 1], n % 300, now() - n * interval '1 second' FROM generate_series(1, 200000) n;
ANALYZE orders;
CREATE ROLE watcher LOGIN; GRANT pg_monitor TO watcher; GRANT SELECT ON ALL TABLES IN SCHEMA public TO watcher;
CREATE ROLE shop LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO shop; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO shop;
`;

export const postgres: Part = {
  name: "postgres",
  packages: { postgresql: `${POSTGRES}/postgres` },
  async start(lab) {
    const data = join(lab.place("postgres", "postgres"), "data");
    const port = await lab.port("postgres");
    const isNew = !existsSync(join(data, "PG_VERSION"));
    if (isNew)
      lab.output([`${POSTGRES}/initdb`, "-A", "trust", "-U", "postgres", "-D", data], {
        user: "postgres",
      });
    if (!lab.isRunning("postgres")) {
      // Their sessions ended with the server.
      await lab.end("workers");
      const settings = {
        listen_addresses: "127.0.0.1",
        port: String(port),
        unix_socket_directories: data,
        shared_preload_libraries: "pg_stat_statements",
        max_connections: "50",
        fsync: "off",
      };
      const flags = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
      // By SIGTERM it waits for its clients to leave.
      const options = { user: "postgres", endsBy: "SIGINT" } as const;
      lab.run("postgres", [`${POSTGRES}/postgres`, "-D", data, ...flags], options);
    }
    const admin = (database: string) => openPostgres(port, "postgres", { database });
    await lab.until("PostgreSQL", async () => {
      const client = await admin("postgres");
      await client.end();
      return true;
    });
    if (isNew) {
      const server = await admin("postgres");
      await server.query("CREATE DATABASE shop");
      await server.end();
      const shop = await admin("shop");
      await shop.query("CREATE EXTENSION pg_stat_statements");
      await shop.query(SHOP);
      await shop.end();
    }
    if (!lab.isRunning("workers")) {
      const idle = Array.from({ length: 20 }, () => "SELECT 1");
      const argv = [join(import.meta.dirname, "../sessions.ts"), String(port), ...idle];
      const env = { SESSIONS_USER: "shop", SESSIONS_NAME: "shop-worker" };
      lab.run("workers", [process.execPath, ...argv], { env });
    }
    lab.state.variables["POSTGRES_URL"] = `postgres://watcher@127.0.0.1:${port}/shop`;
    lab.state.variables["POSTGRES_ADMIN_URL"] = `postgres://postgres@127.0.0.1:${port}/shop`;
  },
};

export const mariadb: Part = {
  name: "mariadb",
  packages: { "mariadb-server": "mariadbd" },
  async start(lab) {
    const folder = lab.place("mariadb", "mysql");
    const data = join(folder, "data");
    const port = await lab.port("mariadb");
    const isNew = !existsSync(join(data, "mysql"));
    if (isNew) {
      const options = [
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        `--datadir=${data}`,
      ];
      lab.output(["mariadb-install-db", "--no-defaults", ...options], { user: "mysql" });
    }
    const socket = join(folder, "mariadb.sock");
    if (!lab.isRunning("mariadb")) {
      const flags = [
        `--datadir=${data}`,
        `--socket=${socket}`,
        `--port=${port}`,
        "--bind-address=127.0.0.1",
      ];
      const small = [
        "--innodb-buffer-pool-size=32M",
        "--performance-schema=ON",
        "--max-connections=30",
      ];
      lab.run("mariadb", ["mariadbd", "--no-defaults", ...flags, ...small], { user: "mysql" });
    }
    await lab.until("MariaDB", async () => {
      lab.output(["mariadb", `--socket=${socket}`, "-u", "root", "-e", "SELECT 1"]);
      return true;
    });
    if (isNew) {
      const input = [
        "CREATE DATABASE stock; USE stock;",
        "CREATE TABLE items (id int PRIMARY KEY, name varchar(50), amount int) ENGINE=InnoDB;",
        "INSERT INTO items SELECT seq, CONCAT('item ', seq), seq % 100 FROM seq_1_to_20000;",
        "CREATE USER watcher@'127.0.0.1'; GRANT PROCESS, REPLICATION CLIENT, SLAVE MONITOR ON *.* TO watcher@'127.0.0.1';",
        "GRANT SELECT ON performance_schema.* TO watcher@'127.0.0.1'; GRANT SELECT ON mysql.func TO watcher@'127.0.0.1';",
        "GRANT SELECT ON stock.* TO watcher@'127.0.0.1';",
        "CREATE USER admin@'127.0.0.1'; GRANT PROCESS, CONNECTION ADMIN ON *.* TO admin@'127.0.0.1';",
        "GRANT SELECT ON performance_schema.* TO admin@'127.0.0.1';",
        "CREATE USER stock@'127.0.0.1'; GRANT ALL ON stock.* TO stock@'127.0.0.1';",
      ].join("\n");
      lab.output(["mariadb", `--socket=${socket}`, "-u", "root"], { input });
    }
    lab.state.variables["MYSQL_URL"] = `mysql://watcher@127.0.0.1:${port}/stock`;
    lab.state.variables["MYSQL_ADMIN_URL"] = `mysql://admin@127.0.0.1:${port}`;
  },
};

export const redis: Part = {
  name: "redis",
  packages: { "redis-server": "redis-server" },
  async start(lab) {
    const port = await lab.port("redis");
    const dir = lab.place("redis");
    if (!lab.isRunning("redis")) {
      const flags = [
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--maxmemory",
        "64mb",
        "--slowlog-log-slower-than",
        "5000",
      ];
      lab.run("redis", ["redis-server", "--port", String(port), "--dir", dir, ...flags]);
    }
    await lab.until("Redis", async () =>
      lab.output(["redis-cli", "-p", String(port), "ping"]).includes("PONG"),
    );
    lab.state.variables["REDIS_TARGET_URL"] = `redis://127.0.0.1:${port}`;
  },
};
