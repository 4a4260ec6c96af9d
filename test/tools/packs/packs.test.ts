import { chmod, readFile, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openPacks } from "../../../src/tools/packs/folder.ts";
import { ambiguities, readSaid } from "../../../src/tools/say.ts";
import { listening, SECRET } from "../http-parts.ts";
import { folder, open, use, variable, write, freshFolder } from "./folder.ts";

freshFolder();

const tool = (lines: string) => `tools:
  shop_queue:
    description: A queue of the shop.
    effect: read
${lines
  .split("\n")
  .map((line) => `    ${line}`)
  .join("\n")}
`;

describe("mistakes name file, line, column and what to write", () => {
  test.each([
    [
      "tools:\n  a:\n    effect: read\n    http: { get: https://x.example/ }",
      2,
      3,
      "description is required",
    ],
    [
      "tools:\n  a: { description: x, http: { get: https://x.example/ } }",
      2,
      3,
      "effect is required",
    ],
    ["tools:\n  Shop: { description: x }", 2, 3, "Invalid key"],
    ["tools:\n  a: { description: x, effect: none }", 2, 24, "read"],
    [tool("htpp: { get: https://x.example/ }"), 5, 5, "did you mean http"],
    [tool("args: {}"), 2, 3, "expected http or run"],
    [tool('http: { get: "https://{{host}}/" }'), 5, 13, "scheme, host and port are fixed"],
    [tool('http: { get: "https://x.example/{{q}}" }'), 5, 13, "{{q}} is unknown"],
    [tool("args: { q: string }\nhttp: { get: 'https://x.example/{q}' }"), 6, 13, "two braces"],
    [
      tool("args: { q: { optional: true } }\nhttp: { get: 'https://x.example/{{q}}' }"),
      6,
      13,
      "give it a default",
    ],
    [tool("http: { get: https://x.example/, headers: { Authorization: x } }"), 5, 49, "credential"],
    [tool("http: { get: https://x.example/, json: { a: 1 } }"), 5, 13, "takes no body"],
    [
      tool("http: { get: https://x.example/, credential: { bearer: NOT_SET } }"),
      2,
      3,
      "NOT_SET is not set",
    ],
    [
      tool("args: { q: string }\nrun: [env, sh, -ec, 'ls {{q}}']"),
      6,
      25,
      "as a part of the program",
    ],
    [tool("run: [ls]").replace("shop_queue", "use_tool"), 2, 3, "a tool of this name already"],
    [tool("run: [ls]\nsay: [undo everything]"), 6, 11, "begins a command of the program's own"],
    [tool("run: [ls]\nsay: [mcp everything]"), 6, 11, "begins a command of the program's own"],
    [tool("http: { base: NOT_SET, get: / }"), 2, 3, "NOT_SET holds no http"],
    [
      tool("http: { get: https://x.example/ }\npick: depth < 100"),
      6,
      5,
      "stands in backticks: `100`",
    ],
    [
      tool(
        "http: { get: https://x.example/ }\nverify: { http: { get: https://x.example/ }, condition: a }",
      ),
      6,
      5,
      "a read changes nothing",
    ],
    [
      tool("args: { q: { pattern: '(?=a)' } }\nhttp: { get: https://x.example/ }"),
      5,
      13,
      "no RE2 expression",
    ],
    [tool("args: { host: string }\nhttp: { get: https://x.example/ }"), 5, 13, "choose another"],
    [
      tool("args: { n: { type: integer, max: 3, default: 4 } }\nrun: [ls]"),
      5,
      13,
      "no value that it takes",
    ],
    [tool("run: [ls -l]"), 5, 5, "there is no shell"],
    [tool("run: [./x]"), 5, 5, "relative path"],
    [tool("args: { p: string }\nrun: ['{{p}}']"), 6, 5, "no argument chooses it"],
    [tool("run: [ls]\nsay: [stop all]"), 6, 11, "stop begins a command"],
    [tool("run: [ls]\nargs: { q: string }\nsay: [queue]"), 7, 11, "does not say {{q}}"],
    [tool("run: [ls]\nsay: [list it, list it]"), 6, 11, 'could also mean "list it"'],
    [tool("http: { get: https://x.example/{{q}} }"), 5, 36, "put quotes around a text with {{…}}"],
    ["tools: { a: { description: x, effect: read, run: [ls] }, a: {} }", 1, 58, "twice"],
  ])("%#: %s", async (yaml, line, column, text) => {
    const { problems, tools } = await open(yaml);
    expect(tools).toEqual([]);
    expect(problems.join("\n")).toContain(text);
    expect(problems.join("\n")).toContain(`shop.yaml:${line}:${column}: `);
    expect(problems[0]).toContain("its tools are not offered");
  });

  test("a name that is taken, an undo of nothing, and what everybody can change are refused", async () => {
    const pack = tool("run: [ls]");
    const [taken] = (await open(pack)).tools;
    expect((await open(pack, taken ? [taken] : [])).problems[0]).toContain("of this name already");
    const undo = pack.replace("effect: read", "effect: write\n    undo: { tool: shop_undo }");
    expect((await open(undo)).problems[0]).toContain("there is no tool shop_undo");
    await chmod(join(folder, "shop.yaml"), 0o666);
    const packs = openPacks([folder], variable);
    await packs.refresh([]);
    expect(packs.problems[0]).toContain("everybody can change this file");
    await chmod(folder, 0o777);
    await packs.refresh([]);
    expect(packs.problems).toEqual([
      expect.stringContaining("everybody can write into this folder"),
    ]);
    expect(packs.tools).toEqual([]);
  });
});

describe("whatever an argument holds, it stays the value that it is", () => {
  const HOSTILE = [
    "a/b",
    "a?x=1#y",
    "..%2f..",
    "a&admin=1",
    'a","admin":true,"b":"',
    "a b+c",
    "é€",
  ];

  test.each(HOSTILE)("in path, query, header, form and JSON: %s", async (value) => {
    const server = await listening((_, response) => response.end("{}"));
    const { call } = await use(`tools:
  put:
    description: Puts.
    effect: write
    args: { q: string }
    http:
      put: ${server.origin}/base/{{q}}/end
      query: { q: "{{q}}", fixed: 1 }
      json: { q: "{{q}}", text: "<{{q}}>" }
  form:
    description: Posts.
    effect: write
    args: { q: string }
    http: { post: ${server.origin}/form, form: { q: "{{q}}" } }
`);
    const put = await call("put", { q: value });
    expect((await call("form", { q: value })).outcome).toBe("ok");
    if (put.outcome !== "ok") {
      // A step up is refused before anything is sent.
      expect([value, put.text]).toEqual(["..%2f..", expect.stringContaining("does not lead to")]);
    }
    for (const { method, url, body } of server.asked) {
      const { pathname, searchParams } = new URL(url, server.origin);
      if (method === "PUT") {
        expect(pathname.split("/").map(decodeURIComponent)).toEqual(["", "base", value, "end"]);
        expect(Object.fromEntries(searchParams)).toEqual({ q: value, fixed: "1" });
        expect(JSON.parse(body)).toEqual({ q: value, text: `<${value}>` });
      } else expect(Object.fromEntries(new URLSearchParams(body))).toEqual({ q: value });
    }
  });

  test.each(["..", ".", "a\r\nX-Admin: 1", "a\0b", "\ud800", ""])(
    "is refused: %j",
    async (value) => {
      const server = await listening();
      const { call } = await use(
        tool(
          `args: { q: string }\nhttp: { get: "${server.origin}/base/{{q}}", headers: { x-q: "{{q}}" } }`,
        ),
      );
      await expect(call("shop_queue", { q: value })).rejects.toThrow(/\bq\b/);
      expect(server.asked).toEqual([]);
    },
  );

  test("one item of argv stays one argument, and none becomes an option", async () => {
    const { call, dispatcher, signal } = await use(`tools:
  show:
    description: Shows.
    effect: read
    args: { q: string, n: { type: integer, optional: true, mayBeginWithDash: true } }
    run: [printf, "[%s]", "{{q}}", "--n={{q}}", "{{n}}"]
`);
    for (const q of ["a b; echo x", "$(id)", "`id`", "a'b\"c", "*"])
      expect((await call("show", { q, n: -3 })).text).toBe(`web-1 · [${q}][--n=${q}][-3]`);
    await expect(dispatcher.prepare("show", { q: "-x" }, signal)).rejects.toThrow("for an option");
  });

  test("a condition takes a value for a value, whatever it holds", async () => {
    const server = await listening((_, response) => response.end('{"state":"bad`x","n":3}'));
    const { dispatcher, signal } = await use(`tools:
  act:
    description: Acts.
    effect: write
    args: { q: string }
    http: { post: ${server.origin}/ }
    precheck:
      http: { get: ${server.origin}/ }
      condition: state == {{q}}
      otherwise: "The state is not {{q}}."
`);
    const ask = (q: string) => dispatcher.prepare("act", { q }, signal);
    await expect(ask("bad`x")).resolves.toMatchObject({ effect: "write" });
    await expect(ask("`true` || `true")).rejects.toThrow("The state is not `true` || `true.");
  });
});

describe("a change", () => {
  const settings = { workers: 4 };
  const pack = (origin: string, after = "") => `tools:
  workers:
    description: Sets the workers.
    effect: write
    args: { count: { type: integer, min: 1 } }
    http: { put: ${origin}/settings, json: { workers: "{{count}}" }, credential: { bearer: SHOP_TOKEN } }
    capture: { http: { get: ${origin}/settings }, values: { count: workers } }
    preview: { text: "{{captured.count}} → {{count}}", blastRadius: Orders wait. }
    verify: { http: { get: ${origin}/settings }, condition: "workers == {{count}}"${after} }
    undo: { tool: workers, args: { count: "{{captured.count}}" }, expects: { count: "{{count}}" } }
`;

  async function shop(after?: string) {
    settings.workers = 4;
    const server = await listening((request, response) => {
      const { body } = server.asked.at(-1) ?? { body: "" };
      if (request.method === "PUT") Object.assign(settings, JSON.parse(body));
      response.end(JSON.stringify(settings));
    });
    return { server, ...(await use(pack(server.origin, after))) };
  }

  test("shows the very request, sends its credential, is read back and knows its reverse", async () => {
    const { server, dispatcher, signal, call } = await shop();
    const prepared = await dispatcher.prepare("workers", { count: 8 }, signal);
    expect(prepared.args).toEqual({ count: 8, captured: { count: 4 } });
    expect(await dispatcher.preview(prepared, signal)).toEqual({
      filled: ["captured"],
      lines: [
        { label: "What it does", value: "4 → 8" },
        { label: "Request", value: `PUT ${server.origin}/settings` },
        { label: "Sends", value: '{"workers":8}' },
      ],
      blastRadius: "Orders wait.",
      undo: 'Can be undone: workers {"count":4}',
    });
    const { outcome, text, undo } = await call("workers", { count: 8 });
    expect([outcome, undo, text]).toEqual([
      "ok",
      { tool: "workers", args: { count: 4, captured: { count: 8 } } },
      "workers: 8\nVerified: workers == 8 is true (workers: 8)",
    ]);
    expect(server.asked.find(({ method }) => method === "PUT")?.headers.authorization).toBe(
      `Bearer ${SECRET}`,
    );
  });

  test("is taken back, unless the world is not as it was left", async () => {
    const { dispatcher, signal, call } = await shop();
    const { undo = { tool: "", args: {} } } = await call("workers", { count: 8 });
    const takeBack = () => dispatcher.prepare(undo.tool, undo.args, signal, { by: "bot" });
    settings.workers = 9;
    await expect(takeBack()).rejects.toThrow('It was {"count":8}');
    settings.workers = 8;
    expect((await takeBack()).args).toEqual(undo.args);
  });

  test("is refused once the world or the pack is another than on its card", async () => {
    const { dispatcher, signal, server } = await shop();
    const { args, digest } = await dispatcher.prepare("workers", { count: 8 }, signal);
    expect(await dispatcher.revalidate("workers", args, digest, signal)).toBeUndefined();
    settings.workers = 5;
    expect(await dispatcher.revalidate("workers", args, digest, signal)).toContain(
      'It was {"count":4} when this was asked, and is {"count":5} now.',
    );
    settings.workers = 4;
    const changed = await use(pack(server.origin).replace("Orders wait.", "All is fine."));
    expect(await changed.dispatcher.revalidate("workers", args, digest, signal)).toContain(
      "changed since it was shown",
    );
  });

  test("what is done stays done, however much is answered and in whatever form", async () => {
    for (const answer of [`"${"x".repeat(300_000)}"`, '{"a":1}']) {
      const server = await listening((_, response) => response.end(answer));
      const { call } = await use(
        tool(`http: { post: "${server.origin}/" }\npick: "length(a)"`).replace(
          "effect: read",
          "effect: write",
        ),
      );
      expect(await call("shop_queue", {})).toMatchObject({
        outcome: "ok",
        text: expect.stringContaining("Done."),
      });
    }
  });

  test("a server that failed leaves it unknown, an answer that says no does not", async () => {
    for (const [status, outcome] of [
      [500, "unknown"],
      [502, "unknown"],
      [409, "error"],
    ] as const) {
      const server = await listening((_, response) => response.writeHead(status).end("no"));
      const { call } = await use(
        tool(`http: { post: "${server.origin}/" }`).replace("effect: read", "effect: write"),
      );
      expect(await call("shop_queue", {})).toMatchObject({ outcome });
    }
  });
});

describe("what is picked", () => {
  test.each([
    ["pick: 'items[].{a: name, b: state}'", "a  b\nx  ok\ny  bad"],
    ["pick: items[0]", "name: x\nstate: ok"],
    ["pick: items[].state", "ok\nbad"],
    ["pick: nothing", "Nothing was found."],
    ["pick: { lines: state }", '{"items":[{"name":"x","state":"ok"},{"name":"y","state":"bad"}]}'],
  ])("%s", async (pick, text) => {
    const items = [
      { name: "x", state: "ok" },
      { name: "y", state: "bad" },
    ];
    const server = await listening((_, response) => response.end(JSON.stringify({ items })));
    const { call } = await use(tool(`http: { get: ${server.origin}/ }\n${pick}`));
    expect((await call("shop_queue", {})).text).toBe(text);
  });

  test("no condition and no table is about a secret", async () => {
    const server = await listening((_, response) => response.end(JSON.stringify({ key: SECRET })));
    const { call } = await use(
      tool(
        `http: { get: "${server.origin}/", credential: { bearer: SHOP_TOKEN } }\npick: "contains(key, '${SECRET.slice(0, 6)}')"`,
      ),
    );
    expect((await call("shop_queue", {})).text).toBe("false");
  });
});

describe("phrases", () => {
  const PACK = `tools:
  restart:
    description: Restarts.
    effect: write
    args: { service: [web, jobs], wait: { type: duration, default: 10s } }
    say: ["restart {{service}}", "restart {{service}} after {{wait}}"]
    run: [true, "{{service}}", "{{wait}}"]
`;

  test.each([
    ["restart web", { service: "web" }],
    [" Restart WEB?", undefined],
    ["Restart jobs!", { service: "jobs" }],
    ["/restart 'web' after 30s", { service: "web", wait: "30s" }],
    ["restart web after never", undefined],
    ["restart web please", undefined],
    ["restart nginx", undefined],
    ['restart "web', undefined],
  ])("%s", async (text, args) => {
    const { tools } = await open(PACK.replaceAll("true", '"true"'));
    expect(readSaid(text, tools)).toEqual(args && { tool: "restart", args });
  });

  test("two that one text could say are a mistake, two that differ by their choices are none", async () => {
    const other = PACK.replaceAll("true", '"true"').replace("restart:", "reload:");
    const { tools } = await open(PACK.replaceAll("true", '"true"'));
    await write(other, "z.yaml");
    const packs = openPacks([folder], variable);
    await packs.refresh([]);
    expect(packs.tools.map(({ name }) => name)).toEqual(["restart"]);
    expect(packs.problems[0]).toMatch(/z\.yaml:6:11: .*"restart \{\{service\}\}" of restart/);
    expect(ambiguities(tools)).toEqual([]);
    await write(other.replaceAll("[web, jobs]", "[db]"), "z.yaml");
    await packs.refresh([]);
    expect(packs.problems).toEqual([]);
  });
});

test("a file that cannot be read hides no other", async () => {
  await symlink("/nowhere", join(folder, "a.yaml"));
  const packs = await open(tool("run: [ls]"));
  expect(packs.tools).toHaveLength(1);
  expect(packs.problems).toEqual([expect.stringContaining("a.yaml: there is no such file")]);
});

test("a folder is read again: what broke stays what it was, what is gone is gone", async () => {
  const packs = await open(tool("run: [ls]"));
  const [first] = packs.tools;
  expect(await packs.refresh([])).toBe(false);
  await write(tool("rn: [ls]"));
  expect(await packs.refresh([])).toBe(false);
  expect(packs.tools).toEqual([first]);
  expect(packs.problems[0]).toContain("what it was before stays in use");
  await write(tool("run: [ls, -l]"));
  expect(await packs.refresh([])).toBe(true);
  expect(packs.problems).toEqual([]);
  expect(packs.tools[0]?.version).not.toBe(first?.version);
  await rm(join(folder, "shop.yaml"));
  expect(await packs.refresh([])).toBe(true);
  expect(packs.tools).toEqual([]);
});

test("the packs that come with the program, and the page's example, have no mistake", async () => {
  const shipped = openPacks(["packs"], () => "http://shop.example");
  await shipped.refresh([]);
  expect([shipped.problems, shipped.tools.map(({ name }) => name)]).toEqual([
    [],
    ["shop_orders", "top_processes", "shop_workers"],
  ]);
  const [, example = ""] =
    /```yaml\n([^]*?)```/.exec(await readFile("docs/packs.md", "utf8")) ?? [];
  expect((await open(example)).problems).toEqual([]);
});
