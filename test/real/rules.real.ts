import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Program } from "../fakes/program.ts";

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

/** What the program answers to these lines, one after the other, whatever lines it is wrapped into. */
async function said(lines: string[]): Promise<string> {
  const { out } = await program.run([], `${lines.join("\n")}\n`);
  return out.replaceAll(/\s+/g, " ");
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

/** A deny on each of these, and an ask on one: the program is started once for all of them. */
test("what a rule holds up on the program itself is evaded by no spelling, link or redirect", async () => {
  const { folder } = program;
  const [port, from] = [portOf(inner), portOf(outer)];
  configure(
    [
      rule("http_check", "url", `http://127.0.0.1:${port}/payroll`, "deny"),
      rule("read_log", "path", `${folder}/logs/private/*`, "deny"),
      rule("run_command", "argv", "touch *", "deny"),
      rule("http_check", "url", `http://127.0.0.1:${port}/asked/*`, "ask"),
    ].join(""),
  );
  const urls = [
    `http://127.0.0.1:${port}/payroll`,
    `http:127.0.0.1:${port}/payroll`,
    `http://2130706433:${port}/payroll`,
    `http://127.1:${port}//x/../%70ayroll`,
    `http://[::ffff:127.0.0.1]:${port}/payroll?x=1`,
  ];
  const paths = [
    `${folder}/logs/private/hr.log`,
    `${folder}/logs//private/./hr.log`,
    "private/hr.log",
    "today.log",
    `${folder}/alias/private/hr.log`,
    `${folder}/alias/today.log`,
  ];
  const out = await said([
    ...urls.map((url) => `run http_check url=${url}`),
    ...paths.map((path) => `run read_log path=${path}`),
    `run run_command argv='${JSON.stringify([join(folder, "make"), "x"])}'`,
    `run http_check url=http://127.0.0.1:${from}/payroll`,
    `run http_check url=http://127.0.0.1:${from}/asked/x`,
  ]);
  const denials = (number: number) =>
    out.match(new RegExp(`Policy denies it: rule ${number} of approvals.rules`, "g"));
  // The last of the first rule's is where a redirect led.
  expect(denials(1)).toHaveLength(urls.length + 1);
  expect(denials(2)).toHaveLength(paths.length);
  expect(denials(3)).toHaveLength(1);
  expect(out).toContain("302 Found");
  expect(out).toContain("which was not requested");
  expect(out).toContain("needs an approval of its own");
  expect(out).not.toContain("99000");
  expect(asked).toEqual([]);
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
    expect(err).toMatch(/watchkeeper\.yaml:3:\d+: argument url: write an allowed URL with scheme/);
  });
});
