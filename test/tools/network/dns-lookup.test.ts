import { describe, expect, test } from "vitest";
import { createNetwork } from "../../../src/net/dial.ts";
import { createDnsLookup } from "../../../src/tools/network/dns-lookup.ts";
import { type DnsRecord, startDns, uint16, wireName, type Zone } from "../../fakes/dns.ts";
import { idleContext } from "../../fakes/tool-context.ts";
import { LOCAL, SERVER } from "../dialing.ts";

const address = (text: string) => Buffer.from(text.split(".").map(Number));
const text = (value: string) =>
  Buffer.from(`${String.fromCharCode(value.length)}${value}`, "latin1");
const a = (name: string, to: string, ttl = 60): DnsRecord => [name, "A", ttl, address(to)];
const cname = (name: string, to: string): DnsRecord => [name, "CNAME", 60, wireName(to)];

const ZONE: Zone = {
  "web.test A": [a("web.test", "192.0.2.1", 300), a("web.test", "192.0.2.2", 300)],
  "web.test MX": [["web.test", "MX", 60, Buffer.concat([uint16(10), wireName("mail.web.test")])]],
  "web.test TXT": [["web.test", "TXT", 60, Buffer.concat([text("v=spf1 "), text("\x1b[2J-all")])]],
  "web.test NS": [["web.test", "NS", 60, wireName("ns1.web.test")]],
  "web.test CAA": [
    [
      "web.test",
      "CAA",
      60,
      Buffer.concat([Buffer.from([0]), text("issue"), Buffer.from("ca.test")]),
    ],
  ],
  "web.test SOA": [
    [
      "web.test",
      "SOA",
      60,
      Buffer.concat([
        wireName("ns1.web.test"),
        wireName("root.web.test"),
        uint16(0, 7, 0, 1, 0, 1, 0, 1, 0, 90),
      ]),
    ],
  ],
  "_sip._tcp.web.test SRV": [
    [
      "_sip._tcp.web.test",
      "SRV",
      60,
      Buffer.concat([uint16(1, 2, 5060), wireName("sip.web.test")]),
    ],
  ],
  "1.2.0.192.in-addr.arpa PTR": [["1.2.0.192.in-addr.arpa", "PTR", 60, wireName("web.test")]],
  "www.test A": [cname("www.test", "web.test"), a("web.test", "192.0.2.1")],
  "www.test CNAME": [cname("www.test", "web.test")],
  "old.test A": "NXDOMAIN",
  "old.test AAAA": "NXDOMAIN",
  "old.test CNAME": [cname("old.test", "gone.cloud.test")],
  "loop.test CNAME": [cname("loop.test", "loop2.test")],
  "loop2.test CNAME": [cname("loop2.test", "loop.test")],
  ...Object.fromEntries(
    (["SERVFAIL", "REFUSED", "silent", "garbage"] as const).flatMap((kind) => [
      [`${kind.toLowerCase()}.test A`, kind],
      [`${kind.toLowerCase()}.test AAAA`, kind],
    ]),
  ),
};

/** Asks for it; `here`: what programs on this machine get. */
async function look(
  args: Record<string, string>,
  {
    here = [],
    rules = LOCAL,
    zone = ZONE,
  }: { here?: string[]; rules?: typeof LOCAL; zone?: Zone } = {},
) {
  const { port, asked } = await startDns(zone);
  const lookup = async () =>
    here.length > 0 ? here : Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" }));
  const limits = { timeoutMs: 40, tries: 1 };
  const tool = createDnsLookup({ servers: ["127.0.0.1"], lookup, port, ...limits });
  const { signal } = new AbortController();
  const { resolve } = createNetwork(rules);
  const ctx = idleContext({ resolve: (host) => resolve(host, { signal }) });
  const found = await tool.run(tool.input.parse(args), ctx);
  return {
    ...found,
    asked,
    causes: (found.findings ?? []).map(({ severity, cause }) => `${severity}: ${cause}`),
  };
}

describe("a name's records", () => {
  test("are its addresses with their TTL, through the names that it stands for", async () => {
    const found = await look({ name: "www.test" }, { here: ["192.0.2.1"] });
    expect(found.text.replaceAll(/\([\d.]+ ms\)/g, "(…)").replaceAll(/:\d+\)/g, ")")).toBe(
      [
        "By this machine's DNS (127.0.0.1):",
        "  CNAME → web.test",
        "  A 192.0.2.1 (TTL 60 s) (…)",
        "  AAAA NODATA (…)",
        "Programs on this machine get 192.0.2.1.",
      ].join("\n"),
    );
    expect(found.causes).toEqual([]);
  });

  test.each([
    ["web.test", "MX", "MX 10 mail.web.test"],
    ["web.test", "TXT", 'TXT "v=spf1 \\u001b[2J-all"'],
    ["web.test", "NS", "NS ns1.web.test"],
    ["web.test", "CAA", 'CAA 0 issue "ca.test"'],
    [
      "web.test",
      "SOA",
      "SOA ns1.web.test root.web.test serial 7, negative answers are cached 90 s",
    ],
    ["_sip._tcp.web.test", "SRV", "SRV 1 2 5060 sip.web.test"],
    ["192.0.2.1", "", "PTR web.test"],
  ])("of %s, type %s, are written as people write them", async (name, type, row) => {
    expect((await look({ name, ...(type !== "" && { type }) })).text).toContain(`  ${row} (`);
  });

  test("of an IPv6 address are asked for below ip6.arpa", async () => {
    const { asked } = await look({ name: "2001:db8::1" });
    expect(asked).toEqual([`1.${"0.".repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa PTR`]);
  });
});

describe("what is wrong", () => {
  test.each([
    ["none.test", "error: NXDOMAIN: the name does not exist"],
    [
      "old.test",
      "error: dangling CNAME: it points to gone.cloud.test, which has no A and AAAA (NXDOMAIN)",
    ],
    [
      "loop.test",
      "error: dangling CNAME: it points to loop2.test, which has no A and AAAA (NODATA)",
    ],
    ["servfail.test", "error: SERVFAIL from this machine's DNS"],
    ["refused.test", "error: REFUSED from this machine's DNS"],
    ["silent.test", "error: no answer from this machine's DNS"],
    ["garbage.test", "error: an answer that cannot be read from this machine's DNS"],
  ])("with %s is told apart", async (name, cause) => {
    const { causes } = await look({ name });
    expect(causes.map((each) => each.replace(/ \(127.*/, ""))).toEqual([cause]);
  });

  test("is not that a type is missing", async () => {
    const { causes } = await look(
      { name: "www.test", type: "AAAA" },
      { zone: { "www.test A": [] } },
    );
    expect(causes).toEqual(["info: it has no AAAA record (NODATA)"]);
  });

  test.each([
    ["none.test", ["10.0.0.9"], /^info: only this machine resolves it/],
    ["web.test", ["10.0.0.9"], /^warning: programs on this machine get other addresses than DNS/],
    ["web.test", [], /^error: programs on this machine cannot look it up \(ENOTFOUND\)/],
  ])("may be this machine: %s with %j", async (name, here, cause) => {
    expect((await look({ name }, { here })).causes[0]).toMatch(cause);
  });
});

describe("another resolver", () => {
  test("is asked too, and where the two disagree is said", async () => {
    const zone = { "web.test A": [a("web.test", "192.0.2.1")] };
    const {
      causes,
      text: rows,
      asked,
    } = await look(
      { name: "web.test", type: "A", resolver: "127.0.0.1" },
      { zone, here: ["192.0.2.1"] },
    );
    expect(rows).toContain("By 127.0.0.1:\n  A 192.0.2.1 (TTL 60 s)");
    expect(asked.filter((each) => each === "web.test A")).toHaveLength(2);
    expect(causes).toEqual([]);
  });

  test("is not asked where the network rules forbid its address", async () => {
    const forbidden = look({ name: "web.test", resolver: "127.0.0.1" }, { rules: SERVER });
    await expect(forbidden).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
    await expect(look({ name: "web.test", resolver: "169.254.169.254" })).rejects.toThrow(
      "metadata",
    );
    await expect(look({ name: "0x7f.1" })).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
  });
});
