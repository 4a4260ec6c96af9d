import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createBackoff } from "../../../src/core/backoff.ts";
import type { JsonObject } from "../../../src/core/entry.ts";
import type { Journal } from "../../../src/journal/journal.ts";
import { openMemoryJournal } from "../../fakes/memory-journal.ts";
import { createNetwork } from "../../../src/net/dial.ts";
import { createEncoder } from "../../../src/security/encoder.ts";
import { createToolForms, TEAM_MCP } from "../../../src/team/tool-forms.ts";
import { createDispatcher } from "../../../src/tools/dispatch.ts";
import { openMcp } from "../../../src/tools/mcp/create.ts";
import { serverSettings } from "../../../src/tools/mcp/settings.ts";
import { createLaunch } from "../../../src/tools/process.ts";
import { NOTHING_LENT } from "../../../src/tools/registry.ts";
import { ASKER } from "../../fakes/asker.ts";
import { noWorld } from "../../fakes/tool-context.ts";
import { serveWeb } from "./web-server.ts";

const PLAYED = join(import.meta.dirname, "server.mjs");
const ALL = "say wipe die flood huge hang ask junk fail secret image".split(" ");
const ODD = [
  ..."env drift loop doubling promise heavy long list host gone".split(" "),
  "@everyone \u001b[2J",
];

/** What hangs is ended by the test's own limit. */
const { signal } = new AbortController();

interface Options {
  servers?: Record<string, object>;
  seeMs?: number;
  journal?: Journal;
}

/** A process of the program, as far as tools go. */
async function start({ servers, journal: given, seeMs = 60_000 }: Options = {}) {
  const journal = given ?? openMemoryJournal();
  const stopped = new AbortController();
  const forms = createToolForms(journal);
  const granted: Record<string, string> = Object.fromEntries(
    [...ALL, ...ODD].map((name) => [name, "read"]),
  );
  const played = { command: [process.execPath, PLAYED], tools: { ...granted, wipe: "write" } };
  const named = Object.entries(servers ?? { played }).map(([name, each]) => [
    name,
    serverSettings.parse(each),
  ]);
  const live = openMcp(
    Object.fromEntries(named),
    {
      ...NOTHING_LENT,
      forms: () => forms,
      launch: createLaunch(),
      network: () => createNetwork({ allow: [], local: false }),
      stopped: stopped.signal,
      variable: (name) => `value-of-${name}`,
    },
    { seeMs, waits: () => createBackoff(20, 20) },
  );
  await live.refresh([]);
  const tools = [...live.tools];
  const dispatcher = createDispatcher({
    ...noWorld,
    tools,
    host: "here",
    encoder: createEncoder([{ name: "TOKEN", value: "value-of-TOKEN" }]),
  });
  const images: Uint8Array[] = [];
  const run = async (tool: string, asked: JsonObject = {}) => {
    const { args } = await dispatcher.prepare(tool, asked, signal);
    return dispatcher.run(tool, args, {
      signal,
      startedAt: Date.now(),
      asker: ASKER,
      artifact: async () => new Uint8Array(),
      keep: async (bytes) => (images.push(bytes), { id: `${images.length}`, bytes: bytes.length }),
    });
  };
  const stop = () => stopped.abort();
  const refresh = async () => {
    const isOther = await live.refresh([]);
    tools.splice(0, tools.length, ...live.tools);
    return isOther;
  };
  return { journal, live, warnings: live.problems, tools, dispatcher, run, images, stop, refresh };
}

/** A process of its own for one test. */
async function started(options: Options = {}) {
  const process = await start(options);
  onTestFinished(async () => {
    process.stop();
    if (options.journal === undefined) await process.journal.close();
  });
  return process;
}

async function ownJournal() {
  const journal = openMemoryJournal();
  onTestFinished(() => journal.close());
  return journal;
}

/** One program for what leaves it whole. */
let shared: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  shared = await start();
});
afterAll(async () => {
  shared.stop();
  await shared.journal.close();
});

describe("a server that is a program", () => {
  test("its tools are those that the configuration names, by names and schemas of ours", async () => {
    const { tools, warnings, run } = shared;
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        "played_say",
        "played_wipe",
        "played_loop",
        "played_everyone_2_j",
        "mcp_status",
        "mcp_accept",
      ]),
    );
    expect(tools.find(({ name }) => name === "played_say")?.description).toBe(
      "[played] Says it. <!channel> @everyone",
    );
    expect(await run("played_say", { words: "aaa" })).toMatchObject({
      outcome: "ok",
      text: "here · aaa",
    });
    await expect(run("played_say", { words: "a".repeat(60) + "!" })).rejects.toThrow("pattern");
    await expect(run("played_say", { times: "many", word: 1 })).rejects.toThrow(
      /did you mean words[^]*times/,
    );
    const many = Array.from({ length: 5_000 }, (_, at) => at);
    await expect(run("played_heavy", { a: many })).rejects.toThrow("too many parts");
    await expect(run("played_promise", { n: "many" })).rejects.toThrow("n");
    expect(warnings.join("\n")).toMatch(
      /doubling cannot be offered: its schema has more than 3000 parts/,
    );
    expect(warnings.join("\n")).toMatch(/long cannot be offered: its schema has more than/);
    expect(warnings.join("\n")).toMatch(/list cannot be offered: its schema is not an object's/);
    expect(warnings.join("\n")).toMatch(/host cannot be offered/);
    expect(warnings.join("\n")).toMatch(/it has no tool gone/);
  });

  test.each<[string, string, RegExp]>([
    ["gets nothing of our environment", "env", /^here · HOME LANG PATH PWD$/],
    [
      "is told that there is no model, nobody to ask and no folder",
      "ask",
      /^here · -32601 -32601 -32601$/,
    ],
    ["may say that it failed", "fail", /no such thing/],
    [
      "hands out secrets' shapes, which are taken out",
      "secret",
      /^(?![^]*(?:c3VwZXItc2VjcmV0LTE|ghp_0123))[^]*\[secret:/,
    ],
  ])("%s", async (_, tool, said) => {
    const { run } = shared;
    expect((await run(`played_${tool}`)).text).toMatch(said);
  });

  test("its images are kept, its structure is told, what is neither is named", async () => {
    const { run, images } = shared;
    expect((await run("played_image")).text).toBe(
      'here · [audio/wav left out: only text and images are shown]\n{\n "level": 7\n}',
    );
    expect(images).toHaveLength(1);
  });

  test("status tells what it costs, what its hints say otherwise, and what is off", async () => {
    const { run } = shared;
    const { text } = await run("mcp_status");
    expect(text).toMatch(/^played: played 1.0.0 answers; \d+ of 22 tools on, about \d+ tokens/);
    expect(text).toContain("wipe: the server says read, the configuration write");
  });

  test("a change is shown with the server, its own word for it, and that there is no preview", async () => {
    const { dispatcher } = shared;
    const prepared = await dispatcher.prepare("played_wipe", {}, signal);
    expect(prepared).toMatchObject({ effect: "write", host: "here" });
    const { lines } = await dispatcher.preview(prepared, signal);
    expect(lines.map(({ label, value }) => `${label}: ${value}`)).toEqual([
      expect.stringMatching(/^MCP server: played: the program .*server.mjs$/),
      "Its tool: wipe",
      "It calls that: read (its own word, not checked)",
      "Preview: none: the server offers none",
    ]);
  });

  test.each<[string, string, string, RegExp]>([
    [
      "dies in a call",
      "die",
      "error",
      /ended before the answer\. played: it ended \(exit code 3\)/,
    ],
    ["floods", "flood", "error", /more than 8 MiB in one message/],
    ["answers with too much", "huge", "error", /more than 8 MiB in one message/],
    ["asks back for ever", "nag", "error", /asked for more than 100 things/],
    ["answers no result", "junk", "error", /longer than 2 s/],
  ])("that %s costs this call, and the next one works", async (_, tool, outcome, said) => {
    const { run } = await started({
      servers: {
        played: {
          command: [process.execPath, PLAYED],
          tools: { [tool]: "read", say: "read" },
          ...(tool === "junk" && { timeoutSeconds: 2 }),
        },
      },
    });
    const ended = await run(`played_${tool}`);
    expect(ended).toMatchObject({ outcome, text: expect.stringMatching(said) });
    await expect.poll(async () => (await run("played_say", { words: "a" })).outcome).toBe("ok");
  });

  test("a change whose server dies may have happened", async () => {
    const { run } = await started({
      servers: { played: { command: [process.execPath, PLAYED], tools: { die: "write" } } },
    });
    expect(await run("played_die")).toMatchObject({ outcome: "unknown" });
  });

  test("that never answers holds up nobody longer than was granted", async () => {
    const command = [process.execPath, PLAYED, "mute"];
    const { warnings, tools } = await started({
      seeMs: 300,
      servers: { mute: { command, tools: { say: "read" } } },
    });
    expect(warnings).toEqual([
      expect.stringMatching(/^mute: say cannot be offered. It took longer than 0.3 s/),
    ]);
    expect(tools.map(({ name }) => name)).toEqual(["mcp_status", "mcp_accept"]);
    const { run } = await started({
      servers: {
        played: {
          command: [process.execPath, PLAYED],
          tools: { hang: "write" },
          timeoutSeconds: 1,
        },
      },
    });
    expect(await run("played_hang")).toMatchObject({
      outcome: "unknown",
      text: expect.stringContaining("longer than 1 s"),
    });
  });
});

async function served(answers?: Parameters<typeof serveWeb>[0]) {
  const { methods: asked, ended, url } = await serveWeb(answers);
  const use = (effect: string, more: object = {}, options: Options = {}) =>
    started({
      ...options,
      servers: { web: { url, token: "TOKEN", tools: { go: effect }, ...more } },
    });
  return { asked, ended, use };
}

describe("a server over HTTP", () => {
  test("is asked over our own connections, once for all calls", async () => {
    const { asked, ended, use } = await served();
    const { run, dispatcher, live } = await use("read");
    expect(await run("web_go")).toMatchObject({ outcome: "ok", text: "went" });
    expect(await run("web_go")).toMatchObject({ outcome: "ok", text: "went" });
    expect(asked.filter((method) => method === "initialize")).toHaveLength(1);
    expect(dispatcher.isHostBound("web_go")).toBe(false);
    expect((await run("mcp_status")).text).toMatch(/^web: web 2 answers; 1 of 1 tool on/);
    expect(ended).toEqual([]);
    await live.close?.();
    expect(ended).toEqual(["s1"]);
  });

  test("that is not at home, or an address that nobody may reach, offers nothing and says why", async () => {
    const tools = { go: "read" };
    const { warnings } = await started({
      servers: { a: { url: "http://169.254.169.254/mcp", tools } },
    });
    expect(warnings).toEqual([expect.stringContaining("cloud metadata")]);
    const { use } = await served();
    const { warnings: refused } = await use("read", { token: "OTHER" });
    expect(refused).toEqual([expect.stringContaining("401")]);
  });

  test("that comes back later offers its tools without a start", async () => {
    let isAway = true;
    const { use } = await served({
      "tools/list": (response, id) => {
        const tools = [{ name: "go", inputSchema: { type: "object" } }];
        const message = { jsonrpc: "2.0", id, result: { tools } };
        if (isAway) return void response.writeHead(503).end();
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify(message));
      },
    });
    const { refresh, tools, live, run } = await use("read", {}, { seeMs: 1_000 });
    expect(live.problems).toEqual([expect.stringMatching(/^web: go cannot be offered/)]);
    expect(await refresh()).toBe(false);
    isAway = false;
    await expect.poll(refresh).toBe(true);
    expect(tools.map(({ name }) => name)).toEqual(["web_go", "mcp_status", "mcp_accept"]);
    expect(live.problems).toEqual([]);
    expect(await run("web_go")).toMatchObject({ outcome: "ok" });
    expect(await refresh()).toBe(false);
  });

  test("that asks back for ever is not answered for ever", async () => {
    const { asked, use } = await served({
      "tools/call": (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (let id = 0; id < 2_000; id += 1)
          response.write(`data: {"jsonrpc":"2.0","id":"p${id}","method":"ping"}\n\n`);
      },
    });
    const { run } = await use("read");
    expect((await run("web_go")).text).toContain("more than 100 things");
    expect(asked.length).toBeLessThan(130);
  });

  test("whose session ended gets a new one", async () => {
    let ended = 1;
    const { asked, use } = await served({
      "tools/call": (response, id) => {
        if (ended-- > 0) response.writeHead(404).end();
        else
          response
            .writeHead(200, { "content-type": "application/json" })
            .end(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } }));
      },
    });
    const { run } = await use("read");
    expect(await run("web_go")).toMatchObject({ outcome: "ok" });
    expect(asked.filter((method) => method === "initialize")).toHaveLength(2);
  });

  test.each<[string, (response: ServerResponse) => void, object?]>([
    [
      "breaks off",
      (response) =>
        void response
          .writeHead(200, { "content-type": "text/event-stream" })
          .write("data: {", () => response.destroy()),
    ],
    ["answers 500", (response) => void response.writeHead(500).end()],
    ["never answers", () => {}, { timeoutSeconds: 1 }],
    [
      "goes on for ever",
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const more = () =>
          void (
            response.destroyed ||
            response.write(`: ${"x".repeat(1024 * 1024)}\n\n`, () => setImmediate(more))
          );
        more();
      },
    ],
  ])("that %s leaves open whether a change happened, and fails a read", async (_, answer, more) => {
    const { use } = await served({ "tools/call": answer });
    expect(await (await use("write", more)).run("web_go")).toMatchObject({ outcome: "unknown" });
    expect(await (await use("read", more)).run("web_go")).toMatchObject({ outcome: "error" });
  });
});

describe("a tool that its server changed", () => {
  test("stops until somebody accepts what the card shows; every process then uses that form", async () => {
    const journal = await ownJournal();
    const one = await started({ journal });
    expect(await one.run("played_wipe")).toMatchObject({ outcome: "ok" });
    await one.run("played_drift");
    await expect(one.run("played_wipe")).rejects.toThrow(
      "changed its tool wipe since it was accepted",
    );

    const asked = await one.dispatcher.prepare(
      "mcp_accept",
      { server: "played", tool: "wipe" },
      signal,
    );
    const { lines } = await one.dispatcher.preview(asked, signal);
    expect(lines).toContainEqual({
      label: "Other",
      value: 'description: "Wipes a little." → "Wipes everything."',
    });
    // However much a server changes, the last of it is shown too.
    expect(lines.at(-1)?.value).toContain("inputSchema.properties.a39.const: (nothing) → 39");
    expect(await one.run("mcp_accept", { server: "played", tool: "wipe" })).toMatchObject({
      outcome: "ok",
    });
    expect(await one.run("played_wipe")).toMatchObject({ outcome: "ok" });
    await expect(one.run("mcp_accept", { server: "played", tool: "wipe" })).rejects.toThrow(
      "nothing is to do",
    );

    const entries = await journal.read(TEAM_MCP);
    expect(
      entries.filter((entry) => entry.kind === "tool_form" && entry.tool === "wipe"),
    ).toMatchObject([{ seq: 2 }, { by: { account: ASKER.account } }]);
    // The tool is another object, so that models are told of it, and the others are the same.
    const before = [...one.tools];
    expect(await one.refresh()).toBe(true);
    const others = one.tools.filter((tool, at) => tool !== before[at]);
    expect(others.map(({ name }) => name)).toEqual(["played_wipe"]);
    // Another process, whose server still has the old form: what counts is what was accepted.
    const other = await started({ journal });
    expect(other.tools.find(({ name }) => name === "played_wipe")?.description).toBe(
      "[played] Wipes everything.",
    );
    await expect(other.run("played_wipe")).rejects.toThrow("changed its tool wipe");
  });
});
