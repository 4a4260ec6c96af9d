import { expect, test } from "vitest";
import { ANSWER, call, ofKind, wordsIn } from "../agent/talking.ts";
import type { Surface } from "./surface.ts";

/** Other bots: those that may begin an investigation, and the others. */
export function botsOnSurface({ at, run, shows, talk, ended, entriesOf }: Surface): void {
  test("a listed bot's alert is looked into by reads alone; a person who then asks gets the card", async () => {
    const { alert, write, pings } = at();
    if (alert === undefined) return;
    const { model, look, act, options } = talk([
      { calls: [call("look"), call("act")] },
      ANSWER,
      { calls: [call("act")] },
    ]);
    await run(options);
    const key = await alert("CheckoutErrors is firing", { listed: true });
    await shows(key, /confirmed: it is as seen/i);
    expect(wordsIn(model.requests[0])[0]).toMatch(/, app, output\] .*CheckoutErrors is firing/s);
    expect([look.runs, act.runs]).toEqual([["web"], []]);
    await alert("and again", { listed: true, thread: key });
    await write(key, "ana", "please do it");
    await shows(key, "Approve");
    const runs = ofKind(await entriesOf(key), "run_started");
    expect(runs.map(({ principals }) => principals.length)).toEqual([0, 1]);
    expect(pings()).toEqual([]);
  });

  test("a bot that is not listed is told once in a thread why it is not answered", async () => {
    const { alert, begin, shown } = at();
    if (alert === undefined) return;
    const { options } = talk([]);
    await run(options);
    await alert("nothing to you", { listed: false });
    const key = await alert("help", { listed: false, mention: true });
    await shows(key, "I don't answer other bots.");
    await alert("help", { listed: false, mention: true, thread: key });
    await alert("help me", { listed: false, mention: true });
    await ended(await begin("ana", "help"), 1);
    expect(shown(key).match(/I don't answer/g)).toHaveLength(1);
    expect(await entriesOf(key)).toEqual([]);
  });
}
