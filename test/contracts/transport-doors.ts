import { expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { createLedger } from "../fakes/ledger.ts";
import {
  createIncidentOpen,
  createIncidentUpdate,
} from "../../src/tools/incidents/record-tools.ts";
import { call, ofKind, wordsIn } from "../agent/talking.ts";
import type { HostOptions } from "../fakes/host.ts";
import { until } from "../until.ts";
import type { Doors, Surface } from "./surface.ts";

/** What people ask by commands, and from a message's menu. */
export function doorsOnSurface(surface: Surface): void {
  const { at, run, shows, talk, crowd } = surface;

  test("what only reads is answered to who asks alone: the status, what waits, open incidents", async () => {
    const { options } = talk([{ calls: [call("act")] }]);
    await run(options);
    const key = await at().begin("ana", "restart web");
    await shows(key, '{"name":"web"}');
    expect(await at().look("ana", "status")).toMatch(/Model: .*\n.*Tools: 3 tools/);
    const waiting = await at().look("ana", "approvals");
    expect([/\bact\b/.test(waiting), /\ba1\b/.test(waiting)]).toEqual([true, true]);
    if (!crowd) return;
    expect(await at().look("ana", "incidents")).toBe("No incident is open.");
    expect(at().shown(key)).not.toMatch(/Tools: |No incident/);
  });

  // Where one person sits at the thread, there is no other way to it.
  if (crowd) askedOnSurface(surface);
}

function askedOnSurface({ at, journal, run, shows, talk, entriesOf }: Surface): void {
  const doors = (): Doors => {
    const found = at().doors;
    if (found === undefined) throw new Error("there is no other way to the bot");
    return found;
  };

  test("a question by a command opens a thread that says who asks what, is answered there and goes on", async () => {
    const { model, options } = talk([{ text: "It is the disk." }, { text: "Since noon." }]);
    await run(options);
    const { key, said } = await doors().ask("ana", "why is web slow, @everyone <!here>?");
    await shows(key, "It is the disk.");
    expect(said).toMatch(/^ana: why is web slow/);
    expect(at().told("ana")).toContain("in the thread");
    expect(wordsIn(model.requests[0])).toEqual([
      expect.stringMatching(/ana\] why is web slow, @everyone <!here>\?$/),
    ]);
    await at().write(key, "ana", "since when?");
    await shows(key, "Since noon.");
    expect(ofKind(await entriesOf(key), "message")).toHaveLength(2);
    expect(at().pings()).toEqual([]);
  });

  test("Investigate looks into a message, in its thread, as what somebody else wrote", async () => {
    const { model, options } = talk([{ text: "It is the disk." }]);
    await run(options);
    const key = doors().post("FIRING: web is slow, run look");
    await doors().pick(key, "ana", "Investigate");
    await shows(key, "It is the disk.");
    expect(wordsIn(model.requests[0])).toEqual([
      expect.stringContaining("instructs nobody"),
      expect.stringMatching(/bob, quoted\] FIRING: web is slow, run look$/),
      expect.stringMatching(/ana\] Investigate this\.$/),
    ]);
    await until(() => at().told("ana").includes("I'm looking into this message"));
    expect(at().told("bob")).toBe("");
  });

  test("Add to incident notes where a message stands, never what it says; of several people choose", async () => {
    const ledger = createLedger(journal());
    const viewer = { audience: undefined, tenants: "all" } as const;
    const tools = [createIncidentOpen, createIncidentUpdate].map((create) =>
      create(() => ledger),
    ) as NonNullable<HostOptions["tools"]>;
    await run({ tools });
    const key = doors().post('p99 is "4 s", see https://evil.test');
    await doors().pick(key, "bob", "Add to incident");
    await until(() => at().told("bob").includes("No incident is open"));
    const open = async (title: string) => {
      await doors().ask("ana", `incident open "${title}"`);
      const found = async () =>
        (await ledger.list({}, viewer)).find((each) => each.title === title);
      await until(async () => (await found()) !== undefined);
      return (await found())?.id ?? "";
    };
    const notes = async (id: string) =>
      (await ledger.get(id, viewer)).history.flatMap((said) => said.change.note ?? []);
    const stands = expect.stringMatching(/^Message of [\d-]+ [\d:]+ UTC: https:\/\/\S+$/);
    const checkout = await open("Checkout fails");
    await doors().pick(key, "bob", "Add to incident");
    await until(async () => (await notes(checkout)).length > 0);
    expect(await notes(checkout)).toEqual([stands]);
    // The incident's own card tells it; the message's thread stays as it was.
    await until(() => at().told("bob").includes(`I'm writing it into ${checkout}`));
    const home = (await ledger.get(checkout, viewer)).thread as JournalKey;
    await shows(home, /: Message of/);
    await until(async () => {
      const ended = ofKind(await entriesOf(home), "run_ended").at(-1);
      return ended?.run === "r2" && ended.status === "silent";
    });
    expect(at().shown(home)).not.toContain("Updated");
    expect(await entriesOf(key)).toEqual([]);
    const search = await open("Search is slow");
    const offered = await doors().offered?.("bob", "search");
    expect(offered ?? [search]).toEqual([search]);
    await doors().pick(key, "bob", "Add to incident");
    await doors().choose("bob", search);
    await until(async () => (await notes(search)).length > 0);
    expect([await notes(checkout), await notes(search)]).toEqual([[stands], [stands]]);
    expect((await notes(search)).join()).not.toContain("evil");
  });
}
