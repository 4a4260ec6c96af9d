import type { Earlier, EarlierMessage } from "../../adapters/view.ts";
import { capText, headOf } from "../../core/text.ts";
import { atMost } from "../../core/time-limit.ts";
import type { Above } from "../../thread/drafts-runs.ts";
import { isChecking } from "../../thread/checking.ts";
import { MAIN_VIEW, type Run } from "../../thread/state.ts";
import { viewFor } from "../../thread/views.ts";
import { cleanText } from "../../security/sanitize.ts";
import { conclude } from "./conclude.ts";
import { recallFor } from "./memory.ts";
import type { Learn, ThreadContext } from "./parts.ts";

/** An adapter gives up sooner; an answer never waits longer for what stands above the question. */
const READ_MS = 5_000;
/** Of one message, and of all: the first, which the thread is about, and the newest are kept. */
const MAX_BYTES = 4 * 1024;
const MAX_ALL_BYTES = 48 * 1024;
/** Before secrets are taken out, which takes time. */
const MAX_RAW = 32 * 1024;

/** Reads what people see above the messages that the run answers, and that the journal does not have. Never fails the run. */
export const readAbove: Learn<"look"> = async (ctx, step, signal) => {
  const [above, remembered] = await Promise.all([
    learnAbove(ctx, step.run).catch((error: unknown): Above => {
      ctx.log.warn({ err: error, key: ctx.key }, "what stands above could not be read");
      return { messages: [], why: "something went wrong" };
    }),
    recallFor(ctx, step.run),
  ]);
  const facts = { ...above, ...(remembered !== undefined && { remembered }) };
  return async () => {
    if (!signal.aborted) await conclude(ctx, { ...step, facts });
  };
};

async function learnAbove(ctx: ThreadContext, run: Run): Promise<Above> {
  const { started, messages: said } = run;
  // No model is told it.
  if (isChecking(run)) return { messages: [] };
  const view = ctx.adapter.view(ctx.key);
  const before = started.answers.at(-1);
  // A place that the thread was opened in later has nothing above that the journal has not.
  const author = said.get(before ?? "");
  if (author !== undefined && viewFor(ctx.thread, author) !== MAIN_VIEW) return { messages: [] };
  if (view?.earlier === undefined || before === undefined) return { messages: [] };
  const { posted, readTo: after } = ctx.state.transcript;
  const late = (): Earlier => ({ messages: [], why: "the platform took too long" });
  const found = await atMost(READ_MS, view.earlier(before, after), late);
  const isNew = ({ id, attached }: EarlierMessage) => !posted.has(id) || attached !== undefined;
  const kept = await Promise.all(found.messages.filter(isNew).map((each) => encoded(ctx, each)));
  const messages = newest(kept);
  const isCut = found.older === true || messages.length < kept.length;
  return {
    messages,
    ...(found.why === undefined && { upTo: before }),
    ...(after !== undefined && { after }),
    ...(isCut && { older: true }),
    ...(found.why !== undefined && { why: found.why }),
  };
}

type Message = Above["messages"][number];

async function encoded(
  { parts }: ThreadContext,
  { id, at, name, account, text, attached, files = [], around }: EarlierMessage,
): Promise<Message> {
  const { aside, encode } = parts.encoder;
  const taken = async (raw: string) =>
    capText(await aside.hide(cleanText(headOf(raw, MAX_RAW))), MAX_BYTES);
  return {
    id,
    at,
    name: encode(name),
    ...(account !== undefined && { account }),
    text: await taken(text),
    ...(attached !== undefined && { attached: await taken(attached) }),
    ...(files.length > 0 && { files: files.map((file) => encode(headOf(file, 200))) }),
    ...(around && { around }),
  };
}

/** As many as there is room for. */
function newest(messages: readonly Message[]): Message[] {
  const [first, ...rest] = messages;
  if (first === undefined) return [];
  let room = MAX_ALL_BYTES - sizeOf(first);
  const kept = rest.toReversed().filter((message) => (room -= sizeOf(message)) >= 0);
  return [first, ...kept.toReversed()];
}

function sizeOf({ text, attached = "" }: Message): number {
  return Buffer.byteLength(text + attached);
}
