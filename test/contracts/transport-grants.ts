import { expect, test } from "vitest";
import { ofKind } from "../agent/talking.ts";
import { fakeTool } from "../fakes/stage.ts";
import { until } from "../until.ts";
import type { Surface } from "./surface.ts";

/** What an approval may say besides yes: the same again, a typed name, a reason to wait for nobody else. */
export function grantsOnSurface(surface: Surface): void {
  const { at, run, shows, talk, kindsOf, entriesOf, crowd } = surface;

  test("an approval grants the very same again, until it is revoked", async () => {
    const { act, options } = talk([]);
    await run({ tools: options.tools ?? [] });
    const who = crowd ? "bob" : "ana";
    const key = await at().begin("ana", "run act name=web");
    await shows(key, "Exactly this again, at most 5 times within 30 minutes");
    await at().press(key, who, "Approve + 30 min", "a1");
    await shows(key, /granted the same: used 0 of 5, until \d\d:\d\d UTC/);
    await at().write(key, "ana", "run act name=web");
    await shows(key, /used 1 of 5/);
    expect(act.runs).toEqual(["web", "web"]);
    await at().press(key, who, "Revoke", "a1");
    await shows(key, /used 1 of 5, revoked by/);
    await at().write(key, "ana", "run act name=web");
    await until(
      async () => (await kindsOf(key)).filter((kind) => kind === "action_proposed").length === 3,
    );
    expect(act.runs).toHaveLength(2);
  });

  test("what deletes is approved by typing its name, and the glass is broken with a reason", async () => {
    const wipe = fakeTool({ name: "wipe", effect: "destructive", confirm: (given) => given.name });
    const { host } = await run({ tools: [wipe] });
    const who = crowd ? "bob" : "ana";
    const key = await at().begin("ana", "run wipe name=shop");
    await shows(key, "To approve it, type: shop");
    await at().fill(key, who, { label: "Approve…", action: "a1" }, { typed: "shop" });
    await shows(key, "did shop");
    const [voter = ""] = ofKind(await entriesOf(key), "vote").map(({ account }) => account);
    const { policy } = host.stage.parts;
    policy.breakGlass = { who: [voter] };
    policy.rules.push({ match: { tool: "wipe" }, decide: "ask", quorum: 9 });
    await at().write(key, "ana", "run wipe name=web");
    await shows(key, "To approve it, type: web");
    const reason = "nobody else is awake";
    await at().fill(key, who, { label: "Break glass…", action: "a2" }, { typed: "web", reason });
    await shows(key, /broke the glass for a2[^]*nobody else is awake/);
    await until(() => wipe.runs.length === 2);
    expect(wipe.runs).toEqual(["shop", "web"]);
    await shows(key, /approved by [^]*\(broke the glass\)/);
  });
}
