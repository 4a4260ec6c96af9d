import { PassThrough } from "node:stream";
import type { Inbox } from "../../../src/adapters/inbox.ts";
import type { Queries } from "../../../src/adapters/queries.ts";
import { createTerminal } from "../../../src/adapters/terminal/adapter.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import type { EditingPlatform, Sent } from "../../contracts/edit-form.ts";
import { createGlass } from "./glass.ts";
import { until } from "./harness.ts";

/** So wide that no line is wrapped. */
const COLUMNS = 2_000;

/** One person at a terminal, in which each process in turn opens the thread. */
export async function openDesk({ interactive = false } = {}): Promise<EditingPlatform> {
  const glass = createGlass(COLUMNS);
  let key: JournalKey | undefined;
  let begun = 0;
  let input = new PassThrough();
  let talk: (() => void) | undefined;
  const type = async (text: string) => void input.write(`${text}${interactive ? "\r" : "\n"}`);
  /** The prompt at the bottom, once it is another than `before`. */
  const prompt = () => glass.text().split("\n").at(-1) ?? "";
  async function fill(changes: Record<string, string>): Promise<Sent> {
    const fields: Record<string, string[]> = {};
    const left = new Map(Object.entries(changes).map(([name, text]) => [name, text.split("\n")]));
    const start = glass.text().length;
    for (;;) {
      await until(() => EDIT.test(prompt()) || prompt().trim() === "›");
      const [, name = "", value = ""] = EDIT.exec(prompt()) ?? [];
      if (name === "") break;
      if (glass.text().slice(start).includes("Correct it")) break;
      if (value !== "") (fields[name] ??= []).push(value);
      else fields[name] ??= [];
      const lines = left.get(name);
      const answer = lines === undefined ? value : (lines.shift() ?? "");
      const shown = glass.text();
      input.write(`\u0005\u0015${answer}\r`);
      await until(() => glass.text() !== shown && !prompt().endsWith(`${answer}\u0000`));
      await settled(() => glass.text());
    }
    const said = glass.text().slice(start);
    const isRefused = /Correct it|Nothing was changed/.test(said);
    const whole = Object.entries(fields).map(([field, values]) => [field, values.join("\n")]);
    return { fields: Object.fromEntries(whole), errors: isRefused ? said : "" };
  }

  return {
    async edit(_key, { action, on }, changes) {
      // An edit that is still open is left.
      if (EDIT.test(prompt())) input.write("\u0003");
      await until(() => glass.text().includes(on) && prompt().trim() === "›");
      await type(`e ${action}`);
      await until(() => EDIT.test(prompt()));
      return fill(changes);
    },
    correct: (_key, changes) => fill(changes),
    connect() {
      input = new PassThrough();
      const output = Object.assign(new PassThrough(), { columns: COLUMNS, rows: 40 });
      output.on("data", (bytes: Buffer) => glass.write(bytes.toString()));
      const terminal = createTerminal({
        input,
        output,
        color: false,
        interactive,
        account: "terminal:ana",
        name: "ana",
        folder: process.cwd(),
        now: Date.now,
      });
      let session: Promise<unknown> | undefined;
      const open = (parts: { inbox: Inbox; queries: Queries }) => {
        if (key !== undefined) session ??= terminal.open(key, parts);
      };
      return {
        adapter: terminal,
        async start(parts) {
          talk = () => open(parts);
          const before = glass.text().length;
          open(parts);
          // A line typed before the card is on the screen is not taken for an answer to it.
          if (key !== undefined) await until(() => glass.text().slice(before).includes("╰─"));
        },
        async stop() {
          input.end();
          await session;
        },
      };
    },
    async begin(_who, text) {
      // The greeting shows it; a random one may hold what a test waits for, such as `a1`.
      const id = String((begun += 1)).padStart(8, "0");
      const fresh: JournalKey = `terminal:${id}-0000-4000-8000-000000000000`;
      key = fresh;
      talk?.();
      await type(text);
      return fresh;
    },
    write: (_key, _who, text) => type(text),
    async look(_who, what) {
      const from = glass.text().length;
      await type(what);
      await until(() => glass.text().length > from);
      await settled(() => glass.text().slice(from));
      return glass.text().slice(from);
    },
    async press(_key, _who, label, on) {
      const letters: Record<string, string> = {
        Approve: "y",
        Deny: "n",
        "Approve + 30 min": "grant",
        Revoke: "revoke",
      };
      const letter = letters[label];
      await type(letter === undefined ? label : `${letter} ${on}`);
    },
    denyBecause: (_key, _who, action, reason) => type(`n ${action} because ${reason}`),
    fill(_key, _who, { label, action }, { typed = "", reason, ...fields }) {
      const verb = { "Update…": "update", "Resolve…": "resolve" }[label];
      if (verb !== undefined) return type(`incident ${verb} ${action}${assigned(fields)}`);
      return type(
        label === "Approve…"
          ? `confirm ${action} ${typed}`
          : `break-glass ${action} ${typed} because ${reason}`,
      );
    },
    stop: () => type("stop"),
    shown: () => glass.text(),
    told: () => "",
    pings: () => [],
    async end() {},
  };
}

function assigned(fields: Record<string, string>): string {
  const quoted = (value: string) => `"${value.replaceAll(/["\\]/g, (sign) => `\\${sign}`)}"`;
  return Object.entries(fields)
    .map(([name, value]) => ` ${name}=${quoted(value)}`)
    .join("");
}

/** `edit a1 argv 2 › value`, `edit a1 signal (TERM|KILL) › TERM`. */
const EDIT = /^edit a\d+ (\S+)(?: \d+| \([^)]*\))? ›(?: (.*))?$/;

/** Waits until it stays the same for a moment. */
async function settled(look: () => string): Promise<void> {
  for (let before = ""; before !== look();) {
    before = look();
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}
