import { expect, test } from "vitest";
import { literal } from "../../src/security/redaction-encodings.ts";
import { createRedactor } from "../../src/security/redaction.ts";
import { privateKey } from "./redaction-samples.ts";
import { seeded } from "../core/seeded.ts";

test("each line of a value is found behind what a log puts before lines, and folded", () => {
  const key = privateKey(seeded(4), "RSA PRIVATE KEY");
  const other = privateKey(seeded(5), "EC PRIVATE KEY");
  const bare = privateKey(seeded(6), "OPAQUE THING").split("\n").slice(1, -1);
  const redactor = createRedactor([
    { name: "PEM", value: key },
    { name: "PEM_IN_ONE_LINE", value: other.replaceAll("\n", String.raw`\n`) },
    { name: "LINES", value: bare.join("\r\n") },
    { name: "PAIRS", value: "login=deploy\ncode=Zt9-qLw27_xK" },
  ]);
  expect(redactor.redact("x: code=Zt9-qLw27_xK")).toBe("x: [secret:PAIRS]");
  expect(redactor.redact(`a ${bare[0]} b ${bare[1]?.toUpperCase()} c`)).toBe(
    "a [secret:LINES] b [secret:LINES] c",
  );
  for (const prefix of ["app: ", "2026-11-22T10:00:00.123Z app[1]: ", "12:", "web-1  | "]) {
    for (const lines of [key.split("\n").slice(1, -1), other.split("\n").slice(1, -1), bare]) {
      const log = lines.map((line) => prefix + line).join("\n");
      for (const text of [log, log.replaceAll(/.{16}/g, "$&\n"), JSON.stringify({ log })]) {
        const shown = redactor.redact(text).replaceAll("\n", "");
        const pieces = lines.flatMap((line) => line.match(/.{6}/g) ?? []);
        expect(
          pieces.filter((piece) => shown.includes(piece)),
          shown,
        ).toEqual([]);
      }
      expect(redactor.redact(log)).toMatch(new RegExp(`^${literal(prefix)}\\[secret:\\w+\\]\n`));
    }
  }
});

test("of a value of several lines, what stands in other texts too is left alone", () => {
  const line = seeded(7).text("abcdefghijklmnopqrstuvwxyz0123456789", 40);
  const common = [
    "-----BEGIN OPAQUE THING-----",
    "--------------------",
    "authentication",
    "  Configuration:",
    "apiVersion: v1",
    '  "type": "service_account",',
    '  "auth_uri": "https://accounts.google.com/o/oauth2/auth",',
    "user = administrator",
  ];
  const redactor = createRedactor([
    { name: "FILE", value: [...common, line, "a1b2c3d4"].join("\n") },
  ]);
  expect(redactor.ignored).toEqual([]);
  for (const text of [...common, "a1b2c3d4"]) {
    expect(redactor.redact(`app: ${text.trim()}`)).toBe(`app: ${text.trim()}`);
  }
  expect(redactor.redact(`app: ${line}`)).toBe("app: [secret:FILE]");
});
