import http from "node:http";
import https from "node:https";
import net from "node:net";
import tls from "node:tls";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { httpCheck } from "../../../src/tools/network/http-check.ts";
import { tcpCheck } from "../../../src/tools/network/tcp-check.ts";
import {
  conclusion,
  identity,
  listen,
  listenHttp,
  listenHttps,
  pem,
  runTool,
  toolContext,
  type Certificate,
} from "./servers.ts";

/** Both tools' reports on the same server. */
async function both(
  port: number,
  { host = "localhost", timeoutSeconds = 5 } = {},
): Promise<{ http: string; tcp: string }> {
  const ctx = toolContext();
  return {
    http: await runTool(httpCheck, { url: `https://${host}:${port}/`, timeoutSeconds }, ctx),
    tcp: await runTool(tcpCheck, { host, port, tls: true, timeoutSeconds }, ctx),
  };
}

/** A server that gives everyone the same answer, unasked, so that a check for a greeting has not to wait. */
function serve(certificate: Certificate): Promise<number> {
  const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  return listen(tls.createServer(identity(certificate), (socket) => socket.resume().end(answer)));
}

const trusted = tls.getCACertificates("default");

beforeAll(() => tls.setDefaultCACertificates([...trusted, pem("authority")]));
afterAll(() => tls.setDefaultCACertificates(trusted));

describe("a certificate", () => {
  it.each(["localhost", "127.0.0.1"])(
    "that is trusted for %s is told with its names and days",
    async (host) => {
      const reports = await both(await serve("valid"), { host });
      expect(conclusion(reports.http)).toMatch(/^UP: 200 OK in [^,]+$/);
      expect(conclusion(reports.tcp)).toMatch(/^OPEN: .+ accepts connections and speaks TLSv1\.3$/);
      for (const report of Object.values(reports)) {
        expect(report).toMatch(/times: .*TLSv1\.3 [\d.]+ ms/);
        expect(report).toContain(
          "certificate: CN=localhost, issued by CN=Watchkeeper test authority",
        );
        expect(report).toMatch(
          /for localhost, 127\.0\.0\.1; 2020-01-01 to 2120-01-01, \d{5} days left; trusted$/m,
        );
      }
    },
  );

  it.each<[Certificate, RegExp]>([
    ["expired", /it expired \d+ days ago, on 2020-01-01$/],
    ["not-yet-valid", /it is not valid before 2119-01-01$/],
    ["other-name", /it is not for localhost$/],
    ["self-signed", /it is self-signed$/],
  ])("that is %s is diagnosed, not refused", async (certificate, words) => {
    const reports = await both(await serve(certificate));
    expect(conclusion(reports.http)).toMatch(
      /^UNHEALTHY: 200 OK in .+, but clients refuse the certificate of localhost:\d+: /,
    );
    expect(conclusion(reports.tcp)).toMatch(
      /^OPEN: .+ speaks TLSv1\.3, but clients refuse its certificate: /,
    );
    expect(conclusion(reports.http)).toMatch(words);
    expect(conclusion(reports.tcp)).toMatch(words);
    expect(reports.http).toContain("| ok");
  });

  it("that is not for an address is told so", async () => {
    const { http: report } = await both(await serve("other-name"), { host: "127.0.0.1" });
    expect(conclusion(report)).toMatch(/^UNHEALTHY: .+ it is not for 127\.0\.0\.1$/);
  });

  it("of an unknown authority is told apart from a self-signed one", async () => {
    tls.setDefaultCACertificates([]);
    onTestFinished(() => tls.setDefaultCACertificates([...trusted, pem("authority")]));
    const { http: report } = await both(await serve("valid"));
    expect(conclusion(report)).toMatch(
      /its issuer is unknown to this machine, or the server does not send the intermediate/,
    );
  });

  it("that expires within two weeks is warned of", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2119-12-25T12:00:00Z") });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const reports = await both(await serve("valid"));
    const warning = "the certificate of localhost expires in 6 days, on 2120-01-01";
    expect(reports.http).toMatch(new RegExp(`^${warning}\n\nUP: .+\n`));
    expect(conclusion(reports.tcp)).toMatch(new RegExp(`^OPEN: .+; ${warning}$`));
  });

  it("is asked for by name, and by no name at an address", async () => {
    const names: unknown[] = [];
    const server = https.createServer(identity("valid"), (_, response) => response.end());
    server.on("secureConnection", (socket: tls.TLSSocket) => names.push(socket.servername));
    const port = await listen(server);
    const dialing = { lookup: () => Promise.resolve(["127.0.0.1"]) };
    await runTool(httpCheck, { url: `https://localhost.:${port}/` }, toolContext({ dialing }));
    await runTool(httpCheck, { url: `https://127.0.0.1:${port}/` }, toolContext());
    expect(names).toEqual(["localhost", false]);
  });

  it("is shown for each hop, and a redirect to plain http is noted", async () => {
    const plain = await listenHttp((_, response) => response.end("plain"));
    const port = await listenHttps("valid", (_, response) => {
      response.writeHead(302, { location: `http://localhost:${plain}/` }).end();
    });
    const { http: report } = await both(port);
    expect(report).toMatch(
      /^http:\/\/localhost:\d+\/ is reached by a redirect from https to unencrypted http\n\nUP: .+\n/,
    );
    expect(report).toMatch(
      /1\. GET https:.+ → 302 Found\n(?: {3}.+\n)+ {3}certificate: CN=localhost/,
    );
  });
});

describe("a server that fails at TLS", () => {
  it.each<[string, () => net.Server, string, number?]>([
    [
      "speaks plain HTTP",
      () => http.createServer((_, response) => response.end()),
      "accepts connections, but does not speak TLS",
    ],
    [
      "greets as SSH",
      () => net.createServer((socket) => socket.write("SSH-2.0-OpenSSH_9.2p1\r\n")),
      "accepts connections, but does not speak TLS",
    ],
    [
      "hangs up",
      () => net.createServer((socket) => socket.end()),
      "accepts connections, but closes them during the TLS handshake",
    ],
    [
      "resets",
      () => net.createServer((socket) => socket.once("data", () => socket.resetAndDestroy())),
      "accepts connections, but closes them during the TLS handshake",
    ],
    [
      "has no cipher in common",
      () =>
        tls.createServer({ ...identity("valid"), ciphers: "AES128-SHA", maxVersion: "TLSv1.2" }),
      "accepts connections, but fails the TLS handshake: ",
    ],
    ["says nothing", () => net.createServer(), "the TLS handshake did not end within 2 s", 2],
  ])("because it %s is told so", async (_, server, words, timeoutSeconds = 5) => {
    const reports = await both(await listen(server()), { timeoutSeconds });
    expect(conclusion(reports.http)).toMatch(/^DOWN: 127\.0\.0\.1:\d+ accept/);
    expect(conclusion(reports.http)).toContain(words);
    expect(conclusion(reports.tcp)).toMatch(/^OPEN: localhost:\d+ accepts connections, but /);
    expect(conclusion(reports.tcp)).toContain(words.replace("accepts connections, but ", ""));
  });

  it("because it demands a client certificate does not hang the check", async () => {
    const demanding = https.createServer({
      ...identity("valid"),
      requestCert: true,
      rejectUnauthorized: true,
    });
    const { http: report } = await both(await listen(demanding));
    expect(conclusion(report)).toMatch(/^DOWN: /);
  });
});
