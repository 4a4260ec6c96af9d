import net from "node:net";
import { Duplex } from "node:stream";
import tls from "node:tls";
import { describe, expect, test, vi } from "vitest";
import { loadConfig } from "../../../src/config/config.ts";
import { run } from "../calling.ts";
import { identity } from "../network/servers.ts";
import { listening, serve, toolsFor } from "./server.ts";

/** A packet of the protocol: its length, its number, its bytes. */
function packet(at: number, ...parts: (Buffer | number[] | string)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(`${part}\0`) : Buffer.from(part))),
  );
  const head = Buffer.alloc(4);
  head.writeUIntLE(body.length, 0, 3);
  head[3] = at;
  return Buffer.concat([head, body]);
}

const SSL = 0x08;

function hello(plugin: string, capabilities = 0): Buffer {
  return packet(
    0,
    [10],
    "8.0.36",
    [7, 0, 0, 0],
    Buffer.alloc(8, 65),
    [0, 0xff, 0xf7 | capabilities, 45, 2, 0, 0xff, 0x01, 21],
    Buffer.alloc(10),
    Buffer.alloc(12, 66),
    [0],
    plugin,
  );
}

const OK = (at: number) => packet(at, [0, 0, 0, 2, 0, 0, 0]);

/** Asks a server that says these one after the other, the first at once, one for each message of ours. */
async function ask(answers: readonly Buffer[], query = "") {
  const heard: Buffer[] = [];
  const server = net.createServer((socket) => {
    const left = [...answers];
    socket.on("error", () => {});
    socket.write(left.shift() ?? "");
    socket.on("data", (bytes) => {
      heard.push(bytes);
      const next = left.shift();
      if (next === undefined) socket.destroy();
      else socket.write(next);
    });
  });
  const tools = await toolsFor(await listening(server), query);
  const error: unknown = await run(tools, "mysql_diagnose", {}).catch(
    (problem: unknown) => problem,
  );
  return { error, heard: Buffer.concat(heard).toString("latin1") };
}

describe("a server with no connection left", () => {
  const FULL = packet(0, [0xff, 0x10, 0x04], "#08004Too many connections");

  async function fullServer(): Promise<number> {
    return listening(net.createServer((socket) => void socket.on("error", () => {}).end(FULL)));
  }

  test("is looked at by the user that ends sessions, for whom it keeps one", async () => {
    const { port } = await serve();
    const tools = await toolsFor(await fullServer(), "", port);
    const { text, findings, failed } = await run(tools, "mysql_diagnose", {});
    expect(findings?.map(({ cause }) => cause)).toEqual([
      expect.stringContaining("Too many connections"),
    ]);
    expect([text, failed]).toEqual([expect.stringContaining("2 of 151 connections"), undefined]);
  });

  test.each([0, "full"])("without such a user (%s) says who would see more", async (admin) => {
    const port = await fullServer();
    const tools = await toolsFor(port, "", admin === "full" ? port : 0);
    expect(await run(tools, "mysql_diagnose", {})).toMatchObject({
      failed: true,
      findings: [{ fix: "Close idle sessions, or raise max_connections." }],
      gaps: [
        { what: "who holds the connections", help: expect.stringContaining("MYSQL_ADMIN_URL") },
      ],
    });
  });
});

describe("a server that lies", () => {
  const said = vi.spyOn(console, "error").mockImplementation(() => {});
  const traced = vi.spyOn(console, "trace").mockImplementation(() => {});

  test.each([
    ["packets out of order", [hello("mysql_native_password"), OK(9)]],
    ["a greeting that ends too early", [packet(0, [10, 65])]],
    [
      "a length that is none",
      [
        hello("mysql_native_password"),
        OK(2),
        Buffer.concat([packet(1, [1]), packet(2, [0, 0xff])]),
      ],
    ],
    [
      "something after it was done",
      [hello("mysql_native_password"), Buffer.concat([OK(2), OK(3)])],
    ],
  ])("ends its own connection with %s, and nothing else", async (_, answers) => {
    const { error } = await ask(answers);
    expect(error).toMatchObject({ code: "CONNECTION_FAILED" });
    expect(said).not.toHaveBeenCalled();
    expect(traced).not.toHaveBeenCalled();
  });

  test("is left when it has sent more than anybody asked for", async () => {
    const endless = Buffer.concat([
      packet(1, [1]),
      Buffer.from([0xfe, 0xff, 0xff, 2]),
      Buffer.alloc(17 * 1024 * 1024),
    ]);
    const { error } = await ask([hello("mysql_native_password"), OK(2), endless]);
    expect(error).toMatchObject({
      message: "The answer is larger than 16 MiB: ask for less of it.",
    });
  });

  test("gets no file of this machine", async () => {
    const wanted = packet(1, [0xfb], Buffer.from("/etc/hostname"));
    const { heard } = await ask([hello("mysql_native_password"), OK(2), wanted]);
    expect(heard).toContain("SELECT VERSION()");
    expect(heard).not.toMatch(/vm|localhost/);
  });

  test.each(["caching_sha2_password", "sha256_password", "mysql_clear_password"])(
    "gets no password by %s over a connection that is not encrypted",
    async (plugin) => {
      const change = packet(2, [0xfe], plugin, Buffer.alloc(20, 67), [0]);
      const full = packet(4, [1, 4]);
      const { publicKey } = (await import("node:crypto")).generateKeyPairSync("rsa", {
        modulusLength: 2048,
        publicKeyEncoding: { type: "spki", format: "pem" },
        privateKeyEncoding: { type: "pkcs8", format: "pem" },
      });
      const key = packet(6, [1], Buffer.from(publicKey));
      const { error, heard } = await ask([hello("mysql_native_password"), change, full, key]);
      expect(error).toMatchObject({ message: expect.stringMatching(/needs TLS|cleartext|clear/) });
      expect(heard).not.toContain("s3cret");
      expect(heard.length).toBeLessThan(400);
    },
  );

  test("hears nothing of us in plain where ssl-mode asks for TLS", async () => {
    const without = await ask([hello("mysql_native_password")], "?ssl-mode=REQUIRED");
    expect(without.error).toMatchObject({ message: "Server does not support secure connection" });
    expect(without.heard).toBe("");
    const slipped = Buffer.concat([hello("mysql_native_password", SSL), OK(2)]);
    const early = await ask([slipped, OK(2)], "?ssl-mode=REQUIRED");
    expect(early.error).toMatchObject({ message: "What the server sent is not MySQL's protocol." });
    expect(early.heard).not.toMatch(/watch|SELECT/);
  });

  test.each([
    ["VERIFY_IDENTITY", /does not trust its certificate/, false],
    ["REQUIRED", /./, true],
  ])(
    "whose certificate nobody knows hears the user with ssl-mode=%s: %s",
    async (mode, why, hears) => {
      let heard = "";
      const server = net.createServer((socket) => {
        socket.on("error", () => {});
        socket.write(hello("mysql_native_password", SSL));
        socket.once("data", (first: Buffer) => {
          // What comes behind the request of 36 bytes may have come with it.
          const channel = new Duplex({
            read: () => {},
            write: (chunk: Buffer, _, done) => void socket.write(chunk, done),
          });
          channel.push(first.subarray(36));
          socket.on("data", (bytes) => channel.push(bytes));
          const secured = new tls.TLSSocket(channel, {
            isServer: true,
            ...identity("self-signed"),
          });
          secured.on("error", () => {});
          secured.on("data", (bytes: Buffer) => {
            heard += bytes.toString("latin1");
            socket.destroy();
          });
        });
      });
      const tools = await toolsFor(await listening(server), `?ssl-mode=${mode}`);
      await expect(run(tools, "mysql_diagnose", {})).rejects.toThrow(why);
      expect(heard.includes("watch")).toBe(hears);
      expect(heard).not.toContain("s3cret");
    },
  );
});

test.each([
  ["mysql://u:100%@db/shop", "percent sign"],
  ["mysql://u@db/shop?ssl-mode=maybe", "expected ssl-mode one of"],
  ["postgres://u@db/shop", "expected mysql://"],
])("refuses the address %s", async (url, problem) => {
  await expect(loadConfig({ MYSQL_URL: url }, { cwd: "/" })).rejects.toThrow(problem);
});
