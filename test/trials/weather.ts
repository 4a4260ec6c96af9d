import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { between, pick, type Random, seededRandom } from "../chaos/random.ts";
import { FakeDiscord } from "../fakes/discord/discord.ts";
import type { Fault as DiscordFault } from "../fakes/discord/server.ts";
import { Program } from "../fakes/program.ts";
import { type Fault as SlackFault, FakeSlack, typed } from "../fakes/slack/slack.ts";
import { marksIn } from "./chat-log.ts";
import { type Crew, startCrew } from "./crew.ts";
import { startEchoModel } from "./echo-model.ts";
import { plantedEnv } from "./planted.ts";

export interface WeatherPlan {
  /** Half on Slack, half on Discord; each begins a thread. Every fifth is a command that needs an approval. */
  mentions: number;
  /** Mentions per second. */
  pace: number;
  seed: number;
  /** A mistake that the program has, by its name in `PLANTED`. */
  planted?: string;
}

export interface WeatherReport {
  answered: number;
  /** The place refused them, and who asked was told alone. */
  elsewhere: number;
  commands: number;
  /** What must not be, a sentence each. */
  failures: string[];
  /** What was to go wrong with the next request of some kind; it does where one comes at once. */
  faults: ReadonlyMap<string, number>;
  drops: number;
  warnings: ReadonlyMap<string, number>;
}

/** A chat, as its people see it. */
interface Chat {
  say(channel: number, text: string): string;
  /** What stands in a mention's thread that is the bot's. */
  thread(id: string): { text: string; waits: boolean }[];
  /** What the asker was told alone. */
  alone(): string[];
  /** Somebody else than who asked presses Approve wherever it stands. */
  approve(id: string): void;
  /** The next request of some kind fails, in place of one that was to fail and was not made. Returns how. */
  spoil(random: Random): string;
  /** Breaks the connection off; where the platform keeps a session, it may be forgotten too. */
  drop(isForgotten: boolean): void;
  /** Requests that came sooner than the platform had asked, a sentence each. */
  hurried(): string[];
  mend(): void;
}

interface Mention {
  chat: Chat;
  id: string;
  mark: string;
  folder: string | undefined;
}

const CHANNELS = 8;
/** A response of the platform's takes a moment. */
const LATENCY_MS = 10;
/** A fault at least so often, and a dropped connection. */
const SPOIL_MS = { least: 10, most: 60 };
/** A client that is dropped soon after it connected waits longer before the next time, up to half a minute. */
const DROP_MS = { least: 8_000, most: 20_000 };
/** The first time all connections drop, and sessions are forgotten. By then the bot was spoken to in each channel. */
const FIRST_DROP_MS = 4_000;
/** What was under way when a platform asked to wait. */
const UNDER_WAY_MS = 500;
/** Most faults meet what shows a message: the rest is only read, or an ornament. */
const POSTS = 0.6;
/** Slack sends what was not acknowledged again at once, after 1 min and 5 min; here a twentieth. */
const RETRIES_MS = [10, 3_000, 15_000];
const PRESS_MS = 300;
/** The weather lasts until all but so many are answered, or for so long after the last was written. */
const REST = 0.25;
const LONGEST_MS = 30_000;
/** For how long a limited request is to wait. */
const LIMIT_S = 3;
/** A limit, a refusal's minute and the wait for it are longer than this only together. */
const PATIENCE_MS = 90_000;

/**
 * People write to one bot on both platforms, and approve what it asks, while requests are refused, limited or unanswered,
 * responses are lost and connections drop; then the weather clears, and everything is judged.
 */
export async function runWeather(plan: WeatherPlan): Promise<WeatherReport> {
  const random = seededRandom(plan.seed);
  const slack = await FakeSlack.start({
    seed: plan.seed,
    latencyMs: LATENCY_MS,
    retryDelaysMs: RETRIES_MS,
  });
  const discord = await FakeDiscord.start({ seed: plan.seed });
  const model = await startEchoModel();
  const program = new Program({
    ...model.env,
    ...(plan.planted !== undefined && plantedEnv(plan.planted)),
    LOG_LEVEL: "info",
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
  });
  let crew: Crew | undefined;
  try {
    const folder = join(program.folder, "made");
    mkdirSync(folder);
    const config = "budgets: { tokensPerDay: 1000000000 }\n";
    writeFileSync(join(program.folder, "watchkeeper.yaml"), config);
    const chats = [slackChat(slack), discordChat(discord)];
    crew = startCrew(program, 1, random);
    await crew.ready();
    const seen = await live(plan, chats, folder, random);
    const failures = [...judge(seen.mentions), ...chats.flatMap((chat) => chat.hurried())];
    return { ...seen, ...count(seen.mentions), failures, warnings: crew.warnings };
  } finally {
    await crew?.stop();
    program.remove();
    await slack.stop();
    await discord.stop();
    await model.stop();
  }
}

async function live(plan: WeatherPlan, chats: readonly Chat[], folder: string, random: Random) {
  const mentions: Mention[] = [];
  const faults = new Map<string, number>();
  let drops = 0;
  const over = new AbortController();
  const every = async ({ least, most }: { least: number; most: number }, act: () => void) => {
    while (!over.signal.aborted) {
      await sleep(between(random, least, most), undefined, over).catch(() => {});
      if (!over.signal.aborted) act();
    }
  };
  const weather = [
    every(SPOIL_MS, () => {
      const fault = pick(random, chats).spoil(random);
      faults.set(fault, (faults.get(fault) ?? 0) + 1);
    }),
    every(DROP_MS, () => {
      pick(random, chats).drop(false);
      drops += 1;
    }),
  ];
  const first = setTimeout(() => {
    for (const chat of chats) chat.drop(true);
    drops += chats.length;
  }, FIRST_DROP_MS);
  const pressing = setInterval(() => {
    for (const { chat, id, folder: place } of mentions) if (place !== undefined) chat.approve(id);
  }, PRESS_MS);
  try {
    const began = performance.now();
    for (let i = 0; i < plan.mentions; i += 1) {
      await sleep(Math.max(0, began + (i * 1_000) / plan.pace - performance.now()));
      mentions.push(write(i, chats, folder, random));
    }
    const clears = performance.now() + LONGEST_MS;
    while (performance.now() < clears && [...judge(mentions)].length > plan.mentions * REST)
      await sleep(200);
    over.abort();
    await Promise.all(weather);
    for (const chat of chats) chat.mend();
    const end = performance.now() + PATIENCE_MS;
    while (performance.now() < end && [...judge(mentions)].length > 0) await sleep(500);
    // What is doubled may come late.
    await sleep(3_000);
  } finally {
    clearInterval(pressing);
    clearTimeout(first);
  }
  return { mentions, faults, drops };
}

function write(i: number, chats: readonly Chat[], folder: string, random: Random): Mention {
  const isCommand = i % 5 === 4;
  const mark = `${isCommand ? "c" : "m"}${i + 1}`;
  const place = isCommand ? join(folder, mark) : undefined;
  if (place !== undefined) mkdirSync(place);
  const command = JSON.stringify(["/usr/bin/mktemp", "-p", place]);
  const text = isCommand ? `run run_command argv='${command}'` : `${mark} what is it?`;
  // The first go to each channel in turn: before its sessions are forgotten the bot was spoken to in all.
  const chat = chats[i % chats.length] ?? pick(random, chats);
  const isFirst = i < chats.length * CHANNELS;
  const channel = isFirst ? Math.floor(i / chats.length) : between(random, 0, CHANNELS - 1);
  return { chat, mark, folder: place, id: chat.say(channel, text) };
}

/** Neither lost nor doubled nor stuck. */
function* judge(mentions: readonly Mention[]): Iterable<string> {
  for (const mention of mentions) {
    const { chat, id, mark, folder } = mention;
    const shown = chat.thread(id);
    const told = isTold(mention);
    if (folder !== undefined) {
      const made = readdirSync(folder).length;
      if (made > 1) yield `${mark} was carried out ${made} times`;
      if (made === 0 && !told) yield `${mark} was not carried out: ${standing(shown)}`;
    } else {
      const copies = shown.filter(({ text }) => isAnswer(text, mark)).length;
      if (copies > 1) yield `${mark} is answered ${copies} times`;
      if (copies === 0 && !told) yield `${mark} is not answered: ${standing(shown)}`;
    }
    if (shown.some(({ waits }) => waits)) yield `${mark} still waits`;
  }
}

/** For whoever looks for the cause. */
function standing(shown: readonly { text: string }[]): string {
  return (
    shown.map(({ text }) => JSON.stringify(text.slice(0, 100))).join(", ") || "nothing is shown"
  );
}

function isAnswer(text: string, mark: string): boolean {
  return text.includes("Heard ") && marksIn(text).includes(mark);
}

/** Alone, of its mark or its thread; or in the thread, where that took the second message. */
function isTold({ chat, id, mark }: Mention): boolean {
  const thread = id.replace(".", "");
  const isOf = (text: string) => marksIn(text).includes(mark) || text.includes(thread);
  const isInstead = ({ text }: { text: string }) => text.includes("couldn't show this");
  return chat.alone().some(isOf) || chat.thread(id).some(isInstead);
}

function count(mentions: readonly Mention[]) {
  const commands = mentions.filter(({ folder }) => folder !== undefined);
  const elsewhere = mentions.filter(isTold).length;
  return { answered: mentions.length - commands.length, commands: commands.length, elsewhere };
}

/** Of what a request meets: limits and lost responses more often than the rest. */
const CODES = { content: 2, place: 1, limit: 4, lost: 4, cut: 3, away: 3, late: 1 } as const;
type Kind = keyof typeof CODES;
const KINDS = (Object.keys(CODES) as Kind[]).flatMap((kind) =>
  Array.from({ length: CODES[kind] }, () => kind),
);

/** What shows messages may be refused for good; the rest only fails. */
function kindOf(random: Random, isMessage: boolean): Kind {
  const kind = pick(random, KINDS);
  return isMessage || (kind !== "content" && kind !== "place") ? kind : "lost";
}

function isPending(label: string): boolean {
  return label === "Approve" || label === "Stop";
}

function slackChat(slack: FakeSlack): Chat {
  const [ana, bob] = [slack.addUser({ name: "ana" }), slack.addUser({ name: "bob" })];
  const channels = Array.from({ length: CHANNELS }, (_, i) =>
    slack.addChannel({ name: `ops${i}`, members: [ana, bob] }),
  );
  const placeOf = new Map<string, (typeof channels)[number]>();
  const direct = slack.openDm(ana);
  const faults: Record<Kind, SlackFault> = {
    content: { error: "invalid_blocks" },
    place: { error: "channel_not_found" },
    limit: { status: 429, retryAfter: LIMIT_S },
    lost: { cutAfterCarryingOut: true },
    cut: { cut: true },
    away: { status: 503 },
    late: { timeout: true },
  };
  const own = (id: string) => {
    const channel = placeOf.get(id);
    if (channel === undefined) return [];
    return slack.messages(channel, id).filter(({ user }) => user === slack.botUser.id);
  };
  return {
    say(at, text) {
      const channel = channels[at] ?? direct;
      const id = slack.say(ana, channel, typed(text), { mention: true });
      placeOf.set(id, channel);
      return id;
    },
    thread: (id) =>
      own(id).map((message) => ({
        text: slack.textOf(message),
        waits: slack.buttonsOf(message).some(({ label }) => isPending(label)),
      })),
    alone: () => [
      ...slack.ephemerals(ana).map((message) => slack.textOf(message)),
      ...slack.messages(direct).map((message) => slack.textOf(message)),
      ...slack.sharedFiles.map(({ bytes }) => Buffer.from(bytes ?? []).toString()),
    ],
    approve(id) {
      for (const message of own(id)) {
        const button = slack.buttonsOf(message).find(({ label }) => label === "Approve");
        const channel = placeOf.get(id);
        if (button === undefined || channel === undefined) continue;
        void slack.press(bob, channel, message.ts, button.actionId).catch(() => {});
      }
    },
    spoil(random) {
      const reads = ["conversations.replies", "users.info", "conversations.info"];
      const others = ["chat.update", "chat.delete", ...reads];
      const method = random() < POSTS ? "chat.postMessage" : pick(random, others);
      const kind = kindOf(random, method === "chat.postMessage");
      slack.mend();
      slack.fail(method, faults[kind]);
      return `Slack ${method} ${kind}`;
    },
    drop: () => slack.dropConnections(),
    hurried: () =>
      slack.calls
        .filter(({ status, method }) => status === 429 && /^chat\.(?:post|update)/.test(method))
        .flatMap(({ method, args, at, ms }) => {
          const [from, to] = [at + ms + UNDER_WAY_MS, at + LIMIT_S * 1_000];
          const again = slack.calls.find(
            (call) =>
              call.method === method &&
              call.args["channel"] === args["channel"] &&
              call.at > from &&
              call.at < to,
          );
          if (again === undefined) return [];
          const soon = `${again.at - at} ms after it was limited for ${LIMIT_S} s`;
          return [`Slack's ${method} was asked again ${soon}`];
        }),
    mend: () => slack.mend(),
  };
}

function discordChat(discord: FakeDiscord): Chat {
  const guild = discord.addGuild();
  const [ana, bob] = [discord.addUser({ name: "ana" }), discord.addUser({ name: "bob" })];
  for (const user of [ana, bob]) discord.addMember(guild, user);
  const channels = Array.from({ length: CHANNELS }, (_, i) =>
    discord.addChannel(guild, { name: `ops${i}` }),
  );
  const faults: Record<Kind, DiscordFault> = {
    content: { status: 400, code: 50035 },
    place: { status: 403, code: 50001 },
    limit: { status: 429, retryAfter: LIMIT_S },
    lost: { cutAfterCarryingOut: true },
    cut: { cut: true },
    away: { status: 502 },
    late: { timeout: true },
  };
  const own = (id: string) => {
    const thread = discord.threadOf(id);
    if (thread === undefined) return [];
    return discord.messages(thread).filter(({ author }) => author.id === discord.botUser.id);
  };
  return {
    say: (at, text) =>
      discord.say(ana, channels[at] ?? discord.openDm(ana), text, { mention: true }),
    thread: (id) =>
      own(id).map((message) => ({
        text: discord.textOf(message),
        waits: discord.buttonsOf(message).some(({ label }) => isPending(label)),
      })),
    alone: () =>
      [...discord.dms(ana), ...discord.ephemerals(ana)].map((message) => discord.textOf(message)),
    approve(id) {
      for (const message of own(id)) {
        const button = discord.buttonsOf(message).find(({ label }) => label === "Approve");
        if (button !== undefined)
          void discord.press(bob, message.id, button.customId).catch(() => {});
      }
    },
    spoil(random) {
      const posts = "POST /channels/:channel/messages";
      const edits = "PATCH /channels/:channel/messages/:message";
      const reads = ["GET /channels/:channel/messages", "GET /guilds/:guild/members/:user"];
      const opens = "POST /channels/:channel/messages/:message/threads";
      const route = random() < POSTS ? posts : pick(random, [edits, opens, ...reads]);
      const kind = kindOf(random, route === posts);
      discord.mend();
      discord.fail(route, faults[kind]);
      return `Discord ${route} ${kind}`;
    },
    drop: (isForgotten) => discord.dropConnections({ resumable: !isForgotten }),
    hurried: () => [],
    mend: () => discord.mend(),
  };
}
