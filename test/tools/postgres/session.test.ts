import { once } from "node:events";
import { connect, createServer } from "node:net";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { loadConfig } from "../../../src/config/config.ts";
import { inSession } from "../../../src/tools/postgres/client.ts";
import { oneStatement, text } from "../../../src/tools/database-rows.ts";
import { postgres } from "../../../src/tools/postgres/integration.ts";
import { NOTHING_LENT } from "../../../src/tools/registry.ts";
import { run } from "../calling.ts";
import { idleContext } from "../../fakes/tool-context.ts";

afterEach(() => void vi.unstubAllEnvs());

/** A message of the protocol: its letter, its length, its bytes. */
function message(letter: string, ...bytes: number[]): Buffer {
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeUInt32BE(bytes.length + 4, 1);
  return Buffer.concat([head, Buffer.from(bytes)]);
}

const WELCOME = Buffer.concat([message("R", 0, 0, 0, 0), message("Z", 0x49)]);
const ASKS_FOR_PASSWORD = message("R", 0, 0, 0, 3);

/** Asks a server that says these one after the other, one for each message of ours. Returns the error and what it was sent. */
async function ask(answers: readonly Buffer[], tls: "off" | "verified" = "off") {
  const heard: string[] = [];
  const server = createServer((socket) => {
    const left = [...answers];
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      heard.push(bytes.toString("latin1"));
      const next = left.shift();
      if (next === undefined) socket.destroy();
      else socket.write(next);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it has no port");
  const target = { endpoint: "default", host: "db", user: "u", password: undefined, tls };
  const dialed = async () => {
    const socket = connect(address.port, "127.0.0.1");
    await once(socket, "connect");
    return { socket, address: "127.0.0.1", port: address.port, dnsMs: 0, connectMs: 0 };
  };
  const asking = inSession(
    idleContext({ connect: dialed }),
    { ...target, database: "d" },
    ({ rows }) => rows("SELECT 1"),
  );
  const error: unknown = await asking.catch((problem: unknown) => problem);
  return { error, heard };
}

describe("a server that lies", () => {
  test.each([
    ["a row with fewer bytes than its columns need", message("D", 0, 9, 0, 0)],
    ["columns without end", message("T", 0x7f, 0xff)],
    ["a message without a length", Buffer.from([0x44, 0, 0, 0, 0])],
    ["an empty row", message("D")],
  ])("ends its own connection with %s, and nothing else", async (_, bytes) => {
    const { error } = await ask([WELCOME, bytes]);
    expect(error).toMatchObject({
      code: "CONNECTION_FAILED",
      message: "What the server sent is not PostgreSQL's protocol.",
    });
  });

  test("is left when it has sent more than anybody asked for", async () => {
    const endless = Buffer.concat([message("D").fill(0x7f, 1), Buffer.alloc(17 * 1024 * 1024)]);
    const { error } = await ask([WELCOME, endless]);
    expect(error).toMatchObject({
      message: "The answer is larger than 16 MiB: ask for less of it.",
    });
  });

  test("gets no password that was set for another program", async () => {
    vi.stubEnv("PGPASSWORD", "of-another-server");
    const { heard } = await ask([ASKS_FOR_PASSWORD]);
    expect(heard).toHaveLength(2);
    expect(heard.join("")).not.toContain("of-another-server");
  });

  test("gets nothing in plain where sslmode asks for TLS", async () => {
    const { error, heard } = await ask([Buffer.from("N")], "verified");
    expect(error).toMatchObject({
      message: "The server does not speak TLS, and sslmode asks for it.",
    });
    expect(heard).toHaveLength(1);
  });
});

test("a server with no connection left says which setting would show who holds them", async () => {
  const fields = ["SFATAL", "VFATAL", "C53300", "Msorry, too many clients already", ""].join("\0");
  const full = message("E", ...Buffer.from(`${fields}\0`));
  const server = createServer((socket) => {
    socket.on("error", () => {}).once("data", () => socket.end(full));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it has no port");
  const url = `postgres://u@127.0.0.1:${address.port}/shop`;
  const tools = await postgres.tools({ url, admin: undefined, named: {} }, NOTHING_LENT);
  expect(await run(tools, "postgres_diagnose", {})).toMatchObject({
    failed: true,
    findings: [{ cause: "sorry, too many clients already (SQLSTATE 53300)" }],
    gaps: [{ help: expect.stringMatching(/POSTGRES_ADMIN_URL.*pg_use_reserved_connections/) }],
  });
});

test("names and statements with line breaks stay on the line that they are in", () => {
  expect(text("orders\n\n1. Service shop/web: it is down\u2028")).toBe(
    "orders 1. Service shop/web: it is down ",
  );
  expect(oneStatement("SELECT 1\n-- all\r\nFROM x")).toBe("SELECT 1 -- all FROM x");
});

test.each([
  ["postgres://u:100%@db/shop", "percent sign"],
  ["postgres://u@db/shop?sslmode=Verify-Full", "expected sslmode one of"],
])("refuses the address %s", async (url, problem) => {
  const env = { POSTGRES_URL: url };
  await expect(loadConfig(env, { cwd: "/" })).rejects.toThrow(problem);
});
