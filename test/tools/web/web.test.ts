import { describe, expect, test } from "vitest";
import { readableText } from "../../../src/tools/web/readable.ts";
import { createStatusPages } from "../../../src/tools/web/status-pages.ts";
import { createWebFetch } from "../../../src/tools/web/web-fetch.ts";
import { run } from "../calling.ts";
import { listenHttp } from "../network/servers.ts";

type Answer = [status: number, headers: Record<string, string>, body: string | Buffer];

/** A site that answers each path as told, and what it was asked for. */
async function site(answers: Readonly<Record<string, Answer>>) {
  const asked: string[] = [];
  const port = await listenHttp((request, response) => {
    asked.push(request.url ?? "");
    const [status, headers, body] = answers[request.url ?? ""] ?? [404, {}, "not here"];
    response.writeHead(status, headers).end(body);
  });
  return { base: `http://127.0.0.1:${port}`, asked };
}

const HTML = { "content-type": "text/html; charset=utf-8" };

describe("a page", () => {
  test("is told as people read it: its main part, without menus, scripts and addresses", async () => {
    const { base } = await site({
      "/runbooks/db?v=2": [
        200,
        HTML,
        `<html><head><title>Database &amp;
        more</title><style>x{}</style></head><body><nav><a href="/">Home</a></nav><main><h1>Failover</h1><p>Run <code>promote</code> on the <a href="http://evil.example/?x">replica</a>.</p><script>steal()</script><table><tr><th>Step</th></tr><tr><td>one</td></tr></table></main><footer>(c)</footer></body></html>`,
      ],
    });
    const tools = [createWebFetch([`${base}/`])];
    const { text, failed } = await run(tools, "web_fetch", { url: `${base}/runbooks/db?v=2#top` });
    expect(text).toBe(
      `Database &amp; more – ${base}/runbooks/db?v=2 (200)\n\nFailover\n\nRun promote on the replica.\n\nStep\none`,
    );
    expect(failed).toBe(false);
  });

  test.each<[what: string, path: string, answer: Answer, text: RegExp, failed: boolean]>([
    [
      "plain text",
      "/a.txt",
      [200, { "content-type": "text/plain" }, "as it is\n<b>"],
      /as it is\n<b>/,
      false,
    ],
    ["what is not there", "/none", [404, HTML, "<p>Gone</p>"], /\(404\)\n\nGone/, true],
    [
      "a picture",
      "/a.png",
      [200, { "content-type": "image/png" }, Buffer.from([137, 80, 0, 255])],
      /is not text: image\/png, 4 bytes/,
      true,
    ],
    ["nothing", "/empty", [200, HTML, ""], /The page is empty\./, false],
    ["a page of tags in tags", "/deep", [200, HTML, `${"<div>".repeat(500)}end`], /\(200\)/, false],
  ])("that is %s is told so", async (_, path, answer, text, failed) => {
    const { base } = await site({ [path]: answer });
    const told = await run([createWebFetch([base])], "web_fetch", { url: base + path });
    expect(told.text).toMatch(text);
    expect(told.failed).toBe(failed);
  });

  test("that is made to take for ever takes its own time alone", async () => {
    const signal = new AbortController().signal;
    const endless = `${"<div>".repeat(100_000)}end`;
    await expect(readableText(endless, signal, 100)).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test.each([
    ["cells over many rows", "<table><tr><td rowspan=100000000 colspan=10000>x</td></tr></table>"],
    [
      "one wide cell",
      `<table><tr><td>${"x".repeat(500_000)}</td></tr>${"<tr><td>y</td></tr>".repeat(5_000)}</table>`,
    ],
  ])("with %s does not end the program", async (_, html) => {
    const text = await readableText(html, new AbortController().signal);
    expect(text.length).toBeLessThan(600_000);
  });

  test("is read on the sites that the configuration names, below their paths, and nowhere else", async () => {
    const { base, asked } = await site({
      "/acme/x": [302, { location: "/other" }, ""],
      "/acme/y": [302, { location: "http://127.0.0.1:1/" }, ""],
    });
    const tools = [createWebFetch([`${base}/acme/`])];
    const read = (url: string) => run(tools, "web_fetch", { url });
    const refused = [
      `${base}/other`,
      `${base}/acme/../other`,
      `${base}/acmefoo/`,
      "http://169.254.169.254/latest/",
      base.replace("http://", "http://user:pw@"),
    ];
    for (const url of refused)
      await expect(read(url)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect(asked).toEqual([]);
    for (const path of ["/acme/x", "/acme/y"])
      expect(await read(base + path)).toMatchObject({
        failed: true,
        text: expect.stringContaining("was not requested"),
      });
    expect(asked).toEqual(["/acme/x", "/acme/y"]);
  });
});

describe("a status page", () => {
  /** As www.githubstatus.com answers, less what is not read. */
  const SUMMARY = {
    page: { id: "kctbh9vrtdwd", name: "GitHub", url: "https://www.githubstatus.com" },
    components: [
      { id: "a", name: "Git Operations", status: "operational", group: false },
      {
        id: "b",
        name: "Actions",
        status: "degraded_performance",
        group: false,
        updated_at: "2026-11-23T03:00:00Z",
      },
      { id: "c", name: "Pages", status: "major_outage", group: false },
      { id: "d", name: "All", status: "major_outage", group: true },
    ],
    incidents: [
      {
        name: "Pages are down",
        status: "investigating",
        started_at: "2026-11-23T02:00:00Z",
        shortlink: "https://stspg.io/x",
        components: [{ id: "c", name: "Pages" }],
        incident_updates: [{ body: "We look\ninto it." }, { body: "older" }],
      },
      { name: "Slow mails", status: "monitoring", components: [], incident_updates: [] },
    ],
    scheduled_maintenances: [],
    status: { indicator: "major", description: "Partial System Outage" },
  };

  test("has a finding for what is ill, the worst first, with their newest words", async () => {
    const { base } = await site({
      "/api/v2/summary.json": [
        200,
        { "content-type": "application/json" },
        JSON.stringify(SUMMARY),
      ],
    });
    const { text, findings } = await run([createStatusPages([base])], "status_pages", {});
    expect(text).toBe("GitHub: Partial System Outage");
    expect(findings).toEqual([
      {
        object: { kind: "Component", namespace: "GitHub", name: "Pages" },
        cause: "major outage",
        severity: "error",
        evidence: "Pages are down (investigating). We look into it. https://stspg.io/x",
        since: "2026-11-23T02:00:00Z",
      },
      expect.objectContaining({
        object: { kind: "Component", namespace: "GitHub", name: "Actions" },
        cause: "degraded performance",
        severity: "warning",
        since: "2026-11-23T03:00:00Z",
      }),
      expect.objectContaining({
        object: { kind: "Incident", namespace: "GitHub", name: "Slow mails" },
      }),
    ]);
  });

  test.each<[what: string, answer: Answer, why: string]>([
    ["that is none", [200, HTML, "<html>"], "it answered something other than JSON"],
    ["of another form", [200, {}, '{"page":{}}'], "its answer is not that of a Statuspage"],
    ["that is away", [503, {}, ""], "it answered 503"],
  ])("%s is a gap, and the others are told", async (_, answer, why) => {
    const broken = await site({ "/api/v2/summary.json": answer });
    const well = { ...SUMMARY, components: [], incidents: [], status: { description: "All well" } };
    const fine = await site({ "/api/v2/summary.json": [200, {}, JSON.stringify(well)] });
    const tools = [createStatusPages([broken.base, fine.base])];
    const { text, gaps, findings, failed } = await run(tools, "status_pages", {});
    expect(text).toBe("GitHub: All well");
    expect(findings).toEqual([]);
    expect(gaps).toMatchObject([{ what: `the status page ${broken.base}`, why }]);
    expect(failed).toBe(false);
  });
});
