import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Program } from "./fakes/program.ts";

/** Rules of watchkeeper.yaml on the program itself, against other spellings and detours. */

let program: Program;
const asked: string[] = [];
const inner = http.createServer((request, response) => {
  asked.push(request.url ?? "");
  response.end("payroll: jane 99000\n");
});
const outer = http.createServer((request, response) => {
  const { port } = inner.address() as AddressInfo;
  const location = `http://127.0.0.1:${port}${request.url ?? ""}`;
  response.writeHead(302, { location }).end();
});
const portOf = (server: http.Server) => (server.address() as AddressInfo).port;

beforeAll(async () => {
  for (const server of [inner, outer]) {
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
  }
});
afterAll(async () => {
  for (const server of [inner, outer]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
beforeEach(() => {
  asked.length = 0;
  program = new Program();
  const logs = join(program.folder, "logs");
  mkdirSync(join(logs, "private"), { recursive: true });
  writeFileSync(join(logs, "private/hr.log"), "SALARY 99000\n");
  symlinkSync("private/hr.log", join(logs, "today.log"));
  symlinkSync("logs", join(program.folder, "alias"));
  symlinkSync("/usr/bin/touch", join(program.folder, "make"));
});
afterEach(() => program.remove());

/** What the program answers to these lines, one after the other. */
async function said(lines: string[]): Promise<string> {
  return (await program.run([], `${lines.join("\n")}\n`)).out;
}

function configure(rules: string): void {
  const roots = `logs: { roots: [${program.folder}/logs, ${program.folder}/alias] }`;
  writeFileSync(
    join(program.folder, "watchkeeper.yaml"),
    `approvals:\n  rules:\n${rules}\n${roots}`,
  );
}

function rule(tool: string, arg: string, pattern: string, decide: string): string {
  return `    - { match: { tool: ${tool}, args: { ${arg}: "${pattern}" } }, decide: ${decide} }\n`;
}

describe("a deny on the program itself", () => {
  test("of a URL holds for every spelling of it", async () => {
    const port = portOf(inner);
    configure(rule("http_check", "url", `http://127.0.0.1:${port}/payroll`, "deny"));
    const out = await said([
      `run http_check url=http://127.0.0.1:${port}/payroll`,
      `run http_check url=http:127.0.0.1:${port}/payroll`,
      `run http_check url=http://2130706433:${port}/payroll`,
      `run http_check url=http://127.1:${port}//x/../%70ayroll`,
      `run http_check url=http://[::ffff:127.0.0.1]:${port}/payroll?x=1`,
    ]);
    expect(out.match(/Policy denies it: rule 1 of approvals.rules/g)).toHaveLength(5);
    expect(asked).toEqual([]);
  });

  test.each(["deny", "ask"])("(%s) of a URL holds for a redirect to it", async (decide) => {
    configure(rule("http_check", "url", `http://127.0.0.1:${portOf(inner)}/*`, decide));
    const { out } = await program.run([
      "ask",
      `run http_check url=http://127.0.0.1:${portOf(outer)}/x`,
    ]);
    const why = decide === "deny" ? "Policy denies it: rule 1" : "needs an approval of its own";
    expect(out).toContain("302 Found");
    expect(out).toContain("which was not requested");
    expect(out).toContain(why);
    expect(asked).toEqual([]);
  });

  test("of a path holds for every spelling of it, and for links", async () => {
    const { folder } = program;
    configure(rule("read_log", "path", `${folder}/logs/private/*`, "deny"));
    const paths = [
      `${folder}/logs/private/hr.log`,
      `${folder}/logs//private/./hr.log`,
      "private/hr.log",
      "today.log",
      `${folder}/alias/private/hr.log`,
      `${folder}/alias/today.log`,
    ];
    const out = await said(paths.map((path) => `run read_log path=${path}`));
    expect(out.match(/Policy denies it: rule 1/g)).toHaveLength(6);
    expect(out).not.toContain("99000");
  });

  test("of a program holds for a link to it", async () => {
    configure(rule("run_command", "argv", "touch *", "deny"));
    const argv = JSON.stringify([join(program.folder, "make"), "x"]);
    const { out } = await program.run(["ask", `run run_command argv='${argv}'`]);
    expect(out).toContain("Policy denies it: rule 1");
  });
});

describe("an allow on the program itself", () => {
  test("of a path lets the file through, by whatever link to its folder, and no other", async () => {
    const { folder } = program;
    const rest = "  default: { read: ask }\n";
    configure(`${rule("read_log", "path", `${folder}/logs/private/*`, "allow")}${rest}`);
    writeFileSync(join(folder, "logs/other.log"), "other words\n");
    const paths = ["today.log", `${folder}/alias/private/hr.log`, "other.log"];
    const out = await said(paths.map((path) => `run read_log path=${path}`));
    expect(out.match(/SALARY 99000/g)).toHaveLength(2);
    expect(out).toContain("It only reads.");
    expect(out).not.toContain("other words");
  });

  test("that names no host is a mistake with its place", async () => {
    configure(rule("http_check", "url", "*example.com/*", "allow"));
    const { code, err } = await program.run(["ask", "help"]);
    expect(code).toBe(2);
    expect(err).toMatch(
      /watchkeeper\.yaml:3:\d+: argument url: an allowed URL is written with scheme/,
    );
  });
});
