import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { httpCheck } from "../../../src/tools/network/http-check.ts";
import { conclusion, listenHttp, listenRaw, runTool, toolContext } from "./servers.ts";

function check(args: Record<string, unknown>): Promise<string> {
  return runTool(httpCheck, args, toolContext());
}

/** Asks a server that writes `bytes` and hangs up. */
async function answered(bytes: string | Buffer, contains?: string): Promise<string> {
  const port = await listenRaw((socket) => socket.end(bytes));
  return check({ url: `http://127.0.0.1:${port}/`, contains });
}

describe("an answer", () => {
  it("is UP with its status, address, times, telling headers and the beginning of its body", async () => {
    const port = await listenHttp((_, response) => {
      response.writeHead(200, {
        server: "nginx/1.25.3",
        "content-type": "text/plain",
        "set-cookie": "session=c00kie",
        "www-authenticate": "Basic realm=hidden",
        "x-internal": "hidden",
      });
      response.end("all good\nreally");
    });
    const text = await check({ url: `http://localhost:${port}/health?deep=1#part` });
    expect(conclusion(text)).toMatch(/^UP: 200 OK in [\d.]+ m?s$/);
    expect(text).toContain(`GET http://localhost:${port}/health?deep=1 → 200 OK`);
    expect(text).toContain(`address: 127.0.0.1:${port}`);
    expect(text).toMatch(/times: DNS .+ ms, connect .+ ms, first byte .+ ms, total .+ ms/);
    expect(text).toContain("server: nginx/1.25.3");
    expect(text).toContain("body: 15 bytes:\n     | all good\n     | really");
    expect(text).not.toMatch(/c00kie|hidden|#part/);
  });

  it("that is a page is told by its words, and nothing is said twice", async () => {
    const words = "<title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1>";
    const page = `<html><head><style>h1 { color: red }</style>${words}<hr>nginx/1.22.1</body>`;
    const port = await listenHttp((_, response) => {
      const headers = { "content-type": "text/html; charset=utf-8", "content-length": page.length };
      response.writeHead(502, headers).end(page);
    });
    const text = await check({ url: `http://127.0.0.1:${port}/` });
    expect(text).toMatch(/body: \d+ bytes:\n {5}\| 502 Bad Gateway\n {5}\| nginx\/1\.22\.1$/);
    expect(text).not.toMatch(/address:|content-length|color/);
  });

  it("is asked for by a request that names itself, closes, and holds nothing else", async () => {
    const seen: unknown[] = [];
    const port = await listenHttp((request, response) => {
      seen.push(request.method, request.url, request.headers);
      response.end();
    });
    await check({ url: `http://localhost:${port}/a%20b?c=d#e`, method: "HEAD" });
    expect(seen).toEqual([
      "HEAD",
      "/a%20b?c=d",
      {
        host: `localhost:${port}`,
        "user-agent": "watchkeeper",
        accept: "*/*",
        "accept-encoding": "gzip, br",
        connection: "close",
      },
    ]);
  });

  it.each([400, 404, 500, 503])("of status %d is UNHEALTHY", async (status) => {
    const port = await listenHttp((_, response) => response.writeHead(status).end("why"));
    const text = await check({ url: `http://127.0.0.1:${port}/` });
    expect(conclusion(text)).toMatch(new RegExp(`^UNHEALTHY: ${status} .+ in`));
    expect(text).toContain("| why");
  });

  it("is judged by the status and the text that were expected", async () => {
    const port = await listenHttp((_, response) => response.writeHead(404).end("nothing here"));
    const url = `http://127.0.0.1:${port}/`;
    expect(await check({ url, expectStatus: 404, contains: "here" })).toMatch(/^UP: 404 Not Found/);
    expect(conclusion(await check({ url, expectStatus: 204, contains: "there" }))).toMatch(
      /^UNHEALTHY: 404 Not Found in .+, but status 204 was expected; the body does not contain "there"$/,
    );
  });

  it.each([
    ["gzip", gzipSync("<h1>Grüße</h1>")],
    ["br", brotliCompressSync("<h1>Grüße</h1>")],
  ])("in %s is decoded before it is searched and shown", async (encoding, bytes) => {
    const port = await listenHttp((_, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(bytes);
    });
    const text = await check({ url: `http://127.0.0.1:${port}/`, contains: "Grüße" });
    expect(text).toMatch(/^UP: /);
    expect(text).toContain(`body: ${bytes.length} bytes, ${encoding}:\n     | <h1>Grüße</h1>`);
  });

  it("is read in the charset it names, and binary is not shown", async () => {
    const latin = Buffer.from(
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=latin1\r\n\r\nGr\xfc\xdfe",
      "latin1",
    );
    expect(await answered(latin)).toContain("| Grüße");
    expect(await answered("HTTP/1.1 200 OK\r\n\r\nP\0NG")).toContain("4 bytes; binary, not shown");
  });

  it("cannot pass its own text off as the report's", async () => {
    const text = await answered(
      "HTTP/1.1 200 \x1b[2JOK\r\nServer: a\tb\x9b31m\r\n\r\n\x1b[1mUP\rUP: 200 OK\r\n\u202eevil",
    );
    expect(text.match(/^UP: /gm)).toHaveLength(1);
    expect(text).toContain("| UP: 200 OK");
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

describe("a server that misbehaves", () => {
  it.each([
    ["hangs up without a word", "", "DOWN: 127.0.0.1:PORT closed the connection without an answer"],
    [
      "cuts its headers",
      "HTTP/1.1 200 OK\r\nContent-Ty",
      "DOWN: 127.0.0.1:PORT closed the connection in the middle of the headers",
    ],
    [
      "speaks SSH",
      "SSH-2.0-OpenSSH_9.2p1\r\n",
      "DOWN: 127.0.0.1:PORT answers, but not in HTTP: SSH-2.0-OpenSSH_9.2p1",
    ],
    [
      "sends bytes",
      "\x00\x01\x02",
      "DOWN: 127.0.0.1:PORT answers, but not in HTTP: \\x00\\x01\\x02",
    ],
    [
      "speaks TLS",
      "\x15\x03\x03\x00\x02\x02\x16",
      "DOWN: 127.0.0.1:PORT speaks TLS, not plain HTTP: try https",
    ],
    [
      "has no body length that is one",
      "HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n",
      "DOWN: 127.0.0.1:PORT sends broken HTTP: Invalid character in Content-Length",
    ],
    [
      "sends two body lengths",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "DOWN: 127.0.0.1:PORT sends broken HTTP: Transfer-Encoding can't be present with Content-Length",
    ],
    [
      "switches protocols unasked",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
      "DOWN: no answer from 127.0.0.1:PORT: 101 came, to speak another protocol than HTTP",
    ],
    [
      "sends less than promised",
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc",
      "UNHEALTHY: 200 OK in TIME, but the body was cut off after 3 of 100 bytes",
    ],
    [
      "sends more than promised",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabcdef",
      "UNHEALTHY: 200 OK in TIME, but more follows after the body's 2 of 2 bytes",
    ],
    [
      "breaks its chunks",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n",
      "UNHEALTHY: 200 OK in TIME, but the body is broken HTTP after 3 bytes: Invalid character in chunk size",
    ],
    [
      "calls plain text gzip",
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nplain",
      "UNHEALTHY: 200 OK in TIME, but its gzip encoding is broken (incorrect header check)",
    ],
  ])("and %s gets a conclusion that says so", async (_, bytes, expected) => {
    const text = await answered(Buffer.from(bytes, "latin1"));
    const masked = conclusion(text)
      .replace(/127\.0\.0\.1:\d+/, "127.0.0.1:PORT")
      .replace(/in [\d.]+ ms/, "in TIME");
    expect(masked).toBe(expected);
  });

  it("and resets the connection is DOWN", async () => {
    const port = await listenRaw((socket) => socket.resetAndDestroy());
    expect(await check({ url: `http://127.0.0.1:${port}/` })).toContain(
      "closed the connection without an answer",
    );
  });

  it("and sends headers without end is cut off at Node's limit", async () => {
    const port = await listenRaw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${"x-filler: 0123456789abcdef\r\n".repeat(2_000)}`);
    });
    expect(await check({ url: `http://127.0.0.1:${port}/` })).toMatch(
      /^DOWN: .+ sends headers of more than 16 KiB$/m,
    );
  });

  it("and sends a body without end is read up to 256 KiB", async () => {
    const port = await listenRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const more = () => {
        while (socket.writable && socket.write("spam".repeat(4_096)));
        socket.once("drain", more);
      };
      more();
    });
    const text = await check({ url: `http://127.0.0.1:${port}/`, contains: "ham" });
    expect(conclusion(text)).toMatch(
      /^UNHEALTHY: .+ but the part of the body that was read does not contain "ham"$/,
    );
    expect(text).toContain("body: over 256 KiB, reading stopped there; it begins:");
    expect(text.length).toBeLessThan(3_000);
  });

  it("and sends a compression bomb is decoded within caps of size and ratio", async () => {
    const bomb = (size: number) => gzipSync(`${"0".repeat(size)}end`);
    const head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    const large = await answered(Buffer.concat([Buffer.from(head), bomb(64 * 1024 * 1024)]));
    expect(large).toContain("gzip, decoding stopped at 256 KiB; it begins:");
    const dense = await answered(Buffer.concat([Buffer.from(head), bomb(200 * 1024)]), "end");
    expect(dense).toContain("gzip, decoding stopped: it expands more than 100-fold; it begins:");
    expect(dense).toContain('the part of the body that was read does not contain "end"');
  });

  it.each([
    ["never answers", "", "did not answer within 0.25 s"],
    [
      "does not end its headers",
      "HTTP/1.1 200 OK\r\nServer: slo",
      "its headers did not end within 0.25 s",
    ],
    [
      "does not end its early hints",
      "HTTP/1.1 103 Early Hints\r\n\r\n",
      "its headers did not end within 0.25 s",
    ],
    [
      "does not end its body",
      "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
      "the body did not end within 0.25 s (3 of 9 bytes came)",
    ],
  ])("and %s is given up on in time", async (_, bytes, words) => {
    const port = await listenRaw((socket) => socket.write(bytes));
    const started = performance.now();
    const text = await check({ url: `http://127.0.0.1:${port}/`, timeoutSeconds: 0.25 });
    expect(conclusion(text)).toMatch(/^(DOWN|UNHEALTHY): /);
    expect(conclusion(text)).toContain(words);
    expect(performance.now() - started).toBeLessThan(8_000);
  });
});
