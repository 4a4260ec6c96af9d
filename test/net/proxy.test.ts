import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { isProxy, readProxies } from "../../src/net/proxy.ts";
import { openTunnel } from "../../src/net/tunnel.ts";
import { startProxy } from "../fakes/connect-proxy.ts";
import { closedPort } from "../tools/network/servers.ts";

const { signal } = new AbortController();
const PROXY = "http://proxy.test:3128";

function isProxied(noProxy: string, host: string, port = 443, address?: string): boolean {
  const proxies = readProxies({ HTTPS_PROXY: PROXY, NO_PROXY: noProxy });
  return proxies.to("https:", host, port, address) !== undefined;
}

describe("which requests go through a proxy", () => {
  test.each([
    ["", "api.test", true],
    ["*", "api.test", false],
    ["api.test", "api.test", false],
    ["API.test.", "api.TEST", false],
    ["api.test", "eu.api.test", false],
    [".api.test", "api.test", false],
    ["*.api.test", "eu.api.test", false],
    ["api.test", "myapi.test", true],
    ["other.test, .api.test", "eu.api.test", false],
    ["other.test .api.test", "eu.api.test", false],
    ["api.test:443", "api.test", false],
    ["api.test:8443", "api.test", true],
    ["10.0.0.0/8", "10.2.3.4", false],
    ["10.0.0.0/8", "11.2.3.4", true],
    ["10.2.3.4", "10.2.3.4", false],
    ["2001:db8::/32", "[2001:db8::7]", false],
    ["2001:db8::7", "2001:db8:0::7", false],
    ["0.0.0", "api.test", true],
    [",", "api.test", true],
    ["", "localhost", false],
    ["", "shop.localhost", false],
    ["", "127.8.9.10", false],
    ["", "[::1]", false],
    ["", "::ffff:127.0.0.1", false],
  ])("NO_PROXY=%s: %s goes through it: %s", (noProxy, host, expected) => {
    expect(isProxied(noProxy, host)).toBe(expected);
  });

  test("an address that a name was found to be is spared by its network", () => {
    expect(isProxied("10.0.0.0/8", "db.test", 443, "10.1.1.1")).toBe(false);
    expect(isProxied("10.0.0.0/8", "db.test", 443, "93.184.216.34")).toBe(true);
  });

  test("each scheme has its own variable, small letters come first, and what is no proxy is refused", () => {
    const to = (env: Record<string, string>, scheme: "http:" | "https:") =>
      readProxies(env).to(scheme, "api.test", 443)?.host;
    expect(to({ HTTPS_PROXY: PROXY }, "http:")).toBeUndefined();
    expect(to({ HTTP_PROXY: "plain.test:80" }, "http:")).toBe("plain.test");
    expect(to({ HTTPS_PROXY: PROXY, https_proxy: "http://small.test" }, "https:")).toBe(
      "small.test",
    );
    const good = [PROXY, "proxy.test:3128", "https://a:b%40c@proxy.test", "http://[::1]:3128/"];
    expect(good.map(isProxy)).toEqual(good.map(() => true));
    const bad = ["socks5://proxy.test:1080", "http://", "http://proxy.test/path", "a b"];
    expect(bad.map(isProxy)).toEqual(bad.map(() => false));
  });
});

describe("a proxy that does not connect says so", () => {
  const open = (url: string, timeoutMs?: number) => {
    const proxy = readProxies({ HTTPS_PROXY: url }).to("https:", "api.test", 443);
    if (proxy === undefined) throw new Error("there is no proxy");
    return openTunnel(
      proxy,
      { host: "api.test", port: 443 },
      { signal, ...(timeoutMs && { timeoutMs }) },
    );
  };

  test("its name and password are sent, and what it says of them is told without them", async () => {
    const proxy = await startProxy(1, () => 407);
    const withLogin = proxy.url.replace("//", "//ana:s3cret%40word@");
    await expect(open(proxy.url)).rejects.toMatchObject({
      code: "CONNECTION_FAILED",
      message: `the proxy ${proxy.host} asks for a name and a password (407); write them into HTTPS_PROXY as http://name:password@${proxy.host}`,
    });
    await expect(open(withLogin)).rejects.toThrow(
      `the proxy ${proxy.host} does not take the name and the password in HTTPS_PROXY (407)`,
    );
    expect(proxy.asked).toEqual([
      { target: "api.test:443", credentials: undefined },
      { target: "api.test:443", credentials: "ana:s3cret@word" },
    ]);
  });

  test("a host that it does not allow, one that hangs, one that is away and one that is no proxy", async () => {
    const strict = await startProxy(1, () => 403);
    await expect(open(strict.url)).rejects.toThrow(
      `the proxy ${strict.host} does not connect to api.test:443 (403 Forbidden); have it allow that, or name the host in NO_PROXY`,
    );
    const silent = await startProxy(1, () => "silence");
    await expect(open(silent.url, 30)).rejects.toThrow(
      `the proxy ${silent.host} does not answer within 0.03 s; check HTTPS_PROXY`,
    );
    const closed = await closedPort();
    await expect(open(`http://127.0.0.1:${closed}`)).rejects.toThrow(
      `the proxy 127.0.0.1:${closed} refuses connections; check HTTPS_PROXY`,
    );
    const other = net.createServer((socket) => void socket.end("220 mail.test ESMTP\r\n"));
    await once(other.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    await expect(open(`http://127.0.0.1:${port}`)).rejects.toThrow(
      /does not speak HTTP; check HTTPS_PROXY$/,
    );
  });

  test("a call that is stopped ends at once", async () => {
    const silent = await startProxy(1, () => "silence");
    const proxy = readProxies({ HTTPS_PROXY: silent.url }).to("https:", "api.test", 443);
    const stopping = new AbortController();
    const opening =
      proxy && openTunnel(proxy, { host: "api.test", port: 443 }, { signal: stopping.signal });
    await expect.poll(() => silent.asked.length).toBe(1);
    stopping.abort();
    await expect(opening).rejects.toMatchObject({ code: "ABORTED" });
  });
});
