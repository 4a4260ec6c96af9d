import * as z from "zod";

/**
 * Values as tuples: what a zod schema describes, without the names of its fields, and with choices as numbers. Both ways
 * check the types as the schema does, at a fraction of its cost.
 *
 * What was written is read for ever, so a schema only grows at the ends: a new optional field comes after the other
 * optional ones, a new choice after the other choices.
 */

/** A SHA-256 in hexadecimal, whole or its first half; any other text fits too. */
export const hash = z.string();
export const json = z.json();
/** JSON as somebody wrote it; any other text fits too. */
export const jsonText = z.string();

/** `named`: a name that the value may repeat parts of; it is known again when it is read. */
export interface Tuples {
  /** @throws TypeError when the schema does not describe it */
  pack(fields: object, named: string): unknown[];
  /** @throws TypeError when it is not what `pack` makes */
  unpack(packed: unknown, named: string): object;
}

interface Codec {
  pack(value: unknown, named: string): unknown;
  unpack(packed: unknown, named: string): unknown;
}

/** What the name says by itself: a required field is written only where it is something else. */
export interface Said {
  readonly fields: readonly string[];
  of(named: string): Readonly<Record<string, unknown>>;
}

const NOTHING: Said = { fields: [], of: () => ({}) };

/** `ignored`: what else the packed object may have, which is left out. */
export function tuplesOf(
  schema: z.ZodType,
  ignored: readonly string[],
  said: Said = NOTHING,
): Tuples {
  if (!(schema instanceof z.ZodObject)) throw new TypeError(`${schema.type} has no fields`);
  const codec = (field: unknown) => (isPlain(field) ? repeating : codecOf(field));
  return objectOf(schema, { codec, ignored, said });
}

function misfit(): never {
  throw new TypeError("a value is not of the form of its kind");
}

function listOf(packed: unknown): readonly unknown[] {
  return Array.isArray(packed) ? packed : misfit();
}

/** One that packs to what it is. */
function leaf(fits: (value: unknown) => boolean): Codec {
  const check = (value: unknown) => (fits(value) ? value : misfit());
  return { pack: check, unpack: check };
}

const text = leaf((value) => typeof value === "string");
const isWhole = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const count = leaf(isWhole);
const anything = leaf(isJson);

/** What JSON can say and `JSON.parse` gives back. */
function isJson(value: unknown): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  return isPlainObject(value) && Object.values(value).every(isJson);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isObject(value) || Object.hasOwn(value, "__proto__")) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const HEX = /^[0-9a-f]+$/;
const isHash = (value: string) => (value.length === 64 || value.length === 32) && HEX.test(value);

/** Other text begins with `=`, which base64url has not. */
const hashed: Codec = {
  pack(value) {
    if (typeof value !== "string") return misfit();
    return isHash(value) ? Buffer.from(value, "hex").toString("base64url") : `=${value}`;
  },
  unpack(packed) {
    if (typeof packed !== "string") return misfit();
    if (packed.startsWith("=")) return packed.slice(1);
    const value = Buffer.from(packed, "base64url").toString("hex");
    return isHash(value) ? value : misfit();
  },
};

/** Longer text stays text: what it nests is never too deep for the stack then. */
const MAX_WRITTEN = 2_000;

/** An object or a list as itself, where it says the same to the letter: quotes are escaped once. */
const written: Codec = {
  pack(value) {
    if (typeof value !== "string") return misfit();
    if (value.length > MAX_WRITTEN || !/^[{[]/.test(value)) return value;
    try {
      const told: unknown = JSON.parse(value);
      return JSON.stringify(told) === value ? told : value;
    } catch {
      return value;
    }
  },
  unpack(packed) {
    if (typeof packed === "string") return packed;
    return typeof packed === "object" && packed !== null ? JSON.stringify(packed) : misfit();
  },
};

/** The longest part of a name that is told by its place, and one more. */
const PART = 64;

/** A text, as a number where it is a part of the name: its length, and 64 times how much of the name comes after it. */
const repeating: Codec = {
  pack(value, named) {
    if (typeof value !== "string") return misfit();
    if (value.length < 2 || value.length >= PART) return value;
    const at = named.lastIndexOf(value);
    return at === -1 ? value : (named.length - at - value.length) * PART + value.length;
  },
  unpack(packed, named) {
    if (typeof packed === "string") return packed;
    if (typeof packed !== "number") return misfit();
    const [length, end] = [packed % PART, named.length - Math.floor(packed / PART)];
    return length > 0 && end <= named.length && end >= length
      ? named.slice(end - length, end)
      : misfit();
  },
};

/** Whether it takes any text, and says nothing of what kind. */
function isPlain(schema: unknown): boolean {
  if (!(schema instanceof z.ZodString) || schema === hash || schema === jsonText) return false;
  return (schema.def.checks ?? []).length === 0;
}

function isCount(schema: unknown): boolean {
  if (!(schema instanceof z.ZodNumber)) return false;
  const { isInt, minValue, maxValue } = schema;
  return isInt && minValue === 0 && maxValue === Number.MAX_SAFE_INTEGER;
}

function codecOf(schema: unknown): Codec {
  if (schema === hash) return hashed;
  if (schema === json) return anything;
  if (schema === jsonText) return written;
  if (isPlain(schema)) return text;
  if (isCount(schema)) return count;
  if (schema instanceof z.ZodString || schema instanceof z.ZodNumber) {
    return leaf((value) => schema.safeParse(value).success);
  }
  if (schema instanceof z.ZodBoolean) return choiceOf([false, true]);
  if (schema instanceof z.ZodEnum) return choiceOf(schema.options);
  if (schema instanceof z.ZodLiteral) return choiceOf([...schema.values]);
  if (schema instanceof z.ZodNullable) return nullable(codecOf(schema.unwrap()));
  if (schema instanceof z.ZodArray) return listed(codecOf(schema.element));
  if (schema instanceof z.ZodRecord && isPlain(schema.keyType)) {
    return recorded(codecOf(schema.valueType));
  }
  if (schema instanceof z.ZodDiscriminatedUnion) return oneOf(schema);
  if (schema instanceof z.ZodObject) return objectOf(schema);
  throw new TypeError("a field of an unknown form");
}

function choiceOf(values: readonly unknown[]): Codec {
  const places = new Map(values.map((value, place) => [value, place]));
  return {
    pack: (value) => places.get(value) ?? misfit(),
    unpack: (packed) =>
      typeof packed === "number" && packed in values ? values[packed] : misfit(),
  };
}

function nullable(inner: Codec): Codec {
  return {
    pack: (value, named) => (value === null ? null : inner.pack(value, named)),
    unpack: (packed, named) => (packed === null ? null : inner.unpack(packed, named)),
  };
}

function listed(item: Codec): Codec {
  return {
    pack: (value, named) => listOf(value).map((each) => item.pack(each, named)),
    unpack: (packed, named) => listOf(packed).map((each) => item.unpack(each, named)),
  };
}

function recorded(value: Codec): Codec {
  const each = (way: "pack" | "unpack") => (found: unknown, named: string) => {
    if (!isPlainObject(found)) return misfit();
    const entries = Object.entries(found);
    return Object.fromEntries(entries.map(([key, inner]) => [key, value[way](inner, named)]));
  };
  return { pack: each("pack"), unpack: each("unpack") };
}

/** Its option's number and then that one's fields, or the mere number where it has none. */
function oneOf(schema: z.ZodDiscriminatedUnion): Codec {
  const { discriminator } = schema.def;
  const options = schema.options.map((option) => {
    if (!(option instanceof z.ZodObject)) throw new TypeError("a choice without fields");
    const of: unknown = option.shape[discriminator];
    if (!(of instanceof z.ZodLiteral)) throw new TypeError("a choice that no word tells");
    return { name: of.value, fields: fieldsOf(option, { told: { [discriminator]: of.value } }) };
  });
  const places = new Map<unknown, number>(options.map(({ name }, place) => [name, place]));
  return {
    pack(value, named) {
      const place = isObject(value) ? (places.get(value[discriminator]) ?? -1) : -1;
      const packed = options[place]?.fields.pack(value, named) ?? misfit();
      return packed.length === 0 ? place : [place, ...packed];
    },
    unpack(packed, named) {
      const list = typeof packed === "number" ? [packed] : listOf(packed);
      const option = options[Number(list[0])] ?? misfit();
      return option.fields.unpack(list, 1, named);
    },
  };
}

interface Besides {
  /** Fields that are known otherwise, with their values. */
  readonly told?: Readonly<Record<string, unknown>>;
  readonly ignored?: readonly string[];
  readonly said?: Said;
  readonly codec?: (field: unknown) => Codec;
}

function objectOf(schema: z.ZodObject, besides: Besides = {}): Tuples {
  const { pack, unpack } = fieldsOf(schema, besides);
  return { pack, unpack: (packed, named) => unpack(listOf(packed), 0, named) };
}

interface Fields {
  pack(fields: unknown, named: string): unknown[];
  /** `from`: where they begin. */
  unpack(packed: readonly unknown[], from: number, named: string): object;
}

interface Member {
  /** As a source text. */
  readonly name: string;
  readonly codec: Codec;
  /** What an optional field always is: being there says it. */
  readonly only?: unknown;
  /** It is left out where it is what the name says. */
  readonly isSaid?: true;
}

/**
 * The required fields in their order, then, if any optional one is there, which of them are, as the bits of a number, and
 * these. What the name says comes first among those.
 */
function fieldsOf(
  schema: z.ZodObject,
  { told = {}, ignored = [], said = NOTHING, codec = codecOf }: Besides,
): Fields {
  const required: Member[] = [];
  const optional: Member[] = said.fields.map((field) => {
    return { name: JSON.stringify(field), codec: codec(schema.shape[field]), isSaid: true };
  });
  for (const [field, type] of Object.entries(schema.shape)) {
    if (Object.hasOwn(told, field) || said.fields.includes(field)) continue;
    const name = JSON.stringify(field);
    if (type instanceof z.ZodOptional) {
      const inner: unknown = type.unwrap();
      const only = inner instanceof z.ZodLiteral ? { only: inner.value } : {};
      optional.push({ name, codec: codec(inner), ...only });
    } else required.push({ name, codec: codec(type) });
  }
  if (optional.length > 30) throw new TypeError("more optional fields than a number has bits");
  const known = [...ignored, ...Object.keys(schema.shape)].map((name) => JSON.stringify(name));
  const codecs = [...required, ...optional].map((member) => member.codec);
  const source = `return {
    pack(value, named) { ${packing(required, optional, known)} },
    unpack(packed, from, named) { ${unpacking(required, optional, told)} },
  }`;
  // A program that looks at the schema for each value takes several times as long; zod makes one too.
  // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-type-assertion -- of our own schemas alone
  const make = new Function("codecs", "misfit", "isWhole", "said", source) as (
    ...parts: unknown[]
  ) => Fields;
  return make(codecs, misfit, isWhole, said);
}

/** An expression for what becomes of a value; `place`: the codec's. */
function coding(way: "pack" | "unpack", value: string, { codec }: Member, place: number): string {
  if (codec === text) return `typeof ${value} === "string" ? ${value} : misfit()`;
  if (codec === count) return `isWhole(${value}) ? ${value} : misfit()`;
  return `codecs[${place}].${way}(${value}, named)`;
}

const lines = <T>(items: readonly T[], line: (item: T, place: number) => string) =>
  items.map(line).join("\n");

function packing(required: readonly Member[], optional: readonly Member[], known: string[]) {
  const first = required.length;
  return `
    if (typeof value !== "object" || value === null) misfit();
    for (const name in value) switch (name) {
      ${lines(known, (name) => `case ${name}:`)}
        break;
      default:
        misfit();
    }
    const packed = [
      ${lines(required, (member, i) => `${coding("pack", `value[${member.name}]`, member, i)},`)}
    ];
    let which = 0;
    ${saying(optional)}
    ${lines(optional, ({ name, isSaid }, i) => `if (value[${name}] !== ${isSaid ? `known[${name}]` : undefined}) which |= ${1 << i};`)}
    if (which === 0) return packed;
    packed.push(which);
    ${lines(optional, (member, i) => {
      const inner = coding("pack", `value[${member.name}]`, member, first + i);
      return `if ((which & ${1 << i}) !== 0) ${"only" in member ? inner : `packed.push(${inner})`};`;
    })}
    return packed;`;
}

const saying = (optional: readonly Member[]) =>
  optional.some(({ isSaid }) => isSaid) ? "const known = said.of(named);" : "";

function unpacking(required: readonly Member[], optional: readonly Member[], told: object) {
  const first = required.length;
  return `
    let at = from, next;
    ${saying(optional)}
    const fields = {
      ${lines(
        optional.filter(({ isSaid }) => isSaid),
        ({ name }) => `${name}: known[${name}],`,
      )}
      ${lines(Object.entries(told), ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)},`)}
      ${lines(required, (member, i) => `${member.name}: (next = packed[at++], ${coding("unpack", "next", member, i)}),`)}
    };
    if (at < packed.length) {
      const which = packed[at++];
      if (!isWhole(which) || which >= ${2 ** optional.length}) misfit();
      ${lines(optional, (member, i) => {
        const inner = `(next = packed[at++], ${coding("unpack", "next", member, first + i)})`;
        const value = "only" in member ? JSON.stringify(member.only) : inner;
        return `if ((which & ${1 << i}) !== 0) fields[${member.name}] = ${value};`;
      })}
    }
    if (at !== packed.length) misfit();
    ${lines(optional, (member, i) => (member.isSaid ? `${coding("pack", `fields[${member.name}]`, member, first + i)};` : ""))}
    return fields;`;
}
