import { describe, expect, test } from "vitest";
import { encodeText } from "../../src/security/sanitize.ts";
import { createRedactor } from "../../src/security/redaction.ts";
import { ORDINARY_LINES } from "./log-lines.ts";
import {
  NAMED_CARRIERS,
  OPAQUE,
  PASSWORD_CARRIERS,
  PASSWORDS,
  PLAIN_CARRIERS,
  privateKey,
  SHAPES,
} from "./redaction-samples.ts";
import { seeded, type Seeded } from "../core/seeded.ts";

const nothingHeld = createRedactor([]);

describe("secrets that nobody told us of", () => {
  test.each([
    ["that look like their issuer's", SHAPES, PLAIN_CARRIERS, 4],
    ["that are named", OPAQUE, NAMED_CARRIERS, 12],
    ["that are passwords", PASSWORDS, PASSWORD_CARRIERS, 10],
  ] as const)("at least 98 in 100 are found: those %s", (_what, secrets, carriers, rounds) => {
    const { found, missed } = measure(secrets, carriers, rounds);
    expect(found + missed.length).toBeGreaterThan(1_000);
    expect(
      missed.length / (found + missed.length),
      missed.slice(0, 20).join("\n"),
    ).toBeLessThanOrEqual(0.02);
  });

  test("at most 1 in 10 000 ordinary log lines is changed", () => {
    const random = seeded(7);
    const lines = Array.from(
      { length: 20_000 },
      (_, i) => ORDINARY_LINES[i % ORDINARY_LINES.length]?.(random) ?? "",
    );
    const changed = lines.filter((line) => nothingHeld.redact(line) !== line);
    expect(changed.length / lines.length, changed.slice(0, 20).join("\n")).toBeLessThanOrEqual(
      1 / 10_000,
    );
    // All together too: nothing in one line makes a secret of the next.
    const log = lines.slice(0, 2_000).join("\n");
    expect(nothingHeld.redact(log)).toBe(log);
  });

  test("a private key goes whole, in one line, without its end and without its beginning", () => {
    const random = seeded(3);
    for (const kind of [
      "PRIVATE KEY",
      "RSA PRIVATE KEY",
      "EC PRIVATE KEY",
      "OPENSSH PRIVATE KEY",
      "PGP PRIVATE KEY BLOCK",
    ]) {
      const key = privateKey(random, kind);
      const lines = key.split("\n");
      expect(nothingHeld.redact(`a\n${key}\nb`)).toBe("a\n[secret:private-key]\nb");
      expect(nothingHeld.redact(JSON.stringify({ key, b: 1 }))).toBe(
        '{"key":"[secret:private-key]","b":1}',
      );
      expect(nothingHeld.redact(`a\n${lines.slice(0, 6).join("\n")}\n2026-11-21 next line`)).toBe(
        "a\n[secret:private-key]\n2026-11-21 next line",
      );
      expect(nothingHeld.redact(`a b\n${lines.slice(5).join("\n")}\nc`)).toBe(
        "a b\n[secret:private-key]\nc",
      );
      expect(
        nothingHeld.redact(`client-key-data: ${Buffer.from(key).toString("base64")}\n`),
      ).not.toContain(Buffer.from(key).toString("base64").slice(20, 60));
    }
    const certificate = privateKey(random, "CERTIFICATE");
    expect(nothingHeld.redact(certificate)).toBe(certificate);
  });

  test("of a Kubernetes Secret the values go and the names stay", () => {
    const yaml =
      "apiVersion: v1\ndata:\n  color: Ymx1ZQ==\n  tls.crt: LS0t\nkind: Secret\nmetadata:\n  name: web\n";
    expect(nothingHeld.redact(yaml)).toBe(
      "apiVersion: v1\ndata:\n  color: [secret:kubernetes-secret]\n  tls.crt: [secret:kubernetes-secret]\nkind: Secret\nmetadata:\n  name: web\n",
    );
    expect(
      nothingHeld.redact(
        '{"kind": "Secret", "data": {"color": "Ymx1ZQ=="}, "metadata": {"name": "web"}}',
      ),
    ).toBe(
      '{"kind": "Secret", "data": {"color": "[secret:kubernetes-secret]"}, "metadata": {"name": "web"}}',
    );
    expect(
      nothingHeld.redact(
        "kind: Secret\nstringData:\n  note: two words\n  file: |\n    a=b c\n    d\ntype: Opaque\n",
      ),
    ).toBe(
      "kind: Secret\nstringData:\n  note: [secret:kubernetes-secret]\n  file: |\n    [secret:kubernetes-secret]\n    d\ntype: Opaque\n",
    );
    expect(nothingHeld.redact(yaml.replace("Secret", "ConfigMap"))).toBe(
      yaml.replace("Secret", "ConfigMap"),
    );
  });

  test("what is around a secret stays legible", () => {
    for (const [text, shown] of [
      [
        "postgres://svc:x9!k@db1:5432/orders?a=1",
        "postgres://svc:[secret:url-password]@db1:5432/orders?a=1",
      ],
      [
        "GET /x?token=abc123def456&page_token=CAUQAA&n=1",
        "GET /x?token=[secret:named]&page_token=CAUQAA&n=1",
      ],
      [
        "> Authorization: Bearer abc.def-123\n> Accept: */*",
        "> Authorization: Bearer [secret:authorization]\n> Accept: */*",
      ],
      [
        "Set-Cookie: sid=s%3Aabc; Path=/; Secure",
        "Set-Cookie: sid=[secret:cookie]; Path=/; Secure",
      ],
      ['{"password":"a\\"b","user":"ana"}', '{"password":"[secret:named]","user":"ana"}'],
      ["password=hunter2, user=ana", "password=[secret:named], user=ana"],
      [
        "https://hooks.slack.com/services/T0/B0/abcdefgh1234",
        "https://hooks.slack.com/services/[secret:slack-webhook]",
      ],
    ] as const) {
      expect(nothingHeld.redact(text)).toBe(shown);
    }
    expect(nothingHeld.find("password=hunter2 token=AKIAIOSFODNN7EXAMPLE")).toEqual([
      "named",
      "aws-access-key-id",
    ]);
  });
});

interface Measured {
  found: number;
  missed: string[];
}

function measure(
  secrets: Record<string, (random: Seeded) => string>,
  carriers: readonly ((secret: string) => string)[],
  rounds: number,
): Measured {
  const random = seeded(20_261_121);
  const missed: string[] = [];
  let found = 0;
  for (const make of Object.values(secrets)) {
    for (const carry of carriers) {
      for (let round = 0; round < rounds; round += 1) {
        const secret = make(random);
        const text = carry(secret);
        const shown = encodeText(text, nothingHeld);
        const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64")];
        if (forms.some((form) => shown.includes(form))) missed.push(text);
        else found += 1;
      }
    }
  }
  return { found, missed };
}
