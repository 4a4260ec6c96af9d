import { describe, expect, it, test } from "vitest";
import { destinations, type KnownPlaces, whyAsk } from "../../src/approvals/egress.ts";
import { noPlaces, notePlaces, type Places } from "../../src/approvals/places.ts";
import { cpuMs } from "../cpu-time.ts";

type Known = Partial<KnownPlaces> & { words?: string[] };

function placesIn(words: string[]): Places {
  const places = noPlaces();
  for (const text of words) notePlaces(places, text);
  return places;
}

function ask(url: string, { words = [], ...known }: Known = {}): string | undefined {
  const [place] = destinations({ url: "url" }, { url });
  return (
    place &&
    whyAsk(place, { written: [placesIn(words)], network: [], named: false, sent: [], ...known })
  );
}

function askHost(host: string, { words = [], ...known }: Known = {}): string | undefined {
  const [place] = destinations({ host: "host" }, { host, port: 1 });
  return (
    place &&
    whyAsk(place, { written: [placesIn(words)], network: [], named: false, sent: [], ...known })
  );
}

const UNKNOWN = /^Nobody here named/;

describe("a host is known", () => {
  it.each([
    "why is shop.example.com slow?",
    "look at https://shop.example.com/cart please",
    "(shop.example.com)",
    "`shop.example.com`, today",
    "run http_check url=https://shop.example.com/x",
    "SHOP.EXAMPLE.COM.",
    "<https://shop.example.com|shop>",
    "shop.example.com:443/health?",
  ])("by the words %s", (words) => {
    expect(ask("https://shop.example.com/other", { words: [words] })).toBeUndefined();
    expect(askHost("shop.example.com", { words: [words] })).toBeUndefined();
  });

  it.each([
    "why is example.com slow?",
    "why is the shop slow?",
    "mail jane@shop.example.com",
    "https://evil.test/shop.example.com",
    "https://user@shop.example.com/",
    "xshop.example.com",
    "mail jane@shop.example.com:443",
  ])("not by the words %s", (words) => {
    expect(ask("https://shop.example.com/", { words: [words] })).toMatch(UNKNOWN);
  });

  it.each([
    ["deploy.sh", "the last deploy.sh:12 failed, see ./deploy.sh"],
    ["readme.md", "README.md says so"],
    ["8.2.0.1", "we run 8.2.1 since Monday"],
    ["0.0.4.210", "ticket 1234"],
    ["shop.example.com", "x@shop.example.com wrote"],
    ["upstream.test", "what is this?\n> upstream.test timed out\n"],
    ["upstream.test", "what is this?\n```\nupstream.test timed out\n```"],
    ["upstream.test", "what is this? ```GET http://upstream.test/x"],
  ])("%s is not by the words %s", (host, words) => {
    expect(askHost(host, { words: [words] })).toMatch(UNKNOWN);
  });

  it("in whichever form it can be dialed", () => {
    const words = ["is 10.1.2.3 up?"];
    expect(askHost("[10.1.2.3]", { words })).toBeUndefined();
    expect(askHost("[203.0.113.9]", { words })).toMatch(/^Nobody here named 203\.0\.113\.9/);
    expect(askHost("what is no host", { words })).toMatch(UNKNOWN);
  });

  it("that is also the name of a file, by a URL", () => {
    expect(askHost("deploy.sh", { words: ["see https://deploy.sh/docs"] })).toBeUndefined();
  });

  it.each([
    ["db1", "is db1 up?"],
    ["db1", "db1:5432 refuses"],
    ["::1", "try [::1]:80 or ::1"],
    ["xn--bcher-kva.example", "look at bücher.example!"],
    ["10.0.0.5", "host=10.0.0.5, please"],
  ])("%s is by the words %s", (host, words) => {
    expect(askHost(host, { words: [words] })).toBeUndefined();
  });

  it("by network.allow, an address by its network", () => {
    const network = ["*.example.com", "10.20.0.0/16", "192.0.2.7"];
    expect(askHost("db.example.com", { network })).toBeUndefined();
    expect(askHost("10.20.1.2", { network })).toBeUndefined();
    expect(askHost("::ffff:192.0.2.7", { network })).toBeUndefined();
    expect(askHost("example.com", { network })).toMatch(UNKNOWN);
    expect(askHost("10.21.1.2", { network })).toMatch(UNKNOWN);
  });

  it("by a rule that names it", () => {
    expect(ask("https://status.example.com/", { named: true })).toBeUndefined();
  });
});

test("what a person writes is read in time in proportion to it", async () => {
  const words = [`${"#".repeat(60_000)}x shop.example.com${"!".repeat(60_000)}x`];
  const spent = await cpuMs(() => expect(ask("https://shop.test/", { words })).toMatch(UNKNOWN));
  expect(spent).toBeLessThan(2_000);
});

test("of sixty pages of a log that people pasted the newest places are kept", async () => {
  const places = noPlaces();
  const line = (n: number) =>
    `10.1.${n >> 8}.${n & 255} - - [22/Nov/2026:10:00:00 +0000] "GET /a/${n}?x=1" 200 srv${n}.example.com 0.0${n} "-"\n`;
  const pages = Array.from({ length: 60 }, (_, page) =>
    Array.from({ length: 150 }, (_each, i) => line(page * 150 + i)).join(""),
  );
  expect(await cpuMs(() => pages.forEach((page) => notePlaces(places, page)))).toBeLessThan(10_000);
  expect(places.hosts).toContain("srv8999.example.com");
  expect(places.hosts.size).toBeLessThanOrEqual(2_000);
  expect(places.urls.size).toBeLessThanOrEqual(2_000);
});

describe("a known host is asked about", () => {
  const words = ["see https://shop.example.com/cart?id=5 and db.example.com"];

  it("when it is told more than 128 bytes that nobody wrote", () => {
    const url = (length: number) => `https://shop.example.com/${"x".repeat(length - 1)}`;
    expect(ask(url(128), { words })).toBeUndefined();
    expect(ask(url(129), { words })).toBe(
      "In this run shop.example.com would receive 129 bytes that nobody here wrote.",
    );
    expect(ask(`https://shop.example.com/?d=${"x".repeat(130)}`, { words, named: true })).toMatch(
      /bytes/,
    );
    const long = `https://shop.example.com/${"y".repeat(300)}`;
    expect(ask(long, { words: [`look: ${long}.`] })).toBeUndefined();
    expect(ask(`${long}&x=1`, { words: [`look: ${long}`] })).toBeUndefined();
  });

  it("when it is told so much little by little", () => {
    const told = (n: number) => `https://shop.example.com/${String(n).repeat(59)}`;
    const sent = [1, 2, 2].flatMap((n) => destinations({ url: "url" }, { url: told(n) }));
    expect(ask(told(2), { words, sent })).toBeUndefined();
    expect(ask(told(3), { words, sent })).toMatch(/receive 180 bytes/);
    expect(ask("https://db.example.com/x", { words, sent })).toBeUndefined();
    const hosts = ["aaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbb", "c"].map((label) => ({
      host: `${label}.example.com`,
      url: undefined,
    }));
    const network = ["*.example.com"];
    expect(askHost("b.example.com", { network, sent: hosts.slice(0, 1) })).toBeUndefined();
    expect(askHost("b.example.com", { network, sent: hosts })).toMatch(/names below/);
  });

  it("when its name holds more than 40 bytes that nobody wrote", () => {
    const network = ["*.example.com"];
    const name = `${"a".repeat(45)}.example.com`;
    expect(askHost(name, { network })).toBe(
      "The names below *.example.com carry 45 bytes that nobody here wrote.",
    );
    expect(askHost(name, { network, words: [name] })).toBeUndefined();
    expect(askHost(`${"a".repeat(30)}.example.com`, { network })).toBeUndefined();
  });

  it("when it is inside the network, but for a URL that somebody wrote", () => {
    const known = { words: ["10.0.0.5 hangs, and http://10.0.0.6:8080/health too"], network: [] };
    expect(ask("http://10.0.0.5/shutdown", known)).toMatch(/inside the network.*allow rule/);
    expect(ask("http://10.0.0.5/", known)).toBeUndefined();
    expect(ask("http://10.0.0.6:8080/health", known)).toBeUndefined();
    expect(ask("http://10.0.0.6:8080/health#x", known)).toBeUndefined();
    expect(ask("http://10.0.0.6:8080/shutdown", known)).toMatch(/inside the network/);
    expect(ask("http://0xa000006:8080/shutdown", known)).toMatch(/inside the network/);
    expect(askHost("10.0.0.5", known)).toBeUndefined();
    const network = ["*.internal.example.com"];
    expect(ask("http://ci.internal.example.com/job/x/build", { network })).toMatch(/inside/);
    expect(
      ask("http://ci.internal.example.com/job/x/build", { network, named: true }),
    ).toBeUndefined();
    expect(ask("http://localhost:3000/", { words: ["localhost is slow"] })).toMatch(/inside/);
  });
});
