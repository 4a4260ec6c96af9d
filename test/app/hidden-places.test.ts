import { expect, onTestFinished, test } from "vitest";
import { createHandoffs } from "../../src/app/handoffs.ts";
import { createPastThreads } from "../../src/app/past-threads.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { handoffText } from "../../src/handoff/words.ts";
import { openCatalog } from "../../src/incidents/catalog.ts";
import { readPeriod } from "../../src/incidents/period.ts";
import { ASKER } from "../fakes/asker.ts";
import { createChat } from "../fakes/chat.ts";
import { createLedger } from "../fakes/ledger.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { ALL, hiddenFrom, type Place, placeOf } from "../memory/places.ts";

const channelOf = (key: string) => key.split(":").slice(0, 3).join(":");
const accountOf = (name: Place) => `${channelOf(placeOf(name).thread)}-U1`;
/** Another thread of the same place. */
const besideOf = (name: Place): JournalKey =>
  `${channelOf(placeOf(name).thread)}:9.9` as JournalKey;

/** Who reads a thread: a place that is a single thread has no other one, so each there is its own. */
async function audienceOf(key: JournalKey): Promise<string | undefined> {
  const name = ALL.find((each) => channelOf(placeOf(each).thread) === channelOf(key));
  const audience = name === undefined ? undefined : placeOf(name).audience;
  return name === "ownThread" ? key : audience;
}

/** A team's threads: one beside each of these places, with a message and an incident that was opened there. */
async function world(filled: readonly Place[]) {
  const clock = { now: Date.now() - 3_600_000 };
  const journal = openMemoryJournal({ now: () => clock.now });
  const catalog = openCatalog();
  onTestFinished(async () => (catalog.clear(), journal.close()));
  const standings = Object.fromEntries(ALL.map((name) => [accountOf(name), "member" as const]));
  const adapters = new Map(
    ["slack", "discord"].map((transport) => {
      const { adapter } = createChat({ transport, standings });
      return [transport, { ...adapter, audience: audienceOf, link: (key: string) => `at ${key}` }];
    }),
  );
  const ledger = createLedger(journal);
  for (const name of filled) {
    const [thread, { audience, tenants }] = [besideOf(name), placeOf(name)];
    const actor = { account: accountOf(name), name: "Ana" };
    const text = `the vault of checkout is ${name}`;
    await journal.post(thread, { id: "msg:1", kind: "message", actor, text });
    const saying = { actor, thread, call: "r1.t1", link: undefined, at: clock.now };
    await ledger.open(
      { ...saying, audience: name === "ownThread" ? thread : audience, tenants },
      { title: `Vault lost ${name}` },
    );
  }
  const encode = (text: string) => text;
  const { search } = createPastThreads({ journal, catalog, adapters, encode });
  const tools = () => [{ name: "remember", own: true as const }];
  const freezes = { known: () => [] };
  const handoffs = createHandoffs({ journal, adapters, ledger, tools, freezes, encode });
  return async (name: Place) => {
    const { thread: key, audience, tenants } = placeOf(name);
    const asker = {
      ...ASKER,
      key,
      account: accountOf(name),
      audience: async () => audience,
      tenants: async () => tenants,
    };
    const now = clock.now + 60_000;
    const period = await readPeriod("24h", { zone: "UTC", now });
    const found = await handoffs.of(period, { audience, tenants }, now);
    const past = await search("checkout vault", asker, 50);
    // Two stores have begun at different times.
    const timeless = (text: string) =>
      text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|\d\d:\d\d(?::\d\d)?/g, "…");
    return [
      timeless(JSON.stringify(past.map(({ where, question }) => [where, question]))),
      timeless(handoffText(found, encode)),
    ];
  };
}

test.each(ALL)(
  "from %s neither the search of threads nor a hand-off tells anything of another place, as if it were not there",
  async (name) => {
    const theirs = hiddenFrom(name);
    // Each thread there is a place of its own: nobody else reads it.
    const hidden = name === "ownThread" ? [...theirs, name] : theirs;
    const full = await (await world(ALL))(name);
    for (const text of full) {
      if (name !== "ownThread") expect(text).toMatch(new RegExp(`(?:is|lost) ${name}\\b`));
      for (const other of hidden) {
        expect(text).not.toMatch(new RegExp(`(?:is|lost) ${other}\\b`));
        expect(text).not.toContain(besideOf(other));
      }
    }
    const alone = await world(ALL.filter((other) => !hidden.includes(other)));
    expect(await alone(name)).toEqual(full);
  },
);
