import { randomUUID } from "node:crypto";
import { exactText } from "../../security/sanitize.ts";
import type { Actor } from "../../core/entry.ts";
import { messageOf } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { HistoryItem, Queries } from "../queries.ts";
import type { Inbound, Inbox } from "../inbox.ts";
import { type Activity, createActivity } from "./activity.ts";
import { readAttachments } from "./attachments.ts";
import { type Board, createBoard } from "./board.ts";
import {
  type CommandParts,
  completions,
  describeAction,
  describeCommands,
  findThread,
  listApprovals,
  listThreads,
  newThreadKey,
  showOutput,
} from "./commands.ts";
import { createEditDialog, type EditDialog } from "./edit-dialog.ts";
import { dependsOnQuestion, type LocalCommand, readLine, type Reply } from "./input.ts";
import type { Look, Paint } from "./style.ts";
import { isQuiet } from "./idle.ts";
import { pastText } from "./history.ts";
import { greeting, HOW_TO_LEAVE, PASTED, STILL_STOPPING, STOPPING } from "./phrases.ts";
import { goneError, type Line, type Screen } from "./screen.ts";
import { createView, noteNotice, showCard, type TerminalView } from "./view.ts";
import { wrapWords } from "./wrap.ts";

export interface SessionParts {
  key: JournalKey;
  screen: Screen;
  paint: Paint;
  rich: boolean;
  interactive: boolean;
  actor: Actor;
  inbox: Inbox;
  queries: Queries;
  folder: string;
  note: string | undefined;
  now: () => number;
}

/** What a line leads to: more lines, the end, or another thread. */
type Step = "stay" | "leave" | { to: JournalKey };

/** Things said that an opened thread shows again. */
const HISTORY_ITEMS = 20;
/** How often a finished pipe looks whether all is answered, and how often a spinner looks whether it still should turn. */
const PIPE_POLL_MS = 100;
const SPINNER_POLL_MS = 1_000;

/** One thread on the screen, from its history until the person leaves or goes to another. */
export class Session {
  readonly view: TerminalView;
  readonly #parts: SessionParts;
  readonly #board: Board;
  readonly #activity: Activity;
  readonly #answered = new Set<string>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #commands: CommandParts;
  readonly #edits: EditDialog;
  #stopping = false;
  #warned = false;
  #over = false;

  constructor(parts: SessionParts) {
    // Whoever waits for it is told; nobody may be waiting.
    this.#ready.promise.catch(() => undefined);
    this.#parts = parts;
    const look = (): Look => this.#look();
    this.#board = createBoard(parts.key);
    this.#activity = createActivity(parts.screen, look);
    this.#commands = { key: parts.key, queries: parts.queries, board: this.#board, look };
    this.#edits = createEditDialog({
      ...parts,
      hint: (text) => this.#hint(text),
      send: (action, revision, args) =>
        this.#post(
          {
            kind: "click",
            actor: parts.actor,
            action,
            revision,
            choice: { kind: "edit", args },
            via: "typed",
          },
          "",
        ),
    });
    this.view = createView({
      print: (text) => this.#say(text),
      board: this.#board,
      activity: this.#activity,
      look,
      interactive: parts.interactive,
      ready: this.#ready.promise,
      answered: this.#answered,
    });
  }

  /** Runs the conversation. The key of the thread to go to, or undefined when the person left or the input ended. */
  async run(): Promise<JournalKey | undefined> {
    const { screen, queries } = this.#parts;
    screen.answerable = () => this.#board.answerable();
    screen.onInterrupt = () => this.#interrupt();
    screen.complete = () => completions(queries);
    // Whoever types before the history is there sees what they type.
    this.#prompt();
    try {
      await this.#begin();
      return await this.#converse();
    } catch (error) {
      if (screen.broken) return undefined;
      throw error;
    } finally {
      this.#over = true;
      this.#activity.stop();
      this.#ready.reject(goneError());
    }
  }

  async #begin(): Promise<void> {
    const { queries, key, screen } = this.#parts;
    const history = await queries.history(key, HISTORY_ITEMS);
    const { paint } = this.#parts;
    const isNew = history.length === 0;
    const { columns } = screen;
    await screen.print(greeting(key, { isNew, note: this.#parts.note, paint, columns }));
    for (const item of history) await this.#showPast(item);
    for (const item of history) {
      if (item.kind === "card" && item.card.phase === "open") {
        await showCard(item.card, this.#board, (text) => this.#say(text), this.#look());
      }
    }
    this.#ready.resolve();
  }

  async #showPast(item: HistoryItem): Promise<void> {
    if (item.kind === "card") {
      if (item.card.phase === "open") return;
      this.#board.place(item.card);
    }
    if (item.kind === "out" && item.message.kind === "answer") this.#answered.add(item.message.run);
    const text = await pastText(item, this.#look());
    if (item.kind === "out") noteNotice(item.message, this.#board);
    await this.#parts.screen.print(text);
  }

  async #converse(): Promise<JournalKey | undefined> {
    const { screen, interactive } = this.#parts;
    for (;;) {
      const line = await screen.next();
      if (line === undefined) {
        if (!interactive) await this.#untilQuiet(PIPE_POLL_MS, () => screen.broken);
        return undefined;
      }
      const step = await this.#take(line);
      if (step === "leave") return undefined;
      if (step !== "stay") return step.to;
    }
  }

  /** One line. What goes wrong with it is said, and does not end the conversation. */
  async #take(line: Line): Promise<Step> {
    this.#warned = false;
    try {
      if (this.#edits.current !== undefined) {
        await this.#edits.enter(line.text);
        this.#prompt();
        return "stay";
      }
      if (dependsOnQuestion(line.text)) await this.#dropAnswered();
      return await this.#act(this.#read(line), line);
    } catch (error) {
      if (this.#parts.screen.broken) return "leave";
      await this.#fail(messageOf(error));
      return "stay";
    }
  }

  /** Questions are answered by any words, so only the journal says which still wait. */
  async #dropAnswered(): Promise<void> {
    if (this.#board.answerable().questions.size === 0) return;
    const thread = await this.#parts.queries.thread(this.#parts.key);
    if (thread !== undefined) this.#board.keepQuestions(thread.questions);
  }

  #read(line: Line): Reply {
    const shown = this.#board.answerable();
    // A line begun in another thread was not meant for this one's cards.
    const seen = line.seen?.thread === shown.thread ? line.seen : undefined;
    const reply = readLine(
      line.text,
      seen ?? { ...shown, open: new Map(), unsettled: new Map(), questions: new Map() },
      shown,
    );
    const decides = reply.kind === "click" || reply.kind === "edit";
    return line.pasted && decides ? { kind: "refused", why: PASTED } : reply;
  }

  async #act(reply: Reply, { text: typed, pasted }: Line): Promise<Step> {
    const { actor } = this.#parts;
    if (reply.kind === "command") return this.#command(reply.name, reply.rest, typed);
    if (reply.kind === "text") await this.#send(reply.text, typed, pasted);
    if (reply.kind === "details") {
      await this.#say(await describeAction(this.#commands, reply.action));
    }
    if (reply.kind === "edit") {
      if (reply.json !== undefined) await this.#edits.sendJson(reply.card, reply.json);
      else await this.#edits.begin(reply.card);
      this.#prompt();
    }
    if (reply.kind === "refused") {
      await this.#hint(exactText(reply.why));
      this.#prompt();
    }
    if (reply.kind === "click") {
      this.#prompt();
      if (reply.first !== undefined)
        await this.#parts.inbox.post(this.#parts.key, randomUUID(), { ...reply.first, actor });
      await this.#post({ ...reply.click, actor }, typed);
    }
    return "stay";
  }

  /** A text with the files that it names; it is not sent without one of them. */
  async #send(text: string, typed: string, pasted: boolean): Promise<void> {
    const { actor } = this.#parts;
    const read = await readAttachments(text, this.#parts.folder);
    if ("why" in read) {
      await this.#hint(exactText(`${read.why} Nothing was sent.`));
      this.#putBack(typed);
      return;
    }
    const files = read.files.length === 0 ? {} : { files: read.files };
    const address = { direct: true } as const;
    await this.#post(
      { kind: "text", actor, text, address, ...files, ...(pasted && { pasted }) },
      typed,
    );
  }

  /** Into the line again, unless something else is being typed. */
  #putBack(typed: string): void {
    if (this.#parts.screen.typed === "" && typed !== "") this.#prompt(typed);
  }

  async #command(name: LocalCommand, rest: string, typed: string): Promise<Step> {
    if (name === "exit") return "leave";
    if (name === "new") return { to: newThreadKey() };
    if (name === "resume") {
      const found = await findThread(this.#commands, rest);
      if ("key" in found) return { to: found.key };
      await this.#hint(exactText(found.why));
    } else if (name === "stop") {
      await this.#post({ kind: "stop", actor: this.#parts.actor }, typed);
    } else {
      const describe = {
        threads: listThreads,
        approvals: listApprovals,
        details: describeAction,
        output: showOutput,
        help: describeCommands,
      }[name];
      await this.#say(await describe(this.#commands, rest));
      if (name === "help") await this.#send("help", typed, false);
    }
    return "stay";
  }

  /** Hands it to the inbox; what could not be sent is put back into the line. */
  async #post(inbound: Inbound, typed: string): Promise<void> {
    const { inbox, key } = this.#parts;
    const settles = inbound.kind === "click" && inbound.choice.kind === "settle";
    this.#stopping = inbound.kind === "stop";
    // Before the post: the answer may come before it returns. A Stop and a settlement may have none.
    if (inbound.kind !== "stop" && !settles) this.#expectAnswer();
    try {
      await inbox.post(key, randomUUID(), inbound);
      if (settles) this.#board.settled(inbound.action);
      if (inbound.kind === "click" && inbound.choice.kind === "answer") {
        this.#board.answered(inbound.action);
      }
      if (inbound.kind === "stop") await this.#hint(STOPPING);
    } catch (error) {
      this.#activity.settled();
      await this.#fail(`not sent: ${messageOf(error)}`);
      this.#putBack(typed);
    }
  }

  /** Shows that something is worked on, until anything is heard, or the journals say that nothing is owed. */
  #expectAnswer(): void {
    const expected = this.#activity.unheard;
    this.#activity.asked();
    if (expected || !this.#parts.interactive) return;
    void this.#untilQuiet(SPINNER_POLL_MS, () => !this.#activity.unheard)
      .then(() => this.#activity.settled())
      .catch(() => undefined);
  }

  /** Ctrl-C: ends the smallest thing that there is to end. */
  #interrupt(): void {
    const { screen, actor } = this.#parts;
    const hint = (text: string): void => void this.#hint(text).catch(() => undefined);
    if (this.#edits.current !== undefined) {
      this.#edits.cancel();
      screen.clearTyped();
      this.#prompt();
    } else if (this.#activity.busy) {
      if (this.#stopping) {
        hint(STILL_STOPPING);
        return;
      }
      void this.#post({ kind: "stop", actor }, "").catch(() => undefined);
    } else if (screen.typed !== "") {
      screen.clearTyped();
    } else if (this.#warned) {
      screen.close();
    } else {
      this.#warned = true;
      hint(HOW_TO_LEAVE);
    }
  }

  #prompt(text?: string): void {
    const { screen, paint } = this.#parts;
    const editing = this.#edits.current;
    if (editing === undefined) screen.prompt(`${paint("cyan", "›")} `, text);
    else {
      const { label, text: value } = editing.asks();
      screen.prompt(`edit ${editing.form.action} ${label} ${paint("cyan", "›")} `, value);
    }
  }

  /** Until everything asked is answered or waits for a person, or `enough` says so. */
  async #untilQuiet(pollMs: number, enough: () => boolean): Promise<void> {
    const { key, queries } = this.#parts;
    const board = this.#board;
    while (!enough() && !this.#over) {
      const { running, unheard } = this.#activity;
      const idleMs = this.#activity.idleMs();
      if (await isQuiet(queries, { key, board, running, unheard, idleMs })) return;
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }

  async #hint(text: string): Promise<void> {
    const lines = wrapWords(text, this.#parts.screen.columns);
    await this.#say(lines.map((line) => this.#parts.paint("dim", line)).join("\n"));
  }

  async #fail(text: string): Promise<void> {
    const { paint, screen } = this.#parts;
    const lines = wrapWords(text, screen.columns - 2);
    await this.#say(`${paint("red", "✗")} ${lines.join("\n  ")}`);
  }

  async #say(text: string): Promise<void> {
    // The screen belongs to the next thread then.
    if (this.#over) throw goneError();
    await this.#parts.screen.print(text);
  }

  #look(): Look {
    const { paint, screen, now, rich } = this.#parts;
    return { paint, columns: screen.columns, now: now(), rich };
  }
}
