import { expect, test } from "vitest";
import { encodeText } from "../../src/security/sanitize.ts";
import { createRedactor } from "../../src/security/redaction.ts";
import { ORDINARY_LINES } from "./log-lines.ts";
import {
  MARKED,
  MARKED_CARRIERS,
  namedSample,
  ORDINARY_WITH_NAMES,
  passwordSample,
} from "./redaction-holdout.ts";
import { seeded } from "../core/seeded.ts";

const redactor = createRedactor([]);
const SEED = 20_261_122;

interface Sample {
  secret: string;
  text: string;
}

/** The samples whose secret is still to be read. */
function missed(samples: readonly Sample[]): string[] {
  return samples.flatMap(({ secret, text }) => {
    const shown = encodeText(text, redactor);
    const half = Math.ceil(secret.length / 2);
    const parts = [secret.slice(0, half), secret.slice(-half)];
    return parts.some((part) => part.length > 6 && shown.includes(part)) ? [text] : [];
  });
}

function marked(): Sample[] {
  const random = seeded(SEED);
  return Object.values(MARKED).flatMap((make) =>
    MARKED_CARRIERS.flatMap((carry) =>
      [0, 1].map(() => {
        const secret = make(random);
        return { secret, text: carry(secret) };
      }),
    ),
  );
}

function many(make: (random: ReturnType<typeof seeded>) => Sample, count: number): Sample[] {
  const random = seeded(SEED);
  return Array.from({ length: count }, () => make(random));
}

test.each([
  ["that carry their issuer's mark", marked()],
  ["that are named, also when they look like an object's name", many(namedSample, 600)],
  ["that stand behind a longer or a short name for a password", many(passwordSample, 300)],
])(
  "of the secrets that were set aside, at least 98 in 100 are found: those %s",
  (_what, samples) => {
    const left = missed(samples);
    expect(samples.length).toBeGreaterThanOrEqual(300);
    expect(left.length / samples.length, left.slice(0, 30).join("\n")).toBeLessThanOrEqual(0.02);
  },
);

test("of the ordinary lines that were set aside, at most 1 in 10 000 is changed", () => {
  const random = seeded(SEED);
  const makers = [...ORDINARY_LINES, ...ORDINARY_WITH_NAMES];
  const lines = Array.from({ length: 20_000 }, (_, i) => makers[i % makers.length]?.(random) ?? "");
  const changed = lines.filter((line) => redactor.redact(line) !== line);
  const share = changed.length / lines.length;
  expect(share, changed.slice(0, 30).join("\n")).toBeLessThanOrEqual(1 / 10_000);
});
