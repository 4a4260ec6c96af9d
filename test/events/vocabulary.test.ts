import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { parseAst } from "rolldown/parseAst";
import { expect, test } from "vitest";
import { isRecord } from "../../src/core/json.ts";
import { appends } from "../../src/core/appends.ts";
import { decodeContent } from "../../src/core/entry-codec.ts";
import { type Entry, isPost, type Kind } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { BotEvent } from "../../src/events/event.ts";
import { logEvents } from "../../src/events/log.ts";
import { LOG_EVENTS, LOG_FIELDS } from "../../src/events/vocabulary.ts";
import released from "../core/golden-entries.json" with { type: "json" };

const KEY: JournalKey = "slack:T1:C1:1.5";
const SRC = join(import.meta.dirname, "../../src");
/** What every line of pino's has. */
const OWN = ["level", "time", "pid", "hostname", "msg"];
const UNITS: Readonly<Record<string, RegExp>> = { ms: /ms$/i, Tokens: /tokens/ };

const entries = Object.entries(released).flatMap(([kind, versions]) =>
  versions.map(({ version, body }): Entry => {
    const stored = { stored: "x", kind, version, body: JSON.stringify(body) };
    return { seq: 1, at: 1, id: "x", ...decodeContent(stored) } as Entry;
  }),
);

const EVENTS: readonly BotEvent[] = [
  ...entries
    .filter((entry) => !isPost(entry))
    .map((entry) => ({ kind: "written" as const, key: KEY, entry })),
  { kind: "model_asked", key: KEY, run: "r1", step: 1 },
  { kind: "tool_began", key: KEY, run: "r1", call: "r1.t1", tool: "look" },
  { kind: "tool_crashed", tool: "look", args: {}, error: new TypeError("no") },
  { kind: "circuit_opened", tool: "look", failures: 5, waitMs: 30_000 },
  { kind: "memory", did: "remembered", what: "note", id: "m-a", thread: KEY },
  { kind: "memory", did: "merged", id: "m-b", thread: KEY },
  { kind: "memory", did: "forgotten", id: "m-a", thread: KEY },
  { kind: "memory", did: "recalled", found: 3, ms: 12 },
  { kind: "memory", did: "failed", doing: "recall", error: new Error("away") },
  { kind: "memory", did: "failed", doing: "embed", error: new Error("away"), model: "m" },
];

function logged(events: readonly BotEvent[]): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = pino({ level: "debug" }, stream);
  for (const event of events) logEvents(log)(event);
  return lines;
}

test("each thing that happens is a line with its name and known fields, and each name is some line's", () => {
  const lines = logged(EVENTS);
  expect(lines).toHaveLength(EVENTS.length);
  expect(new Set(lines.map(({ event }) => event))).toEqual(new Set(Object.keys(LOG_EVENTS)));
  for (const line of lines)
    for (const name of Object.keys(line))
      expect([...OWN, ...Object.keys(LOG_FIELDS)]).toContain(name);
});

test("a field that is a time or a size has its unit in its line of the table, and is a number", () => {
  const fields: Readonly<Record<string, string>> = LOG_FIELDS;
  for (const [unit, said] of Object.entries(UNITS)) {
    const isIts = (name: string) =>
      name === unit || name.toLowerCase().endsWith(unit.toLowerCase());
    for (const name of Object.keys(fields).filter(isIts)) expect(fields[name], name).toMatch(said);
    for (const line of logged(EVENTS))
      for (const name of Object.keys(line).filter(isIts)) expect(line[name]).toBeTypeOf("number");
  }
});

test("no line holds what people wrote or tools found", () => {
  const words = (kind: Kind) =>
    entries.flatMap((entry) =>
      entry.kind === kind && "text" in entry && (entry.text ?? "").length > 3
        ? [entry.text ?? ""]
        : [],
    );
  const all = JSON.stringify(logged(EVENTS));
  for (const kind of Object.keys(appends) as Kind[])
    for (const text of words(kind)) expect(all).not.toContain(JSON.stringify(text).slice(1, -1));
});

const CALL = /\blog(?:\.(?:fatal|error|warn|info|debug|trace)|\[[^\]]+\])(?=\()/g;

/** The fields that the program's lines are given, and what gives them otherwise than by name. */
function fieldsGiven() {
  const fields = new Set<string>();
  const others = new Set<string>();
  for (const file of readdirSync(SRC, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    const source = readFileSync(join(SRC, file), "utf8");
    for (const { 0: name, index } of source.matchAll(CALL)) {
      const call = `f${inBrackets(source, index + name.length)}`;
      const { about, isAlone } = aboutOf(parseAst(call, { lang: "ts" }));
      if (isAlone || !isRecord(about)) continue;
      const { properties } = about;
      for (const given of Array.isArray(properties) ? properties.filter(isRecord) : [about]) {
        const { key, computed, start, end } = given;
        if (computed !== true && isRecord(key)) fields.add(String(key["name"]));
        else others.add(call.slice(Number(start), Number(end)));
      }
    }
  }
  return { fields, others };
}

/** A call's arguments: from the bracket there to the one that closes it. */
function inBrackets(source: string, from: number): string {
  let depth = 0;
  for (let at = from; at < source.length; at++) {
    if (source[at] === "(") depth += 1;
    if (source[at] === ")") depth -= 1;
    if (depth === 0) return source.slice(from, at + 1);
  }
  throw new Error(`No bracket closes ${source.slice(from, from + 40)}`);
}

/** The first argument of a program that is one call. */
function aboutOf({ body }: { body: unknown[] }): { about: unknown; isAlone: boolean } {
  const [statement] = body;
  const call = isRecord(statement) ? statement["expression"] : undefined;
  const given = isRecord(call) ? call["arguments"] : undefined;
  if (!Array.isArray(given)) throw new Error("That is no call.");
  return { about: given[0], isAlone: given.length === 1 };
}

test("every line of the program has known fields only, and every known field is some line's", () => {
  const { fields, others } = fieldsGiven();
  const known = Object.keys(LOG_FIELDS);
  expect(fields.size).toBeGreaterThan(30);
  expect([...fields].filter((name) => !known.includes(name))).toEqual([]);
  // A new way to give a line fields: they have to be in the table too.
  expect([...others].toSorted()).toEqual([
    "...(error !== undefined && { err: error })",
    "...(id === only.id && { name: only.name })",
    "...held",
    "...of",
    "[living.kind]: living.card.id",
    "about",
  ]);
  const otherwise = ["times", "longestMs", "incident", "platform"];
  const all = [...fields, ...otherwise, ...logged(EVENTS).flatMap((line) => Object.keys(line))];
  expect(known.filter((name) => !all.includes(name))).toEqual([]);
});
