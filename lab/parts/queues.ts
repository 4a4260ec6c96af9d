import { join } from "node:path";
import { writeFileSync } from "node:fs";
import type { Lab } from "../lab.ts";
import type { Part } from "../part.ts";

/** RabbitMQ with its management API, a queue of orders and one of mails. */
export const rabbitmq: Part = {
  name: "rabbitmq",
  packages: { "rabbitmq-server": "rabbitmq-server" },
  async start(lab) {
    const folder = lab.place("rabbitmq", "rabbitmq");
    const [amqp, management, distribution, epmd] = [
      await lab.port("amqp"),
      await lab.port("rabbitmq"),
      await lab.port("rabbitmq-distribution"),
      await lab.port("epmd"),
    ];
    writeFileSync(
      join(folder, "rabbitmq.conf"),
      `listeners.tcp.1 = 127.0.0.1:${amqp}\nmanagement.tcp.ip = 127.0.0.1\nmanagement.tcp.port = ${management}\nloopback_users.guest = true\n`,
    );
    writeFileSync(join(folder, "plugins"), "[rabbitmq_management].\n");
    const env = {
      RABBITMQ_NODENAME: "lab@localhost",
      RABBITMQ_CONFIG_FILE: join(folder, "rabbitmq.conf"),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "plugins"),
      RABBITMQ_MNESIA_BASE: join(folder, "data"),
      RABBITMQ_LOG_BASE: join(folder, "log"),
      RABBITMQ_DIST_PORT: String(distribution),
      ERL_EPMD_PORT: String(epmd),
      ERL_EPMD_ADDRESS: "127.0.0.1",
      HOME: folder,
    };
    // RabbitMQ would start it as a daemon, which nobody ends.
    const names = ["epmd", "-port", String(epmd), "-address", "127.0.0.1"];
    if (!lab.isRunning("epmd")) lab.run("epmd", names, { user: "rabbitmq" });
    if (!lab.isRunning("rabbitmq"))
      lab.run("rabbitmq", ["/usr/lib/rabbitmq/bin/rabbitmq-server"], { user: "rabbitmq", env });
    await lab.until("RabbitMQ", async () => (await askRabbit(lab, "GET", "overview")).ok);
    const others = ["invoices", "refunds", "stock", "search", "reports", "audit"];
    const retries = others.flatMap((name) => [name, `${name}.retry`, `${name}.dead`]);
    for (const queue of ["orders", "mails", ...retries])
      await askRabbit(lab, "PUT", `queues/%2F/${queue}`, { durable: true });
    lab.state.variables["RABBITMQ_URL"] = `http://127.0.0.1:${management}`;
    const password = "lab-only-4f1d0c27";
    await askRabbit(lab, "PUT", "users/watcher", { password, tags: "monitoring" });
    // No right to anything in it: seeing its queues takes none.
    const none = { configure: "^$", write: "^$", read: "^$" };
    await askRabbit(lab, "PUT", "permissions/%2F/watcher", none);
    lab.state.variables["RABBITMQ_USER"] = "watcher";
    lab.state.variables["RABBITMQ_PASSWORD"] = password;
  },
};

export function askRabbit(
  lab: Lab,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  return fetch(`http://127.0.0.1:${lab.state.ports["rabbitmq"]}/api/${path}`, {
    method,
    headers: { authorization: `Basic ${btoa("guest:guest")}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(5_000),
  });
}
