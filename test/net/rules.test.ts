import { isIP } from "node:net";
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { canonicalHost, readAddress } from "../../src/core/canonical.ts";
import { createNetwork } from "../../src/net/dial.ts";
import { decodeHost } from "../../src/net/rules.ts";
import {
  anyAddress,
  anyIpv4,
  GRANTED_ENTRIES,
  INNER,
  isInnocent,
  NEVER,
  SPELLINGS,
  WRAPPINGS,
} from "../tools/addresses.ts";
import { answering, attempt, EVERYTHING, LOCAL, SERVER, spyOnSockets } from "../tools/dialing.ts";

/** Spellings that some resolvers take for an address, and things that are no host at all. */
const ODD = [
  "0x7f.1",
  "0x7f000001",
  "0177.0.0.1",
  "010.0.0.1",
  "127.1",
  "2130706433",
  "127.0.0.1.",
  "0xA9FEA9FE",
  "１２７.0.0.1",
  "①②⑦.0.0.1",
  "%31%32%37.0.0.1",
  "fe80::1%eth0",
  "::1%lo",
  "[::1%25lo]",
  "::ffff:0x7f.1",
  "127.0.0.1:80",
  "localhost:80",
  "http://localhost",
  "a@localhost",
  "local host",
  "localhost\0.example",
  "a..example",
  ".",
  "",
];

describe("addresses that are never dialed", () => {
  it.each(NEVER)("refuses %s, typed or from DNS, whatever is configured", async (address) => {
    const asked = spyOnSockets();
    const typed = await attempt(address, { rules: EVERYTHING });
    const bracketed = await attempt(`[${address}]`, { rules: EVERYTHING });
    const resolved = await attempt("db.example", {
      rules: EVERYTHING,
      dialing: answering([address]),
    });
    for (const { ended, message } of [typed, bracketed, resolved]) {
      expect(ended).toBe("ADDRESS_REFUSED");
      expect(message).toContain("no setting allows that");
    }
    expect(asked()).toEqual([]);
  });

  it.each(["0x7f.1", "fe80::1%eth0", "::1%lo", "not an address", "127.1", ""])(
    "refuses the answer %j of a resolver that returns more than addresses",
    async (answer) => {
      const asked = spyOnSockets();
      const dialing = answering([answer]);
      expect((await attempt("db.example", { rules: EVERYTHING, dialing })).ended).toBe(
        "ADDRESS_REFUSED",
      );
      expect(asked()).toEqual([]);
    },
  );
});

describe("hosts that are neither a name nor an address in its usual form", () => {
  it.each(ODD)("refuses %j without asking a resolver", async (host) => {
    const asked = spyOnSockets();
    const lookup = vi.fn<() => Promise<string[]>>(async () => ["127.0.0.1"]);
    const { ended } = await attempt(host, { rules: EVERYTHING, dialing: { lookup } });
    expect(ended).toBe("ADDRESS_REFUSED");
    expect(lookup).not.toHaveBeenCalled();
    expect(asked()).toEqual([]);
  });

  it("refuses ports that are none", async () => {
    for (const port of [0, -1, 65_536, 1.5, Number.NaN]) {
      expect((await attempt("127.0.0.1", { rules: LOCAL, port })).ended).toBe("INPUT_INVALID");
    }
  });
});

describe("public addresses", () => {
  it.each(["8.8.8.8", "2606:4700:4700::1111", "64:ff9b::808:808", "2002:808:808::1"])(
    "dials %s anywhere",
    async (address) => {
      const asked = spyOnSockets();
      expect((await attempt(address)).ended).toBe("CONNECTION_FAILED");
      expect(asked()).toEqual([address]);
    },
  );
});

describe("loopback and private addresses", () => {
  it.each(INNER)("refuses %s away from the terminal and says how to allow it", async (address) => {
    const asked = spyOnSockets();
    for (const attempted of [
      await attempt(address),
      await attempt("db.example", { dialing: answering([address]) }),
    ]) {
      expect(attempted.ended).toBe("ADDRESS_REFUSED");
      expect(attempted.message).toContain("network.allow in watchkeeper.yaml");
    }
    expect(asked()).toEqual([]);
  });

  it.each(INNER)("dials %s in the terminal", async (address) => {
    const asked = spyOnSockets();
    expect((await attempt(address, { rules: LOCAL })).ended).toBe("CONNECTION_FAILED");
    expect(asked()).toHaveLength(1);
  });

  it("dials the IPv4 address that an IPv4-mapped or -compatible one stands for", async () => {
    const asked = spyOnSockets();
    await attempt("::ffff:127.0.0.1", { rules: LOCAL });
    await attempt("::7f00:2", { rules: LOCAL });
    expect(asked()).toEqual(["127.0.0.1", "127.0.0.2"]);
  });

  it.each([
    ["10.20.0.0/16", "10.20.255.1", true],
    ["10.20.0.0/16", "10.21.0.1", false],
    ["10.20.0.0/16", "::ffff:10.20.0.1", true],
    ["10.20.0.0/16", "64:ff9b::10.20.0.1", true],
    ["10.20.0.5", "10.20.0.5", true],
    ["10.20.0.5", "10.20.0.6", false],
    ["fd12::/32", "fd12::9", true],
    ["fd12::/32", "fd13::9", false],
    ["::1", "::1", true],
    ["127.0.0.0/8", "127.3.2.1", true],
    ["fd00::/8", "fd00:ec2::254", false],
    ["100.64.0.0/10", "100.100.100.200", false],
  ])("with %s in network.allow, %s may be dialed: %s", async (entry, address, isAllowed) => {
    spyOnSockets();
    const { ended } = await attempt(address, { rules: { allow: [entry], local: false } });
    expect(ended).toBe(isAllowed ? "CONNECTION_FAILED" : "ADDRESS_REFUSED");
  });

  it.each([
    ["*.internal.example.com", "db.internal.example.com", true],
    ["*.internal.example.com", "a.b.internal.example.com", true],
    ["*.internal.example.com", "DB.Internal.Example.com.", true],
    ["*.Internal.example.com", "db.internal.example.com", true],
    ["*.internal.example.com", "internal.example.com", false],
    ["*.internal.example.com", "evil-internal.example.com", false],
    ["*.internal.example.com", "db.internal.example.com.evil.test", false],
    ["localhost", "localhost", true],
    ["localhost", "localhost.evil.test", false],
  ])(
    "with %s in network.allow, %s may be at a private address: %s",
    async (entry, name, isAllowed) => {
      spyOnSockets();
      const rules = { allow: [entry], local: false };
      const { ended } = await attempt(name, { rules, dialing: answering(["10.0.0.1"]) });
      expect(ended).toBe(isAllowed ? "CONNECTION_FAILED" : "ADDRESS_REFUSED");
    },
  );

  it("does not take an address from network.allow for a name that resolves to another one", async () => {
    const asked = spyOnSockets();
    const rules = { allow: ["10.0.0.1"], local: false };
    const dialing = answering(["10.0.0.2", "10.0.0.1"]);
    await attempt("db.example", { rules, dialing });
    expect(asked()).toEqual(["10.0.0.1"]);
  });

  it("names every mistake in network.allow at once", () => {
    const allow = [
      "10.0.0.0/33",
      "*",
      "a*.example",
      "10.0/8",
      "http://x",
      "fe80::1%eth0",
      "db.example",
    ];
    expect(() => createNetwork({ allow, local: false })).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringMatching(
          /"10\.0\.0\.0\/33", "\*", "a\*\.example", "10\.0\/8", "http:\/\/x", "fe80::1%eth0";/,
        ),
      }),
    );
  });
});

describe("any host and any answers", () => {
  it("is for rules the host that is dialed, with brackets or without", () => {
    const name = fc.array(fc.stringMatching(/^[a-zA-Z0-9]([a-zA-Z0-9_-]{0,5}[a-zA-Z0-9])?$/), {
      minLength: 1,
      maxLength: 3,
    });
    const host = fc.oneof(
      anyAddress,
      name.map((labels) => labels.join(".")),
    );
    fc.assert(
      fc.property(host, fc.boolean(), (one, isBracketed) => {
        const text = isBracketed ? `[${one}]` : one;
        let dialed: string;
        try {
          dialed = decodeHost(text).host;
        } catch {
          return;
        }
        const meant = isIP(dialed) === 0 ? dialed.toLowerCase() : String(readAddress(dialed));
        expect(canonicalHost(text)).toBe(meant);
      }),
      { numRuns: 3_000 },
    );
  });

  it("connects only to addresses that an independent list of networks allows", async () => {
    const asked = spyOnSockets();
    const rules = { allow: GRANTED_ENTRIES, local: false };
    await fc.assert(
      fc.asyncProperty(fc.array(anyAddress, { minLength: 1, maxLength: 4 }), async (answers) => {
        await attempt("db.example", { rules, dialing: answering(answers) });
        await attempt(answers[0] ?? "", { rules });
      }),
      { numRuns: 1_000 },
    );
    expect(asked().filter((address) => !isInnocent(address))).toEqual([]);
  });

  it("judges an IPv4 address the same in every IPv6 wrapping", async () => {
    spyOnSockets();
    await fc.assert(
      fc.asyncProperty(anyIpv4, fc.constantFrom(...WRAPPINGS), async (ipv4, wrap) => {
        for (const rules of [SERVER, LOCAL, { allow: ["10.0.0.0/8"], local: false }]) {
          const wrapped = await attempt(wrap(ipv4), { rules });
          const bare = await attempt(ipv4, { rules });
          expect(wrapped.ended).toBe(bare.ended);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("never asks a resolver for any spelling of an IPv4 address", async () => {
    const asked = spyOnSockets();
    const lookup = vi.fn<() => Promise<string[]>>(async () => ["127.0.0.1"]);
    await fc.assert(
      fc.asyncProperty(anyIpv4, fc.constantFrom(...SPELLINGS), async (ipv4, spell) => {
        await attempt(spell(ipv4), { dialing: { lookup } });
      }),
      { numRuns: 500 },
    );
    expect(lookup).not.toHaveBeenCalled();
    expect(asked().filter((address) => !isInnocent(address))).toEqual([]);
  });
});
