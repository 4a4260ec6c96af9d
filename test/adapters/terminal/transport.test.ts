import { randomUUID } from "node:crypto";
import { PassThrough } from "node:stream";
import type { Inbox, Queries } from "../../../src/adapters/adapter.ts";
import { createTerminal } from "../../../src/adapters/terminal/terminal.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import { type Platform, transportContract } from "../../contracts/transport.ts";
import { createGlass } from "./glass.ts";
import { until } from "./harness.ts";

/** So wide that no line is wrapped. */
const COLUMNS = 2_000;

/** One person at a terminal, in which each process in turn opens the thread. */
async function openDesk(): Promise<Platform> {
  const glass = createGlass(COLUMNS);
  let key: JournalKey | undefined;
  let input = new PassThrough();
  let talk: (() => void) | undefined;
  const type = async (text: string) => void input.write(`${text}\n`);
  return {
    connect() {
      input = new PassThrough();
      const output = Object.assign(new PassThrough(), { columns: COLUMNS, rows: 40 });
      output.on("data", (bytes: Buffer) => glass.write(bytes.toString()));
      const terminal = createTerminal({
        input,
        output,
        color: false,
        interactive: false,
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
      const fresh: JournalKey = `terminal:${randomUUID()}`;
      key = fresh;
      talk?.();
      await type(text);
      return fresh;
    },
    write: (_key, _who, text) => type(text),
    async press(_key, _who, label, on) {
      const letters: Record<string, string> = { Approve: "y", Deny: "n" };
      const letter = letters[label];
      await type(letter === undefined ? label : `${letter} ${on}`);
    },
    denyBecause: (_key, _who, action, reason) => type(`n ${action} because ${reason}`),
    stop: () => type("stop"),
    shown: () => glass.text(),
    told: () => "",
    pings: () => [],
    async end() {},
  };
}

transportContract("the terminal", openDesk, { crowd: false });
