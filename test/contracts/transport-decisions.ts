import { expect, test } from "vitest";
import { call, resultsIn } from "../agent/talking.ts";
import { until } from "../until.ts";
import type { Surface } from "./surface.ts";

/** What becomes of an action that waits for people, and who is told of it. */
export function decisionsOnSurface({ at, run, shows, talk, crowd, pass }: Surface): void {
  test("a denial's reason is shown, and told to the model", async () => {
    const { model, act, options } = talk([
      { calls: [call("act")] },
      { text: "INCONCLUSIVE: it was denied." },
    ]);
    await run(options);
    const key = await at().begin("ana", "restart web");
    await shows(key, '{"name":"web"}');
    const who = crowd ? "bob" : "ana";
    await at().denyBecause(key, who, "a1", "peak hour, wait for 18:00");
    await shows(key, "it was denied");
    await shows(key, "peak hour, wait for 18:00");
    expect(resultsIn(model.requests[1])[0]?.text).toContain("peak hour, wait for 18:00");
    expect(act.runs).toEqual([]);
    // Who asked is notified of it; who denied their own is not.
    if (crowd) await shows(key, /bob [^\n]*denied a1 \(act\): peak hour, wait for 18:00/);
    expect(at().pings()).toHaveLength(crowd ? 1 : 0);
    // Of a typed command the card says it, and no message below does so again.
    await at().write(key, "ana", "run act name=db");
    await shows(key, '{"name":"db"}');
    await at().denyBecause(key, who, "a2", "not that one");
    await shows(key, "not that one");
    await at().write(key, "ana", "status");
    await shows(key, "Open approvals in this thread: none");
    expect(at().shown(key)).not.toMatch(/The tool didn't run/);
  });

  test("an action that nobody decides on is warned of, expires, and people learn how to ask again", async () => {
    const { act, options } = talk([
      { calls: [call("act")] },
      { text: "INCONCLUSIVE: nobody decided." },
    ]);
    const { host } = await run(options);
    const key = await at().begin("ana", "restart web");
    await shows(key, '{"name":"web"}');
    /** Whoever still holds the thread may have to let go of it first. */
    const workUntil = (text: RegExp) =>
      until(async () => {
        await host.stage.worker.work(key);
        return text.test(at().shown(key));
      });
    pass(31 * 60_000);
    await workUntil(/expires in 29 minutes/);
    pass(20 * 60_000);
    await workUntil(/expires in 9/);
    await shows(key, /a1 \(act\) expires in 9 minutes\. It needs 1 more approval\./);
    pass(11 * 60_000);
    await workUntil(/nobody decided/);
    await shows(key, "nobody decided");
    await shows(key, /a1 \(act\) expired after 60 minutes[^]*ask again a1/);
    expect(act.runs).toEqual([]);
    const who = crowd ? "bob" : "ana";
    if (crowd) await at().press(key, who, "Ask again", "a1");
    else await at().write(key, who, "ask again a1");
    await shows(key, /a2[^]*"web"/);
    await at().press(key, crowd ? "cy" : who, "Approve", "a2");
    await until(() => act.runs.length > 0);
    expect(act.runs).toEqual(["web"]);
    if (crowd) await shows(key, /asked again by bob/);
  });
}
