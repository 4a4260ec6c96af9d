import { once } from "node:events";
import net from "node:net";
import { describe, expect, it, vi } from "vitest";
import { createNetwork } from "../../src/net/dial.ts";
import { answering, attempt, errno, LOCAL, spyOnSockets } from "../tools/dialing.ts";
import { closedPort, listen } from "../tools/network/servers.ts";

/** A server that accepts connections on 127.0.0.1. */
function listening(): Promise<number> {
  return listen(net.createServer());
}

describe("names", () => {
  it("refuses a name that turns into a metadata service on the second look", async () => {
    const port = await listening();
    const asked = spyOnSockets("real");
    const lookup = vi.fn<(name: string) => Promise<readonly string[]>>(
      answering(["127.0.0.1"], ["169.254.169.254"]).lookup,
    );
    const first = await attempt("db.example", { rules: LOCAL, dialing: { lookup }, port });
    expect(first).toEqual({ ended: "CONNECTED", message: "127.0.0.1" });
    expect(lookup).toHaveBeenCalledOnce();
    const second = await attempt("db.example", { rules: LOCAL, dialing: { lookup }, port });
    expect(second.ended).toBe("ADDRESS_REFUSED");
    expect(asked()).toEqual(["127.0.0.1"]);
  });

  it("passes over forbidden answers and dials only the allowed one", async () => {
    const port = await listening();
    const asked = spyOnSockets("real");
    const dialing = answering([
      "fe80::1",
      "169.254.169.254",
      "127.0.0.1",
      "::ffff:169.254.169.254",
    ]);
    expect((await attempt("db.example", { rules: LOCAL, dialing, port })).ended).toBe("CONNECTED");
    expect(asked()).toEqual(["127.0.0.1"]);
  });
});

describe("dialing", () => {
  const signal = new AbortController().signal;

  it("connects, and says to which address and how long it took", async () => {
    const port = await listening();
    const dialed = await createNetwork(LOCAL).dial("localhost", port, { signal });
    dialed.socket.destroy();
    expect(dialed).toMatchObject({ address: "127.0.0.1", port });
    expect(dialed.dnsMs).toBeGreaterThan(0);
    expect(dialed.connectMs).toBeGreaterThan(0);
    const literal = await createNetwork(LOCAL).dial("127.0.0.1", port, { signal });
    literal.socket.destroy();
    expect(literal.dnsMs).toBe(0);
  });

  it("tries the next allowed address when one refuses", async () => {
    const port = await listening();
    const dialing = answering(["127.0.0.9", "::1", "127.0.0.1"]);
    const result = await attempt("db.example", { rules: LOCAL, dialing, port });
    expect(result).toEqual({ ended: "CONNECTED", message: "127.0.0.1" });
  });

  it("tells of every address that failed", async () => {
    const port = await closedPort();
    const dialing = answering(["127.0.0.9", "127.0.0.1"]);
    const { ended, message } = await attempt("db.example", { rules: LOCAL, dialing, port });
    expect(ended).toBe("CONNECTION_FAILED");
    expect(message).toContain(`connection refused by 127.0.0.9:${port}`);
    expect(message).toContain(`connection refused by 127.0.0.1:${port}`);
  });

  it("gives up on addresses that never answer, within the time for all of them", async () => {
    const connect = vi.spyOn(net.Socket.prototype, "connect").mockReturnThis();
    const started = performance.now();
    const dialing = { ...answering(["127.0.0.1", "127.0.0.2", "127.0.0.3"]), connectTimeoutMs: 90 };
    const { ended, message } = await attempt("db.example", { rules: LOCAL, dialing });
    expect(ended).toBe("CONNECTION_FAILED");
    expect(message).toContain("no answer from 127.0.0.1:80 within 0.03 s");
    expect(message).toContain("no answer from 127.0.0.3:80");
    expect(performance.now() - started).toBeLessThan(20_000);
    const sockets = connect.mock.contexts.filter((socket) => socket instanceof net.Socket);
    expect(sockets.map((socket) => socket.destroyed)).toEqual([true, true, true]);
  });

  it.each([
    ["EHOSTUNREACH", "10.0.0.1:80 is unreachable (no route to the machine"],
    ["ENETUNREACH", "10.0.0.1:80 is unreachable (this machine has no route"],
    ["ECONNRESET", "connection reset by 10.0.0.1:80"],
    ["EPERM", "this machine's own firewall"],
    ["EMFILE", "connection to 10.0.0.1:80 failed (EMFILE)"],
  ])("says %s in words", async (code, words) => {
    vi.spyOn(net.Socket.prototype, "connect").mockImplementation(function (this: net.Socket) {
      queueMicrotask(() => this.destroy(Object.assign(new Error(code), { code })));
      return this;
    });
    const result = await attempt("10.0.0.1", { rules: LOCAL });
    expect(result.ended).toBe("CONNECTION_FAILED");
    expect(result.message).toContain(words);
  });

  it.each([
    ["that does not exist", () => Promise.reject(errno("ENOTFOUND")), "ENOTFOUND"],
    ["whose server is away", () => Promise.reject(errno("EAI_AGAIN")), "does not answer"],
    ["without addresses", () => Promise.resolve([]), "no addresses"],
    ["that takes for ever", () => new Promise<string[]>(() => {}), "longer than 0.02 s"],
  ])("says why it has no address for a name %s", async (_, lookup, words) => {
    const dialing = { lookup, lookupTimeoutMs: 20 };
    const { ended, message } = await attempt("db.example", { rules: LOCAL, dialing });
    expect(ended).toBe("ADDRESS_UNKNOWN");
    expect(message).toContain("db.example");
    expect(message).toContain(words);
  });

  it("stops at once when the call is stopped: before, during the lookup, while connecting", async () => {
    const asked = spyOnSockets();
    const gone = await attempt("127.0.0.1", { rules: LOCAL, signal: AbortSignal.abort() });
    expect(gone.ended).toBe("ABORTED");

    const dialing = { lookup: () => new Promise<string[]>(() => {}) };
    const unresolved = await attempt("db.example", { dialing, signal: AbortSignal.timeout(10) });
    expect(unresolved.ended).toBe("ABORTED");
    expect(asked()).toEqual([]);

    vi.spyOn(net.Socket.prototype, "connect").mockReturnThis();
    const silent = await attempt("127.0.0.1", { rules: LOCAL, signal: AbortSignal.timeout(10) });
    expect(silent.ended).toBe("ABORTED");
  });

  it("survives a reset while nobody reads", async () => {
    const server = net.createServer();
    const port = await listen(server);
    const accepted = once(server, "connection");
    const { socket } = await createNetwork(LOCAL).dial("127.0.0.1", port, { signal });
    const [other] = await accepted;
    other.resetAndDestroy();
    await expect.poll(() => socket.destroyed).toBe(true);
  });

  it("destroys a connection when the call that made it is stopped", async () => {
    const port = await listening();
    const call = new AbortController();
    const { socket } = await createNetwork(LOCAL).dial("127.0.0.1", port, { signal: call.signal });
    call.abort();
    await expect.poll(() => socket.destroyed).toBe(true);
  });
});
