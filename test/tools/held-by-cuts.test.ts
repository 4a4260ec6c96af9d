import { mkdir, open, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, test } from "vitest";
import { createEncoder } from "../../src/security/encoder.ts";
import { createReadLog } from "../../src/tools/host/read-log.ts";
import { createRunCommand } from "../../src/tools/host/run-command.ts";
import { httpCheck } from "../../src/tools/network/http-check.ts";
import { findLines } from "../../src/tools/lines.ts";
import { tcpCheck } from "../../src/tools/network/tcp-check.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { hostContext, makeFolder } from "./host/context.ts";
import { listen, listenHttp, toolContext, runTool } from "./network/servers.ts";

/** 40 characters each; no issuer's shape, and no character of them in the texts around them. */
const VALUES = [
  "Zt9-qLw27_KfPz4RbNcTy83HmVdSa6EjUoGi1Qls",
  "m3Vb-Rj8_UwYk5Hs1PzQn7TdLfGo2EaCi9WxS4uJ",
];

/** The longest beginning or end of the value that the text shows. */
function edgeOf(value: string, text: string): number {
  for (let length = value.length; length > 0; length -= 1) {
    if (text.includes(value.slice(0, length)) || text.includes(value.slice(-length))) return length;
  }
  return 0;
}

const [VALUE = "", OTHER = ""] = VALUES;
const encoderOf = (value: string) => createEncoder([{ name: "APP_SECRET", value }]);
const hostOf = (value: string): ToolContext =>
  hostContext(undefined, AbortSignal.timeout(60_000), encoderOf(value));

describe("a held value at a cut", () => {
  test("of a program's output shows no more than four of its characters", async () => {
    const file = join(await makeFolder(), "out");
    const ctx = hostOf(VALUE);
    const tool = createRunCommand();
    for (const before of [1, 5, 20, 39]) {
      const half = 64 * 1024;
      const side = "#".repeat(300_000);
      for (const text of [
        "#".repeat(half - 40 + before) + VALUE + side,
        side + VALUE + "#".repeat(half - before),
      ]) {
        await writeFile(file, text);
        const args = tool.input.parse({ argv: ["/bin/cat", file] });
        const output = await tool.run(args, ctx);
        const shown = ctx.encoder.encode(output.text);
        expect(shown).toContain("bytes left out");
        expect(edgeOf(VALUE, shown)).toBeLessThanOrEqual(4);
      }
    }
  });

  test("of a program's output shows nothing where it goes on in the other stream", async () => {
    const ctx = hostOf(VALUE);
    const tool = createRunCommand();
    for (const [first, second] of [
      ["stdout", "stderr"],
      ["stderr", "stdout"],
    ] as const) {
      for (const at of [8, 20, 32]) {
        const halves = { [first]: `key=${VALUE.slice(0, at)}`, [second]: `${VALUE.slice(at)} end` };
        const script = `printf %s '${halves["stdout"]}'; printf %s '${halves["stderr"]}' >&2`;
        const args = tool.input.parse({ argv: ["/bin/sh", "-c", script] });
        const shown = ctx.encoder.encode((await tool.run(args, ctx)).text);
        expect(shown).toMatch(
          /key=\[secret:APP_SECRET\]\n[^]* end|end\n[^]*key=\[secret:APP_SECRET\]/,
        );
        expect(edgeOf(VALUE, shown)).toBeLessThanOrEqual(4);
      }
    }
    const args = tool.input.parse({ argv: ["/bin/sh", "-c", "echo password:; echo none >&2"] });
    expect((await tool.run(args, ctx)).text).toContain("password:\nStandard error:\nnone");
  });

  test("of a long line's parts in a log shows no more than four of its characters", async () => {
    const root = await makeFolder();
    const tool = createReadLog({ roots: [root] });
    const ctx = hostOf(VALUE);
    for (const size of [2_000, 65_536, 131_072, 196_608]) {
      for (const over of [0, 1, 20, 39, 40]) {
        const text = `start\n${"#".repeat(200_000)}${VALUE}${"#".repeat(size - over)}`;
        await writeFile(join(root, "a.log"), text);
        const output = await tool.run(tool.input.parse({ path: "a.log" }), ctx);
        const shown = ctx.encoder.encode(output.text);
        expect(edgeOf(VALUE, shown)).toBeLessThanOrEqual(4);
      }
    }
  });

  test("of a server's greeting shows no more than four of its characters", async () => {
    for (const before of [217, 240, 255, 300]) {
      const greeting = `${"#".repeat(before)}${VALUE}###\n`;
      const port = await listen(createServer((socket) => socket.end(greeting)));
      const ctx = toolContext({ encoder: encoderOf(VALUE) });
      const args = tcpCheck.input.parse({ host: "127.0.0.1", port });
      const { text } = await tcpCheck.run(args, ctx);
      expect(text).toContain("####");
      expect(edgeOf(VALUE, ctx.encoder.encode(text))).toBeLessThanOrEqual(4);
    }
  });
});

describe("no question about a text can be answered by the secret in it", () => {
  const character = fc.constantFrom("[A-M]", "[N-Z]", "[a-m]", "\\d", "Z", "m", ".", "[^Z]", "3|Z");
  const pattern = fc.oneof(
    fc.tuple(fc.nat({ max: 8 }), character).map(([n, one]) => `key=${".".repeat(n)}(${one})`),
    fc.tuple(character, character).map(([a, b]) => `${a}.*${b}.* host`),
    fc.tuple(character, character).map(([a, b]) => `(key=${a})|(\\[secret:${b}?.*)`),
    fc.constantFrom("key=\\[secret", "APP_SECRET", "^.{60,70}$", "Zt9", "KEY-LINE|\\d{4}"),
  );

  test("by grep of a log", async () => {
    const folder = await makeFolder();
    const [one, two] = VALUES.map((value) => ({ root: join(folder, value.slice(0, 3)), value }));
    for (const { root, value } of [one, two].filter((each) => each !== undefined)) {
      await mkdir(root);
      await writeFile(
        join(root, "a.log"),
        `start\nconnect user=app key=${value} host=db\nready\n${value.slice(0, 20)}\n${value.slice(20)}\nend\n`,
      );
    }
    const ask = async (value: string, grep: string): Promise<string> => {
      const root = join(folder, value.slice(0, 3));
      const tool = createReadLog({ roots: [root] });
      const args = tool.input.parse({ path: "a.log", grep, lines: 5 });
      const { text } = await tool.run(args, hostOf(value));
      return text.replaceAll(root, "ROOT");
    };
    await fc.assert(
      fc.asyncProperty(pattern, async (grep) => {
        expect(await ask(VALUE, grep)).toBe(await ask(OTHER, grep));
      }),
      { numRuns: 4, seed: 1 },
    );
    expect(await ask(VALUE, "key=\\[secret:APP")).toContain("1 lines of");
    // The same without a thread for each search, so more often.
    const find = async (value: string, grep: string): Promise<unknown> => {
      const file = await open(join(folder, value.slice(0, 3), "a.log"));
      const { size: bytes } = await file.stat();
      const matches = (line: string) => RE2JS.compile(grep).test(line);
      const options = { encoder: encoderOf(value), matches };
      try {
        return await findLines({ fd: file.fd, bytes }, 5, options);
      } finally {
        await file.close();
      }
    };
    await fc.assert(
      fc.asyncProperty(pattern, async (grep) => {
        expect(await find(VALUE, grep)).toEqual(await find(OTHER, grep));
      }),
      { numRuns: 60, seed: 2 },
    );
  }, 60_000);

  test("by what a page must contain", async () => {
    const ask = async (value: string, contains: string): Promise<string> => {
      const port = await listenHttp((_request, response) => response.end(`config key=${value}\n`));
      const args = { url: `http://127.0.0.1:${port}/`, contains };
      const text = await runTool(httpCheck, args, toolContext({ encoder: encoderOf(value) }));
      return text.split(" in ")[0] + String(text.includes("does not contain"));
    };
    for (const contains of ["key=Z", "key=Zt9", "key=m", "Qls", VALUE, OTHER, "key=[secret:"]) {
      expect(await ask(VALUE, contains)).toBe(await ask(OTHER, contains));
    }
    expect(await ask(VALUE, "key=[secret:")).toContain("false");
  });
});
