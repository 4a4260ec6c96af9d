import type { HeldSecret } from "../../src/security/redaction-encodings.ts";
import { ENCODINGS } from "../security/encodings.ts";
import { seeded } from "../core/seeded.ts";

/** What the bot holds in this world. Two have a known issuer's shape, two look like nothing but what they are. */
export const HELD: readonly HeldSecret[] = [
  { name: "SLACK_BOT_TOKEN", value: ["xoxb", "481516234207", "QmFzZTY0IGlzIG5vdA"].join("-") },
  { name: "STORE_TOKEN", value: "q7Vn2LkPz0aXw9RtYc4HsD6uJm1BfGe8" },
  { name: "DB_PASSWORD", value: `Kx#9+v/l"é'w=&<Zq>%7~Tn3` },
  { name: "SIGNING_KEY", value: "5f1c0a9be27d4483a6f09e1b7c35d82e64a1f7b09c2e5d38" },
];

/** What is left of text when whoever reads it undoes common escapes, and sees through what cannot be seen. */
function unwrapped(text: string): string {
  let plain = text.replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, "");
  for (let pass = 0; pass < 3; pass += 1) {
    plain = plain
      .replaceAll(/(?:%[0-9a-f]{2})+/gi, decoded)
      .replaceAll(/\\u([0-9a-f]{4})|\\x([0-9a-f]{2})/gi, (_, unit: string, byte: string) =>
        String.fromCharCode(Number.parseInt(unit ?? byte, 16)),
      )
      .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity)
      .replaceAll(/\\([^])/g, "$1");
  }
  return plain;
}

const ENTITIES: Record<string, string> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

function decoded(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return escapes;
  }
}

/** Where base64 begins in a longer text decides which of three forms a value has; these parts are the same in all. */
function base64Cores(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    return (["base64", "base64url"] as const).map((form) =>
      padded.toString(form).slice(before === 0 ? 0 : 4, -4),
    );
  });
}

/** As long a part of a value as this gives it away. */
const PART = 8;

interface Needle {
  name: string;
  text: string;
  /** It is looked for in what is left of the text without its escapes. */
  plain: boolean;
}

const NEEDLES: readonly Needle[] = HELD.flatMap(({ name, value }) => {
  const random = seeded(7);
  const parts = [value.slice(0, PART), value.slice(-PART), value.slice(6, 6 + PART)];
  const written = Object.values(ENCODINGS)
    .map((encode) => encode(value, random))
    .filter((form) => !parts.some((part) => unwrapped(form).includes(part)));
  const hidden = [...base64Cores(value), ...written];
  return [
    ...parts.map((text) => ({ name, text, plain: true })),
    ...[...new Set(hidden)].map((text) => ({ name, text, plain: false })),
  ];
});

/** The held secrets in a text, whole in any encoding or a telling part as it is, with what stands around the first. */
export function secretsIn(text: string): string[] {
  const plain = unwrapped(text);
  const found = NEEDLES.flatMap((needle) => {
    const hay = needle.plain ? plain : text;
    const at = hay.indexOf(needle.text);
    if (at < 0) return [];
    return [`${needle.name} in ${JSON.stringify(hay.slice(Math.max(0, at - 60), at + 60))}`];
  });
  return [...new Map(found.map((each) => [each.split(" ", 1)[0], each])).values()];
}
