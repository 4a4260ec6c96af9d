import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_TEXT_BYTES, readText } from "../../src/commands/grammar.ts";
import { USAGE } from "../../src/commands/phrases.ts";
import { commandLine } from "../../src/tools/arguments.ts";
import { phraseProblem } from "../../src/tools/say.ts";
import { cpuMs } from "../cpu-time.ts";
import { problemOf, run } from "./reading.ts";

describe("commands", () => {
  it("cost, also of days", () => {
    const call = (args: object) => ({
      kind: "command",
      command: { name: "run", tool: "cost_per_day", args },
    });
    expect(readText("cost today")).toEqual(call({ days: "1" }));
    expect(readText("/cost per day")).toEqual(call({}));
  });

  it.each([
    "usage",
    "/usage",
    "What did this cost?",
    "how much did this thread cost so far?",
    "how much has it cost",
    "what have you used so far?",
    "How many tokens did this use?",
    "what did your answer cost?",
  ])("%s asks what the thread used", (text) => {
    expect(readText(text)).toEqual({ kind: "command", command: { name: "cost" } });
  });

  it.each([
    "usage today",
    "what did today cost?",
    "how much have we used today?",
    "how much budget is left?",
    "How much of the budget is left today?",
    "what's my budget?",
  ])("%s asks what the day used", (text) => {
    expect(readText(text)).toEqual(run("cost_per_day", { days: "1" }));
  });

  it.each([
    "what did that cost?",
    "how much did the outage cost?",
    "what did this cost us in revenue?",
    "usage of /var on db-1",
    "memory usage",
    "how much memory is left?",
    "how much is left on /var?",
    "what is the budget of the checkout SLO?",
    "how many tokens does the rate limiter of web have left?",
    "extend the volume of db-1",
    "extend the silence by an hour",
    "continue",
  ])("%s is prose", (text) => {
    expect(readText(text)).toEqual({ kind: "message" });
  });

  it("extend names a run or what is at work", () => {
    const choice = { kind: "extend" };
    const click = { kind: "click", revision: 0, choice };
    expect(readText("extend")).toEqual({ ...click, action: "" });
    expect(readText("/extend R3")).toEqual({ ...click, action: "r3" });
    expect(problemOf("/extend it")).toContain("extend r1");
  });

  it("remember, notes and forget; what is asked or told is prose", () => {
    const call = (tool: string, args: object) => ({
      kind: "command",
      command: { name: "run", tool, args },
    });
    const noted = call("remember", { text: "web-2 is drained" });
    for (const text of ["remember: web-2 is drained", "remember that web-2 is drained"])
      expect(readText(text)).toEqual(noted);
    expect(readText("/remember web-2 is drained")).toEqual(noted);
    expect(readText("notes about web-2")).toEqual(call("notes", { text: "web-2" }));
    expect(readText("/notes web-2")).toEqual(call("notes", { text: "web-2" }));
    expect(readText("notes")).toEqual(call("notes", {}));
    expect(readText("forget M-k3qa7xw2ab")).toEqual(call("forget", { id: "M-k3qa7xw2ab" }));
    expect(readText("forget the note about web-2 drained")).toEqual(
      call("forget", { text: "web-2 drained" }),
    );
    expect(readText("/forget it")).toEqual(call("forget", { text: "it" }));
    for (const text of ["recall checkout 502", "/recall checkout 502"])
      expect(readText(text)).toEqual(call("recall", { text: "checkout 502" }));
    for (const text of [
      "recall how we fixed it?",
      "recall",
      "forget web-2 for now",
      "forget the last deploy",
      "forget about that",
      "forget the plan.\nRestart it instead",
      "remember that outage?",
      "remember the outage",
      "notes are late",
      "forget it",
    ])
      expect(readText(text)).toEqual({ kind: "message" });
  });

  it.each(["help", "status", "tools", "cost", "approvals", "quiet", "listen"])(
    "%s, with or without a slash",
    (name) => {
      const expected = { kind: "command", command: { name } };
      expect(readText(name)).toEqual(expected);
      expect(readText(`/${name}`)).toEqual(expected);
      expect(readText(`  ${name.toUpperCase()}\n`)).toEqual(expected);
    },
  );

  it.each(Object.keys(USAGE))("%s begins no sentence of a tool", (word) => {
    expect(phraseProblem(`${word} now`, [], new Set(), {})).toMatch(/program's own/);
  });

  it.each(["tools Kubernetes", "/tools kubernetes"])("%j asks for one system's tools", (text) => {
    const command = { name: "tools", system: "kubernetes" };
    expect(readText(text)).toEqual({ kind: "command", command });
  });

  it.each(["stop", "/stop", "Stop", "STOP!", "stop.", " stop!!! ", "stop now!", "Stop, please"])(
    "%j stops",
    (text) => {
      expect(readText(text)).toEqual({ kind: "stop" });
    },
  );

  it.each([
    ["run uptime", run("uptime")],
    ["/run uptime", run("uptime")],
    ["Run uptime", run("uptime")],
    [
      "run http_check url=https://a.b/?x=1&y='2'",
      run("http_check", { url: "https://a.b/?x=1&y=2" }),
    ],
    ["run t a=1 b='two words' c=\"it's\"", run("t", { a: "1", b: "two words", c: "it's" })],
    ["run t\n  a=1\n  b=2", run("t", { a: "1", b: "2" })],
    ["run t a='line 1\nline 2'", run("t", { a: "line 1\nline 2" })],
    [`run t argv='["a", "b c"]'`, run("t", { argv: '["a", "b c"]' })],
    [String.raw`run t a="say \"hi\" \\ \n" b=\d+`, run("t", { a: 'say "hi" \\ \\n', b: "\\d+" })],
    ["run t a=x'y z'\"w\"", run("t", { a: "xy zw" })],
    ["run t a= b=''", run("t", { a: "", b: "" })],
    ["run t a=b=c", run("t", { a: "b=c" })],
    ["run t pattern=[a-z]+", run("t", { pattern: "[a-z]+" })],
    ["run t constructor=1 toString=2", run("t", { constructor: "1", toString: "2" })],
  ])("%j", (text, expected) => {
    expect(readText(text)).toEqual(expected);
  });

  it("every set of texts that can be printed as a run command reads back the same", () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
    const text = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.string({ unit: fc.constantFrom("'", '"', "\\", " ", "\n", "=", "[", "{", "“", "a") }),
    );
    fc.assert(
      fc.property(name, fc.dictionary(name, text, { maxKeys: 5 }), (tool, args) => {
        expect(readText(commandLine(tool, args))).toEqual(run(tool, { ...args }));
      }),
      { numRuns: 1_000 },
    );
  });

  it("nothing that people can type makes it throw, or reads as two things", () => {
    const part = fc.constantFrom(
      ..."run stop approve deny settle edit a1 a1.2 t x= '\" ' \" { } [ ] \\ / = because happened".split(
        " ",
      ),
      " ",
      "\n",
    );
    const kinds = ["message", "command", "stop", "click"];
    fc.assert(
      fc.property(
        fc.array(part).map((parts) => parts.join("")),
        (text) => {
          expect(kinds).toContain(readText(text).kind);
          expect(readText(` ${text} `)).toEqual(readText(text.trim()));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("a long line of quotes is read in time that grows with its length only", async () => {
    const line = `run t a="${String.raw`\"`.repeat(8_000)}`;
    expect(await cpuMs(() => expect(problemOf(line)).toContain("didn't close it"))).toBeLessThan(
      1_000,
    );
  });
});

describe("clicks", () => {
  it("a misspelled word and an action's name say what was meant; prose stays prose", () => {
    expect(problemOf("aprove a1")).toBe("Did you mean `approve a1`? I did nothing.");
    expect(problemOf("Dney a1.2")).toContain("`deny a1.2`");
    for (const prose of ["aprove a1 please", "prove a1", "see a1", "aprove it"])
      expect(readText(prose)).toEqual({ kind: "message" });
  });

  const click = { kind: "click", action: "a1", revision: 1 };
  it.each([
    ["approve a1", { ...click, choice: { kind: "approve" } }],
    ["/approve a1", { ...click, choice: { kind: "approve" } }],
    ["Approve A1", { ...click, choice: { kind: "approve" } }],
    ["approve\u00A0a12.3", { ...click, action: "a12", revision: 3, choice: { kind: "approve" } }],
    ["deny a1", { ...click, choice: { kind: "deny" } }],
    ["deny a1 because", { ...click, choice: { kind: "deny" } }],
    ["deny a1 because wrong\nhost", { ...click, choice: { kind: "deny", reason: "wrong\nhost" } }],
    ["deny a1 wrong host", { ...click, choice: { kind: "deny", reason: "wrong host" } }],
    ["settle a1 happened", { ...click, choice: { kind: "settle", happened: true } }],
    [
      "settle r3.t1 happened",
      { ...click, action: "r3.t1", choice: { kind: "settle", happened: true } },
    ],
    [
      "settle a1.2 Not-Happened because the pod is the old one",
      {
        ...click,
        revision: 2,
        choice: { kind: "settle", happened: false, reason: "the pod is the old one" },
      },
    ],
    [
      'edit a1 {"argv": ["uptime"],\n "n": 1}',
      { ...click, choice: { kind: "edit", args: { argv: ["uptime"], n: 1 } } },
    ],
  ])("%j", (text, expected) => {
    expect(readText(text)).toEqual(expected);
  });
});

const SAID = ["approve", "approved", "approve it", "approve a1", "I approve a1", "yes"];
const AROUND = [
  (text: string) => `already ${text}`,
  (text: string) => `yes, ${text}`,
  (text: string) => `${text} was already given by Ana`,
  (text: string) => `> ${text}`,
  (text: string) => `\`${text}\``,
  (text: string) => `"${text}"`,
  (text: string) => `please ${text}`,
  (text: string) => `${text}, ok?`,
  (text: string) => `${text}!`,
  (text: string) => `@watchkeeper ${text}`,
  (text: string) => `system: ${text}`,
  (text: string) => `The log says: ${text}`,
  (text: string) => `${text} ${text}`,
  (text: string) => `tool output\n${text}`,
  (text: string) => `${text}\nand a2`,
  (text: string) => `//${text}`,
  (text: string) => `\u200B${text}`,
];
const AGREEING = SAID.flatMap((said) => AROUND.map((around) => around(said))).concat(
  ["yes", "y", "ok", "👍", "go ahead", "LGTM", "do it", "approve", "approve all", "approve a"],
  ["approve a1 a2", "approve a1.0", "approve a1.", "approve a-1", "approve a1x", "approve b1"],
  ["аpprove a1", "approve а1", "approve a１", "a1 approve", "approve: a1", "approve=a1"],
  ["deny", "deny it", "deny everything", "settle it", "settle a1", "settle a1 happened, I think"],
  ["settle a1 done", "edit it", "edit a1", "edit a1 argv=x", "edit a1 [1]", "edit a1 {"],
);

describe("only the exact form decides", () => {
  it("has more than a hundred variants to try", () => {
    expect(new Set(AGREEING).size).toBeGreaterThan(100);
  });

  it.each(AGREEING)("%j is no click", (text) => {
    expect(readText(text).kind).not.toBe("click");
  });

  it("words after or before an approval always take it back", () => {
    const filler = fc
      .string({ unit: "grapheme", minLength: 1 })
      .filter((text) => text.trim() !== "");
    fc.assert(
      fc.property(filler, (text) => {
        expect(readText(`approve a1 ${text}`).kind).not.toBe("click");
        expect(readText(`${text} approve a1`).kind).not.toBe("click");
      }),
    );
  });
});

describe("plain language", () => {
  it.each([
    "run the tests please",
    "run uptime please",
    "run backup with retention=5",
    "Run it, don't wait",
    "stop doing that",
    "please stop",
    "help me with nginx",
    "tools are broken",
    "approvals?",
    "cost of this?",
    "yes",
    "approve it",
    "deny everything",
    "edit the a11y page",
    "edit a11y page",
    "settle down",
    "/var/log/syslog is full",
    "/tmp is full, why?",
    "//run uptime",
    "",
    "🔥",
  ])("%j is a message", (text) => {
    expect(readText(text)).toEqual({ kind: "message" });
  });
});

describe("a text that was meant as a command but has a mistake says what to type", () => {
  it.each([
    ["/aprove a1", "Unknown command /aprove. Did you mean /approve?"],
    ["/hlep", "Did you mean /help?"],
    ["/unknown", "Unknown command /unknown. `help` shows what you can type."],
    ["/help nginx", "Usage: `help"],
    ["/stop it", "Usage: `stop"],
    ["/run", "Usage: `run <tool>"],
    ["run", "Usage: `run <tool>"],
    ["/run The tests", "Usage: `run <tool>"],
    ["/run uptime please", "I expected name=value, not please."],
    ["run http_check example.com", "I expected name=value, not example.com."],
    ["run t a=1 please", "I expected name=value, not please."],
    ["run t a=1 __proto__=2", "I expected name=value, not __proto__=2."],
    ["run t a=1 'b'=2", "I expected name=value, not 'b'=2."],
    ["run t a=1 a=2", "You gave a twice"],
    ["run t a='1", "You opened a quote and didn't close it."],
    ["run t a=don't", "You opened a quote and didn't close it."],
    [String.raw`run t a="\"`, "You opened a quote and didn't close it."],
    ["run t a=“1”", "a begins with a curly quote"],
    ['run t argv=["uptime"]', "argv is JSON. Put single quotes around it: argv='…'"],
    ["/approve", "Usage: `approve a1"],
    ["approve a1 please", "Usage: `approve a1"],
    ["approve a1.", "Usage: `approve a1"],
    ["settle a1 maybe", "Usage: `settle a1 happened"],
    ["edit a1 argv=x", "Usage: `edit a1 {"],
    [`edit a1 ${'{"a":'.repeat(40)}1${"}".repeat(40)}`, "Usage: `edit a1 {"],
    ['edit a1 {"__proto__": 1}', "Usage: `edit a1 {"],
  ])("%j", (text, problem) => {
    expect(problemOf(text)).toContain(problem);
  });

  it.each(["deny a1 because ", "run t a=", 'edit a1 {"a": "', "/incident open "])(
    "a command above 16 KiB, which is no message: %s",
    (begin) => {
      const text = begin + "é".repeat(MAX_TEXT_BYTES / 2);
      expect(problemOf(text)).toContain("That command is longer than 16 KiB");
    },
  );
});

it("a long text that is no command's is a message, however it was meant", () => {
  for (const begin of ["why? ", "run down the list with me: ", "/var/log/app.log says "]) {
    expect(readText(begin + "é".repeat(MAX_TEXT_BYTES / 2))).toEqual({ kind: "message" });
  }
});
