import { describe, expect, it } from "vitest";
import { approvalPolicy } from "../../src/config/policy.ts";
import { decidePolicy } from "../../src/approvals/policy.ts";
import type { JsonObject } from "../../src/core/entry.ts";
import { checkArguments } from "../../src/tools/arguments.ts";
import { createTools } from "../../src/tools/registry.ts";
import { fileSpellings, hostSpellings, unitSpellings, urlSpellings } from "./spellings.ts";

const ROOT = "/srv/logs";
const tools = new Map(
  (await createTools({ "logs.roots": ["/var/log", ROOT] })).map((tool) => [tool.name, tool]),
);

/** What one rule says of a call; `default` when it does not match, `refused` when no such call can be made. */
function says(rule: "allow" | "ask" | "deny", name: string, wanted: JsonObject, given: JsonObject) {
  const tool = tools.get(name);
  if (tool === undefined) throw new Error(`there is no ${name}`);
  const other = rule === "allow" ? "deny" : "allow";
  const policy = approvalPolicy.parse({
    default: { read: other, write: "deny", destructive: "deny" },
    rules: [{ match: { tool: name, args: wanted }, decide: rule }],
  });
  const checked = checkArguments(tool, given);
  if (!checked.ok) return "refused";
  const { effect, kinds } = tool;
  const call = { tool: name, effect: rule === "allow" ? effect : ("read" as const), kinds };
  const { kind } = decidePolicy(policy, { ...call, args: checked.args });
  return kind === rule ? rule : "default";
}

/** The spellings that a rule lets by. */
function evaders(
  name: string,
  arg: string,
  pattern: string,
  written: string[],
  more: JsonObject = {},
) {
  return (["ask", "deny"] as const).flatMap((rule) =>
    written.filter(
      (text) => says(rule, name, { [arg]: pattern }, { [arg]: text, ...more }) === "default",
    ),
  );
}

const URLS: [pattern: string, scheme: string, host: string, path: string][] = [
  ["http*://payroll.internal.example.com/*", "https", "payroll.internal.example.com", "/a/b"],
  [
    "https://payroll.internal.example.com/admin/*",
    "https",
    "payroll.internal.example.com",
    "/admin/x",
  ],
  [
    "https://Payroll.Internal.Example.com./admin",
    "https",
    "payroll.internal.example.com",
    "/admin",
  ],
  ["https://*.internal.example.com/*", "https", "a.b.internal.example.com", "/data"],
  ["*payroll*", "http", "payroll.example.com", "/a"],
  ["http://10.1.2.3/*", "http", "10.1.2.3", "/data"],
  ["http://0x0a010203/*", "http", "10.1.2.3", "/data"],
  ["*://10.1.*/*", "http", "10.1.2.3", "/data"],
];

describe("a rule that holds up", () => {
  it.each(URLS)("the URL %s is evaded by no spelling", (pattern, scheme, host, path) => {
    const written = urlSpellings(scheme, host, path, 100);
    expect(written).toHaveLength(100);
    expect(evaders("http_check", "url", pattern, written)).toEqual([]);
  });

  it.each([
    ["db1.internal", "db1.internal"],
    ["*.internal", "db1.eu.internal"],
    ["10.1.2.3", "10.1.2.3"],
    ["10.1.2.*", "10.1.2.3"],
  ])("the host %s is evaded by no spelling", (pattern, host) => {
    const written = hostSpellings(host, 25);
    expect(written.length).toBeGreaterThan(15);
    expect(evaders("tcp_check", "host", pattern, written, { port: 5432 })).toEqual([]);
  });

  it.each([["/srv/logs/private/*"], ["private/*"], ["/srv/logs/./private//*"]])(
    "the path %s is evaded by no spelling",
    (pattern) => {
      const files = fileSpellings(`${ROOT}/private/hr.log`, ROOT, 11);
      const folders = fileSpellings(`${ROOT}/private`, ROOT, 10);
      expect(files.length + folders.length).toBeGreaterThan(18);
      expect(evaders("read_log", "path", pattern, [...files, ...folders])).toEqual([]);
    },
  );

  it.each([["postgresql"], ["postgresql.service"], ["postgres*"]])(
    "the unit %s is evaded by no spelling",
    (pattern) => {
      const written = unitSpellings("postgresql", 12);
      expect(evaders("restart_service", "name", pattern, written)).toEqual([]);
    },
  );

  it("says nothing of other places", () => {
    const url = (pattern: string, given: string) =>
      says("deny", "http_check", { url: pattern }, { url: given });
    expect(url("https://payroll.example.com/*", "https://example.com/")).toBe("default");
    expect(url("https://payroll.example.com/*", "https://xpayroll.example.com/")).toBe("default");
    expect(url("https://h.test/admin/*", "https://h.test/administration")).toBe("default");
    expect(url("https://h.test/*", "https://h.test:8443/")).toBe("default");
    expect(url("http://10.1.2.3/*", "http://10.1.2.30/")).toBe("default");
    const host = (pattern: string, given: string) =>
      says("deny", "tcp_check", { host: pattern }, { host: given, port: 1 });
    expect(host("*.internal", "internal")).toBe("default");
    expect(host("db1.internal", "db1.internal.example.com")).toBe("default");
    const unit = (pattern: string, given: string) =>
      says("deny", "service_status", { name: pattern }, { name: given });
    expect(unit("postgresql", "postgresql@16-main")).toBe("default");
    expect(unit("postgresql", "postgresql.socket")).toBe("default");
  });
});

describe("a rule that allows", () => {
  it.each([
    ["https://*.example.com/*", "https://a.example.com/x?y=1"],
    ["https://*.example.com/*", "https://a.b.example.com"],
    ["https://*.example.com/*", "HTTPS://A.EXAMPLE.com.:443/x/../y"],
    ["https://status.example.com/health", "https://status.example.com/health"],
    ["https://status.example.com/health", "https:status.example.com/./health"],
    ["https://status.example.com/q?id=*", "https://status.example.com/q?id=5"],
    ["https://status.example.com", "https://status.example.com/"],
    ["http://10.1.2.3:*/*", "http://167838211:8080/x"],
    ["http*://web-*.example.com/*", "http://web-1.example.com/"],
    ["https://bücher.example/*", "https://xn--bcher-kva.example/"],
    ["*", "https://anything.test/"],
  ])("%s lets %s through", (pattern, url) => {
    expect(says("allow", "http_check", { url: pattern }, { url })).toBe("allow");
  });

  it.each([
    ["https://*.example.com/*", "https://evil.test/?x.example.com/"],
    ["https://*.example.com/*", "https://10.0.0.1/.example.com/"],
    ["https://*.example.com/*", "https://evil.test/x.example.com/"],
    ["https://*.example.com/*", "https://evil.test#x.example.com/"],
    ["https://*.example.com/*", "https://evil.test:443\\.example.com/"],
    ["https://*.example.com/*", "https://example.com/"],
    ["https://*.example.com/*", "https://a.example.com.evil.test/"],
    ["https://*.example.com/*", "https://a.example.com:8443/"],
    ["https://*.example.com/*", "http://a.example.com/"],
    ["https://status.example.com*", "https://status.example.com.evil.test/"],
    ["https://web-*.example.com/*", "https://web-1.evil.example.com/"],
    ["https://h.test/public/*", "https://h.test/public/../admin"],
    ["https://h.test/public/*", "https://h.test/public/%2e%2e/admin"],
    ["https://h.test/public/*", "https://h.test/public/..%2fadmin"],
    ["https://h.test/public/*", "https://h.test/public/..;/admin"],
    ["https://h.test/*/health", "https://h.test/x?/health"],
    ["https://h.test/health", "https://h.test/health?x=1"],
    ["https://h.test/health", "https://h.test/HEALTH"],
    ["https://h.test", "https://h.test/x"],
    ["*h.test/*", "https://h.test/"],
    ["*", "https://user:secret@h.test/"],
  ])("%s does not let %s through", (pattern, url) => {
    expect(says("allow", "http_check", { url: pattern }, { url })).not.toBe("allow");
  });

  it.each([
    ["*.example.com", "db.example.com.", "allow"],
    ["*.example.com", "DB.eu.example.com", "allow"],
    ["*.example.com", "example.com", "default"],
    ["*.example.com", "example.com.evil.test", "default"],
    ["10.1.2.*", "10.1.2.9", "allow"],
    ["10.1.2.*", "::ffff:10.1.2.9", "allow"],
    ["10.1.2.*", "10.1.2.evil", "default"],
    ["db*.test", "db1.evil.test", "default"],
    ["*", "a.test", "allow"],
  ])("host %s, asked for %s: %s", (pattern, host, expected) => {
    expect(says("allow", "tcp_check", { host: pattern }, { host, port: 1 })).toBe(expected);
  });

  it.each([
    [`${ROOT}/app/*`, `${ROOT}/app/web.log`, "allow"],
    [`${ROOT}/app/*`, `${ROOT}//app/./web.log`, "allow"],
    [`${ROOT}/app/*`, `${ROOT}/app/../private/hr.log`, "default"],
    // It may be meant below /var/log as well.
    [`${ROOT}/app/*`, "app/web.log", "default"],
    ["app/*", "app/web.log", "allow"],
  ])("path %s, asked for %s: %s", (pattern, path, expected) => {
    expect(says("allow", "read_log", { path: pattern }, { path })).toBe(expected);
  });

  it("a unit with or without its suffix", () => {
    const unit = (pattern: string, name: string) =>
      says("allow", "service_status", { name: pattern }, { name });
    expect(unit("nginx", "nginx.service")).toBe("allow");
    expect(unit("nginx.service", "nginx")).toBe("allow");
    expect(unit("nginx", "NGINX")).toBe("default");
  });
});
