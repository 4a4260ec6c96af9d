import { expect, test } from "vitest";
import { ANSWER, call, ofKind } from "../agent/talking.ts";
import type { Saying } from "../fakes/scripted-model.ts";
import { until } from "../until.ts";
import type { Surface } from "./surface.ts";

/** What a run has used and may use is seen and changed on every surface. */
export function budgetsOnSurface({ at, run, shows, talk, ended, entriesOf, crowd }: Surface): void {
  const budget = { steps: 6, tokens: 400_000, minutes: 15 };

  test("a run near its limit says what it has used, is extended by a press, and gone on with once it has ended", async () => {
    const { promise: extended, resolve } = Promise.withResolvers<void>();
    /** Says the same to the same request: what somebody overtakes is asked for again. */
    const saying: Saying = async ({ toolChoice, turns }, { signal }) => {
      const step = turns.filter(({ role }) => role === "assistant").length + 1;
      const cut = new Promise((leave) => signal.addEventListener("abort", leave, { once: true }));
      if (step === 5) await Promise.race([extended, cut]);
      return toolChoice === "none" ? ANSWER : { calls: [call("look", `web-${step}`)] };
    };
    const { options } = talk(Array.from({ length: 60 }, () => saying));
    await run({ ...options, talk: { budget }, showAfterMs: 0 });
    const who = crowd ? "bob" : "ana";
    const key = await at().begin("ana", "is web well?");
    if (crowd) {
      await shows(key, /4 of 6 steps · 440 of 400k tokens · 0 of 15 min/);
      await at().press(key, who, "Extend: up to 3 steps, 200k tokens", "4 of 6 steps");
    } else {
      // Nothing is redrawn there, so what a model is at isn't told.
      await until(async () => ofKind(await entriesOf(key), "assistant").length === 4);
      await at().write(key, who, "extend");
    }
    await until(async () => ofKind(await entriesOf(key), "extended").length === 1);
    resolve();
    await shows(key, "Stopped because of a limit (9 steps)");
    if (crowd) {
      await at().press(key, who, "Continue: up to 6 steps, 400k tokens", "a limit (9 steps)");
      await at().press(key, "ana", "Continue: up to 6 steps, 400k tokens", "a limit (9 steps)");
      await until(() => at().told("ana") !== "");
    } else await at().write(key, who, "continue");
    await ended(key, 2);
    await shows(key, "Stopped because of a limit (6 steps)");
    const entries = await entriesOf(key);
    expect(ofKind(entries, "extended")).toHaveLength(1);
    expect(ofKind(entries, "run_started")).toHaveLength(2);
    expect(at().pings()).toEqual([]);
  });
}
