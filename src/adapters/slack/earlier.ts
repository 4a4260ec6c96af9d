import { type Earlier, type EarlierMessage, MAX_EARLIER } from "../view.ts";
import { carriedBy, newestOf, readEarlier } from "../shared/earlier.ts";
import { dropNulls } from "../shared/payload.ts";
import { answerWithin, type Api } from "./api.ts";
import { refusalCode } from "./errors.ts";
import { accountOf, type Place, type Workspace } from "./place.ts";
import { wordsOfAttachments } from "./read-attachments.ts";
import { isBots, isSpoken, nameOfBot, type Shown, shown, wordsOfBot } from "./read-shown.ts";
import { readSlackText } from "./text.ts";

/** Slack gives a thread's oldest messages first, at most so many at once; the newest may take several requests. */
const PAGE = 200;
const MAX_PAGES = 5;
/** Different people whose names are looked up. */
const MAX_NAMES = 10;
/** A file that Slack tells nothing of, such as one of another workspace. */
const NAMELESS = "without a name";

export interface EarlierParts {
  api: Api;
  workspace: Workspace;
  /** The display name; undefined when Slack does not answer quickly. */
  nameOf(user: string): Promise<string | undefined>;
}

/** Reads what stands above a message of this thread (`View.earlier`). */
export function createEarlier(place: Place, parts: EarlierParts) {
  return (before: string, after?: string): Promise<Earlier> =>
    readEarlier("Slack", explain, async (found, left) => {
      const latest = tsOf(before);
      const oldest = after === undefined ? undefined : tsOf(after);
      if (latest === undefined) return undefined;
      let isOlder = false;
      const raw: Shown[] = [];
      const isThread = latest !== place.root;
      const most = isThread ? MAX_EARLIER.thread : MAX_EARLIER.channel;
      try {
        if (isThread) await readThread(parts.api, place, { latest, oldest, raw, left });
        else await readChannel(parts.api, place, { latest, most, raw, left });
      } finally {
        const spoken = raw.filter((each) => isNew(each, oldest, parts.workspace));
        const above = spoken.filter(({ ts }) => ts !== latest);
        const kept = newestOf(above, most, isThread);
        isOlder = kept.length < above.length;
        const question = spoken.filter(({ ts }) => ts === latest);
        const told = await messagesOf([...kept, ...question], latest, parts);
        found.push(...(isThread ? told : told.map((each) => aroundOf(each, latest))));
      }
      return isOlder ? { older: true } : undefined;
    });
}

/** A thread's first message comes always. */
function isNew(each: Shown, oldest: string | undefined, workspace: Workspace): boolean {
  return isSpoken(each, workspace) && (oldest === undefined || Number(each.ts) > Number(oldest));
}

/** In a direct message all is told already but what it forwards; without that it is answered as well as can be. */
export function createForwarded(place: Place, parts: EarlierParts) {
  return async (before: string, after?: string): Promise<Earlier> => {
    const latest = tsOf(before);
    const { messages } = await readEarlier("Slack", explain, async (found, left) => {
      const oldest = after === undefined ? undefined : tsOf(after);
      const raw: Shown[] = [];
      if (latest === undefined) return undefined;
      await readThread(parts.api, place, { latest, oldest, raw, left });
      const own = raw.filter((each) => isNew(each, oldest, parts.workspace));
      found.push(...(await messagesOf(own, latest, parts)));
      return undefined;
    });
    return { messages: carriedBy(messages) };
  };
}

/** The question itself is told with what it forwards. */
function aroundOf(message: EarlierMessage, asked: string): EarlierMessage {
  return message.id === `msg:${asked}` ? message : { ...message, around: true };
}

interface Reading {
  latest: string;
  /** Everything that came, oldest first, with the message `latest` itself. */
  raw: Shown[];
  left(): number;
}

async function readChannel(
  api: Api,
  { channel }: Place,
  { latest, most, raw, left }: Reading & { most: number },
): Promise<void> {
  const args = { channel, latest, inclusive: true, limit: most + 2 };
  const asked = api.ask("conversations.history", (client) => client.conversations.history(args));
  const answer = await answerWithin(left(), asked);
  raw.push(...parsed(answer.messages).toReversed());
}

async function readThread(
  api: Api,
  { channel, root }: Place,
  { latest, oldest, raw, left }: Reading & { oldest: string | undefined },
): Promise<void> {
  const range = { latest, inclusive: true, ...(oldest !== undefined && { oldest }) };
  const args = { channel, ts: root, ...range, limit: PAGE };
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const asked = api.ask("conversations.replies", (client) =>
      client.conversations.replies({ ...args, ...(cursor !== undefined && { cursor }) }),
    );
    const answer = await answerWithin(left(), asked);
    raw.push(...parsed(answer.messages));
    cursor = answer.response_metadata?.next_cursor || undefined;
    if (cursor === undefined) return;
  }
}

function parsed(messages: readonly unknown[] | undefined): Shown[] {
  dropNulls(messages);
  return (messages ?? []).flatMap((message) => shown.safeParse(message).data ?? []);
}

/** Posts are named `msg:<ts>`. */
function tsOf(post: string): string | undefined {
  return /^msg:(\d+\.\d+)(?::edit:[\d.]+)?$/.exec(post)?.[1];
}

async function messagesOf(
  read: readonly Shown[],
  asked: string,
  { workspace, nameOf }: EarlierParts,
): Promise<EarlierMessage[]> {
  const users = new Set(read.flatMap((each) => (isBots(each) ? [] : (each.user ?? []))));
  const names = new Map<string, string | undefined>();
  await Promise.all(
    [...users].slice(0, MAX_NAMES).map(async (user) => names.set(user, await nameOf(user))),
  );
  const reader = { botUser: workspace.botUser, nameOf };
  const messages = read.map(async (each): Promise<EarlierMessage> => {
    const base = {
      id: `msg:${each.ts}`,
      at: Math.round(Number(each.ts) * 1_000),
      ...(each.files.length > 0 && { files: each.files.map(({ name }) => name || NAMELESS) }),
    };
    const { user } = each;
    if (user === undefined || isBots(each)) {
      const text = await readSlackText(wordsOfBot(each), reader);
      return { ...base, name: nameOfBot(each), account: undefined, text };
    }
    const attached = await readSlackText(wordsOfAttachments(each.attachments), reader);
    return {
      ...base,
      name: names.get(user) ?? user,
      account: accountOf(each.user_team ?? each.team ?? workspace.team, user),
      text: each.ts === asked ? "" : await readSlackText(each.text, reader),
      ...(attached !== "" && { attached }),
    };
  });
  const all = await Promise.all(messages);
  // The question itself is told as what it is; what it forwards is not its author's word.
  return all.filter(({ id, attached }) => id !== `msg:${asked}` || attached !== undefined);
}

function explain(error: unknown): string | undefined {
  return UNREADABLE[refusalCode(error) ?? ""];
}

const NOT_THERE = "I'm not in this channel; /invite me";
const NO_SCOPE = "the Slack app lacks the permission to read messages here";
const UNREADABLE: Readonly<Record<string, string>> = {
  not_in_channel: NOT_THERE,
  channel_not_found: NOT_THERE,
  missing_scope: NO_SCOPE,
  no_permission: NO_SCOPE,
};
