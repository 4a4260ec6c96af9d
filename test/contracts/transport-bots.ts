import { expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { ANSWER, call, ofKind, wordsIn } from "../agent/talking.ts";
import type { HostOptions } from "../fakes/host.ts";
import type { Saying, ScriptedModel } from "../fakes/scripted-model.ts";
import type { fakeTool } from "../fakes/stage.ts";

export interface PlatformOfBots {
  /**
   * Another bot posts an alert in the words of its platform's attachments, Bob comments on it, and then this person asks the
   * bot there. Left out where nobody else writes.
   */
  beginUnder?(alert: string, comment: string, who: "ana", text: string): Promise<JournalKey>;
  /**
   * A bot posts an alert, mentioning ours or not; the thread in which it would be answered. `listed`: the configuration names
   * the bot. Left out where nobody else writes.
   */
  alert?(
    text: string,
    options: { listed: boolean; mention?: boolean; thread?: JournalKey },
  ): Promise<JournalKey>;
}

/** A conversation on a surface, as `transportContract` sets it up. */
interface Surface {
  at(): PlatformOfBots & {
    begin(who: "ana", text: string): Promise<JournalKey>;
    write(key: JournalKey, who: "ana", text: string): Promise<void>;
    shown(key: JournalKey): string;
    pings(): readonly unknown[];
  };
  run(options: HostOptions): Promise<unknown>;
  shows(key: JournalKey, text: string | RegExp): Promise<void>;
  talk(script: readonly Saying[]): {
    model: ScriptedModel;
    look: ReturnType<typeof fakeTool>;
    act: ReturnType<typeof fakeTool>;
    options: HostOptions;
  };
  ended(key: JournalKey, runs: number): Promise<void>;
  entriesOf(key: JournalKey): Promise<Entry[]>;
}

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
