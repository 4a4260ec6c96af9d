import { listAnd } from "../core/lists.ts";
import type { Adapter } from "../adapters/adapter.ts";
import { groupsIn, rulesAbout } from "../approvals/access.ts";
import { isGroup, isNamed, type Requester } from "../approvals/requester.ts";
import type { Config } from "../config/config.ts";
import { transportOf } from "../core/journal-key.ts";
import { isAgent, type Membership } from "../core/people.ts";
import type { Journal } from "../journal/journal.ts";
import type { WhoIs } from "../tools/integration.ts";
import type { Asker } from "../tools/tool.ts";
import { homeOf, threadAt } from "./thread-places.ts";

interface Parts {
  journal: Pick<Journal, "read">;
  adapters: ReadonlyMap<string, Adapter>;
  config: Pick<Config, "approvals" | "access" | "people">;
}

/** Somebody as the platform knows them now, and the channels that the thread is in. */
interface Known extends Requester {
  place: string | undefined;
  channels: readonly string[];
  /** Their groups, as people call them. */
  labels: readonly string[];
}

/** Who somebody is to the program and what that lets them do, for them and for whoever reads along. */
export function createWhoIs({ journal, adapters, config }: Parts): WhoIs {
  const { access, approvals } = config;
  const named = new Set([
    ...groupsIn(access, approvals),
    ...approvals.rules.flatMap((rule) => rule.approvers ?? []).filter(isGroup),
    ...(approvals.breakGlass?.who ?? []).filter(isGroup),
  ]);

  async function know({ key, account }: Asker): Promise<Known> {
    const thread = await threadAt(journal, key);
    const place = homeOf(thread, key, account);
    const [home, there] = [adapterIn(adapters, key), adapterIn(adapters, place)];
    const { people } = there;
    const own = there.singleOperator || isAgent(account);
    const groups: string[] = [];
    for (const group of named)
      if (transportOf(group) === transportOf(account))
        if ((await people.members(group))?.includes(account) === true) groups.push(group);
    // All of its places read the answer, and a private one has no name for who isn't in it.
    const isTold = thread.views.length === 1 || (await there.audience(place)) === undefined;
    const labels = groups.map(async (group) => {
      const label = await people.label?.(group, place).catch(() => undefined);
      return label === undefined ? group : `${label} (${group})`;
    });
    return {
      account,
      membership: own ? "member" : await people.membership(account, place),
      groups,
      labels: await Promise.all(labels),
      place: isTold ? await there.placeName?.(place).catch(() => undefined) : undefined,
      channels: [await home.channel(key), ...thread.channels.values()],
    };
  }

  function accounts({ account, name }: Asker): string[] {
    const you = `You are ${name}: ${account}.`;
    const mapped = config.people.find((each) => each.accounts.includes(account));
    if (mapped === undefined) return [you];
    const others = mapped.accounts.filter((each) => each !== account);
    const also = others.length === 0 ? "" : `, with ${listAnd(others)}`;
    return [you, `You count as one person${also}: ${mapped.name}.`];
  }

  return {
    async of(asker) {
      const head = accounts(asker);
      const known = await know(asker).catch(() => undefined);
      if (known === undefined)
        return [
          ...head,
          "What you may do here can't be looked up now. Ask again in a minute.",
        ].join("\n");
      const { labels } = known;
      const groups =
        named.size === 0
          ? []
          : [
              labels.length === 0
                ? "The rules name no group that you are in."
                : `Groups of yours that the rules name: ${listAnd(labels)}.`,
            ];
      return [
        ...head,
        memberText(known, adapterIn(adapters, asker.key).singleOperator),
        ...groups,
        askText(config, known),
        approveText(config, known),
        ...glassText(config, known),
      ].join("\n");
    },
  };
}

function adapterIn(adapters: ReadonlyMap<string, Adapter>, key: string): Adapter {
  const adapter = adapters.get(transportOf(key));
  if (adapter === undefined) throw new Error(`${key} is not served by this process`);
  return adapter;
}

const MEMBERS: Readonly<Record<Membership, string>> = {
  member: "you are a full member",
  guest: "you are a guest",
  outsider: "you are no member, though you are one of the workspace or server",
  bot: "you are a bot",
  deactivated: "your account is deactivated",
  unknown: "you are from outside this workspace or server",
};

function memberText({ account, membership, place }: Known, isAlone: boolean): string {
  if (isAgent(account)) return "You are an agent: you ask as a full member and decide nothing.";
  if (isAlone) return "Only you write here: you ask and you decide.";
  return `In ${place ?? "this place"} ${MEMBERS[membership]}.`;
}

/** For each call the first rule that covers it decides; what none covers follows from the membership. */
function askText({ access }: Parts["config"], known: Known): string {
  const about = known.channels.flatMap((channel) => rulesAbout(access, channel, known));
  const rules = new Map(about.map(({ number, rule }) => [number, rule]));
  const said = [...rules].map(
    ([number, { decide, effects, tools }]) =>
      `${number} ${DECIDES[decide]} ${callsOf([effects].flat(), [tools].flat())}`,
  );
  const rest = known.membership === "member" ? "anything" : "only what everybody here may know";
  return said.length === 0
    ? `Asking: ${rest}.`
    : `Asking: ${rest}, but first access.rules: ${said.join("; ")}.`;
}

const DECIDES = { allow: "allows", ask: "wants approval for", deny: "denies" } as const;

function callsOf(effects: readonly string[], globs: readonly string[]): string {
  const tools = globs.includes("*") ? undefined : listAnd(globs);
  if (effects.length === 3) return tools ?? "everything";
  const calls = `${listAnd(effects)} calls`;
  return tools === undefined ? calls : `${calls} of ${tools}`;
}

function approveText({ approvals }: Parts["config"], known: Known): string {
  const { membership } = known;
  if (isAgent(known.account) || !["member", "outsider"].includes(membership))
    return "Approving: nothing, whatever the rules say.";
  const asking = approvals.rules.flatMap(({ decide, approvers }, index) =>
    decide === "ask" ? [{ number: index + 1, approvers }] : [],
  );
  const mayVote = (approvers: string[] | undefined) =>
    approvers === undefined ? membership === "member" : isNamed(approvers, known);
  const { yes = [], no = [] } = Object.groupBy(asking, ({ approvers }) =>
    mayVote(approvers) ? "yes" : "no",
  );
  const what = [
    ...(yes.length > 0 ? [rulesText(yes)] : []),
    ...(membership === "member" ? ["whatever no rule covers"] : []),
  ];
  const not = no.length > 0 ? `, but not ${rulesText(no)}` : "";
  return `Approving: ${what.length === 0 ? "nothing" : listAnd(what)}${not}. Each card says whether you may, also where you asked for it yourself.`;
}

/** `what rules 1 and 3 of approvals.rules cover` */
function rulesText(rules: readonly { number: number }[]): string {
  const numbers = listAnd(rules.map(({ number }) => String(number)));
  return `what ${rules.length === 1 ? `rule ${numbers} of approvals.rules covers` : `rules ${numbers} of approvals.rules cover`}`;
}

function glassText({ approvals }: Parts["config"], known: Known): string[] {
  const { breakGlass } = approvals;
  if (breakGlass === undefined) return [];
  const may = ["member", "outsider"].includes(known.membership) && isNamed(breakGlass.who, known);
  return [`Break-glass: ${may ? "you may, with a reason" : "you may not"}.`];
}
