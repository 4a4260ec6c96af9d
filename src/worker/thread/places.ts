import type { Adapter } from "../../adapters/adapter.ts";
import type { View } from "../../adapters/view.ts";
import { BotError } from "../../core/errors.ts";
import {
  type JournalKey,
  platformName,
  transportOf,
  tryJournalKey,
} from "../../core/journal-key.ts";
import type { People } from "../../core/people.ts";
import { NO_MODEL } from "../../core/routes.ts";
import { type Viewer, viewerOf } from "../../core/viewer.ts";
import { saidIn } from "../../thread/said.ts";
import { MAIN_VIEW } from "../../thread/state.ts";
import type { RunParts } from "../../thread/surroundings.ts";
import { viewFor } from "../../thread/views.ts";
import type { Quotable } from "../../tools/tool.ts";
import type { ThreadContext } from "./parts.ts";

/** The places that a thread is shown in: most have one. Whoever decides or reads along may sit in any of them. */

type Places = Pick<ThreadContext, "parts" | "adapter" | "key" | "thread">;

/** A place, by the key that its platform knows it by. */
interface Place {
  adapter: Adapter;
  key: JournalKey;
}

/** @throws BotError NOT_AVAILABLE when this process does not serve its platform */
function placeOf({ parts, adapter, key }: Places, view: string): Place {
  if (view === MAIN_VIEW) return { adapter, key };
  const place = tryJournalKey(view);
  const from = place && parts.adapterOf(transportOf(place));
  if (place !== undefined && from !== undefined) return { adapter: from, key: place };
  throw new BotError("NOT_AVAILABLE", `${view} of ${key} is not shown by this process.`);
}

function placesOf(ctx: Places): Place[] {
  return ctx.thread.views.map((view) => placeOf(ctx, view));
}

/** The keys of all places that the thread's words are from. */
export function allPlaces({ key, thread }: Pick<Places, "key" | "thread">): string[] {
  return [key, ...thread.views.filter((view) => view !== MAIN_VIEW)];
}

/** What runs in this thread are made of: as everywhere, unless `model.routes` says otherwise of one of its places. */
export function runPartsOf(ctx: Places): RunParts {
  const { run, routeOf } = ctx.parts;
  const route = routeOf?.(allPlaces(ctx));
  if (route === undefined) return run;
  const { terms } = run;
  const direct: RunParts["direct"] = (command, ...rest) =>
    command.name === "model"
      ? { kind: "text", text: routedText(route), failed: command.model !== undefined }
      : run.direct(command, ...rest);
  if (route === NO_MODEL || terms === undefined) return { ...run, direct, terms: undefined };
  const contextWindow = run.windowOf?.(route) ?? terms.contextWindow;
  return { ...run, direct, model: route, terms: { ...terms, model: route, contextWindow } };
}

function routedText(route: string): string {
  return route === NO_MODEL
    ? "Nothing from here goes to a model, so commands and checks answer. `model.routes` says so."
    : `${route} answers here, and no other model. \`model.routes\` says so.`;
}

/** The view of that name, as it is now. @throws BotError NOT_AVAILABLE when this process does not show it */
export function viewOf(ctx: Places, name: string = MAIN_VIEW): View {
  const { adapter, key } = placeOf(ctx, name);
  const view = adapter.view(key);
  if (view !== undefined) return view;
  throw new BotError("NOT_AVAILABLE", `${name} of ${ctx.key} is not shown by this process.`);
}

/** The place that the account writes in. */
function homeOf(ctx: Places, account: string): Place {
  return placeOf(ctx, viewFor(ctx.thread, account));
}

/** Everybody in all of its places, each as their own platform knows them. */
export function peopleAround(ctx: Places): People {
  if (ctx.thread.views.length === 1) return ctx.adapter.people;
  return {
    membership: async (account) => {
      const { adapter, key } = homeOf(ctx, account);
      return adapter.people.membership(account, key);
    },
    members: async (group) => homeOf(ctx, group).adapter.people.members(group),
    async everyone() {
      const [here, ...others] = placesOf(ctx).map(({ adapter, key }) =>
        adapter.people.everyone(key),
      );
      // What another platform's outage hides cannot be listed; a decision is checked for itself.
      const away = others.map((each) => each.catch(() => undefined));
      const found = await Promise.all([here, ...away]);
      return found.includes(undefined) ? undefined : found.flatMap((each) => each ?? []);
    },
    async label(reference) {
      const { adapter, key } = homeOf(ctx, reference);
      return adapter.people.label?.(reference, key);
    },
    timezone: async (account) => homeOf(ctx, account).adapter.people.timezone(account),
  };
}

/**
 * Who may read along (`Adapter.audience`). Where one of several places is private the thread is a private place of its own: no
 * place's private records are shown in another.
 */
export async function audienceOf(ctx: Places): Promise<string | undefined> {
  const all = await Promise.all(placesOf(ctx).map(({ adapter, key }) => adapter.audience(key)));
  return all.length === 1 ? all[0] : all.every((each) => each === undefined) ? undefined : ctx.key;
}

/** As `Adapter.tenants`, by the account's own platform; none where people from elsewhere read along in any of its places. */
export async function tenantsOf(ctx: Places, account: string): Promise<readonly string[] | "all"> {
  const { adapter, key } = homeOf(ctx, account);
  const shared = placesOf(ctx).map((place) => place.adapter.hasOutsiders?.(place.key));
  const [tenants, ...found] = await Promise.all([adapter.tenants(key, account), ...shared]);
  return found.includes(true) ? [] : tenants;
}

/** Who reads what an account is answered in the thread. */
export function viewerFor(ctx: Places, account: string): Promise<Viewer> {
  return viewerOf({
    key: ctx.key,
    audience: () => audienceOf(ctx),
    tenants: () => tenantsOf(ctx, account),
  });
}

/** The channels that it is in (`Adapter.channel`), its own first. */
export async function channelsOf({ adapter, key, thread }: Places): Promise<string[]> {
  const others = thread.views.flatMap((view) => thread.channels.get(view) ?? []);
  return [await adapter.channel(key), ...others];
}

/** A message of the thread as it stands now, when it was said by its platform's clock, and its address for people. */
export async function saidAt(
  ctx: Places & Pick<ThreadContext, "journal">,
  post: string,
): Promise<Quotable | undefined> {
  const found = saidIn(await ctx.journal.read(ctx.key), post);
  if (found === undefined) return undefined;
  const [there] = placesOf(ctx).flatMap(
    ({ adapter, key }) => adapter.locate?.(key, found.message) ?? [],
  );
  return { ...found, ...there };
}

/** What people call its places (`Adapter.placeName`). May throw. */
export async function placeNameIn(ctx: Places): Promise<string | undefined> {
  const found = await Promise.all(
    placesOf(ctx).map(async ({ adapter, key }) => ({ key, name: await adapter.placeName?.(key) })),
  );
  const known = found.flatMap(({ key, name }) => (name === undefined ? [] : [{ key, name }]));
  const areAlike = new Set(known.map(({ name }) => name)).size < known.length;
  const names = known.map(({ key, name }) => (areAlike ? `${name} on ${platformName(key)}` : name));
  return names.length === 0 ? undefined : names.join(" or ");
}
