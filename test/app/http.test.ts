import { once } from "node:events";
import net from "node:net";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { startHttpServer } from "../../src/app/http.ts";
import type { HttpRoute } from "../../src/core/http-route.ts";

const open = (...routes: HttpRoute[]) => openWith({ routes });

type Parts = Parameters<typeof startHttpServer>[0];

async function openWith(parts: Partial<Parts>) {
  const log = pino({ level: "silent" });
  const server = await startHttpServer({ routes: [], ...parts, port: 0, host: "127.0.0.1", log });
  onTestFinished(() => server.stop());
  const connect = async () => {
    const socket = net.connect(server.port, "127.0.0.1");
    // A connection that is closed at once may be reset.
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  return { server, connect, url: `http://127.0.0.1:${server.port}` };
}

const route = (path: string, status: number): HttpRoute => ({
  method: "POST",
  path,
  handle: async () => ({ status, text: `${path}\n` }),
});

const closed = async (socket: net.Socket) =>
  new Promise<void>((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once("close", () => resolve());
  });

test("above a hundred connections the next ones are told to come again", async () => {
  const { connect, url } = await openWith({ turnedAwayMs: 3_600_000 });
  await Promise.all(Array.from({ length: 100 }, connect));
  const told = await fetch(`${url}/healthz`);
  expect([told.status, told.headers.get("retry-after"), await told.text()]).toEqual([
    503,
    "5",
    "Too many connections are open. Try again soon.\n",
  ]);
  expect(told.headers.get("connection")).toBe("close");
});

test("fifty that are told so, or ask nothing, are kept at a time: those beyond are closed", async () => {
  const { connect } = await openWith({ turnedAwayMs: 3_600_000 });
  await Promise.all(Array.from({ length: 100 }, connect));
  const idle = await Promise.all(Array.from({ length: 50 }, connect));
  const beyond = await connect();
  beyond.write("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n");
  await closed(beyond);
  expect(beyond.bytesRead).toBe(0);
  expect(idle.filter(({ readyState }) => readyState === "open")).toHaveLength(50);
});

test("a connection for which there is no place is closed after a while, though it asks nothing", async () => {
  const { connect, url } = await openWith({ turnedAwayMs: 20 });
  const held = await Promise.all(Array.from({ length: 100 }, connect));
  const idle = await Promise.all(Array.from({ length: 50 }, connect));
  await Promise.all(idle.map(closed));
  expect(held.filter(({ readyState }) => readyState === "open")).toHaveLength(100);
  held[0]?.destroy();
  await expect.poll(async () => (await fetch(`${url}/healthz`)).status).toBe(200);
});

test("a body that is sent where there is no place is not read, and its answer arrives", async () => {
  let handled = 0;
  const { connect, url } = await open({
    ...route("/hook", 202),
    handle: async () => {
      handled += 1;
      return { status: 202 };
    },
  });
  await Promise.all(Array.from({ length: 100 }, connect));
  const reply = await fetch(`${url}/hook`, { method: "POST", body: "x".repeat(1_000) });
  expect(reply.status).toBe(503);
  expect(handled).toBe(0);
});

test("an address that takes other methods says which; one that is none says so", async () => {
  const { url } = await open(route("/hook", 202), { ...route("/hook", 200), method: "DELETE" });
  const wrong = await fetch(`${url}/hook`);
  expect([wrong.status, wrong.headers.get("allow"), await wrong.text()]).toEqual([
    405,
    "POST, DELETE",
    "This address takes POST, DELETE.\n",
  ]);
  const none = await fetch(`${url}/hooks`, { method: "POST" });
  expect([none.status, await none.text()]).toEqual([404, "Nothing is served at this address.\n"]);
});

test("what is beneath an address goes to it, unless it has an address of its own", async () => {
  const { url } = await open(route("/alerts/a", 200), route("/alerts/*", 202));
  const statusOf = async (path: string, method = "POST") =>
    (await fetch(`${url}${path}`, { method })).status;
  expect(await statusOf("/alerts/a")).toBe(200);
  expect(await statusOf("/alerts/b")).toBe(202);
  expect(await statusOf("/alerts/b/c")).toBe(202);
  expect(await statusOf("/alerts")).toBe(404);
  expect(await statusOf("/alerts/a", "GET")).toBe(405);
  expect(await statusOf("/alerts/b", "GET")).toBe(405);
});

/** Nothing ends by itself: a stop that waited for a time to run out would never be over. */
const FOR_EVER = { stopMs: 2 ** 31 - 1, times: { keepAliveTimeout: 0 } };

test("it says that it lives, and ends although connections are kept open: one that asked, and one that never did", async () => {
  const { server, connect, url } = await openWith(FOR_EVER);
  const silent = await connect();
  const kept = await connect();
  kept.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  const [answer] = await once(kept, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await (await fetch(`${url}/healthz`)).text()).toBe("ok\n");
  await server.stop();
  await Promise.all([silent, kept].map(closed));
  await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
});

test("what is being answered when it stops is answered, and then its connection ends, although it is to be kept", async () => {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { server, connect } = await openWith({
    ...FOR_EVER,
    routes: [
      {
        ...route("/hook", 202),
        async handle() {
          begun.resolve();
          await end.promise;
          return { status: 202 };
        },
      },
    ],
  });
  const socket = await connect();
  let said = "";
  socket.on("data", (data) => (said += String(data)));
  socket.write(
    "POST /hook HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
  );
  await begun.promise;
  const stopped = server.stop();
  end.resolve();
  await stopped;
  await closed(socket);
  expect(said).toMatch(/^HTTP\/1\.1 202 /);
});

test("a body that is too long is answered by the limit and what to do", async () => {
  const { url } = await open(
    { ...route("/alerts", 202), maxBytes: 1024, tooLong: "Send fewer alerts in one request." },
    { ...route("/hook", 202), maxBytes: 1024 },
  );
  const sent = async (path: string) => {
    const reply = await fetch(url + path, { method: "POST", body: "x".repeat(1_025) });
    return [reply.status, await reply.text()];
  };
  const unread = "The body was not read: it is longer than 1 KiB.";
  expect(await sent("/alerts")).toEqual([413, `${unread} Send fewer alerts in one request.\n`]);
  expect(await sent("/hook")).toEqual([413, `${unread} Send less in one request.\n`]);
});
