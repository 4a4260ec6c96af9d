import { expect, test } from "vitest";
import { call } from "../agent/talking.ts";
import { fakeTool } from "../fakes/stage.ts";
import { until } from "../until.ts";
import type { Surface } from "./surface.ts";

/** What of a run and of a thread people see besides answers. */
export function progressOnSurface({ at, run, shows, talk, pass }: Surface): void {
  test("an answer is a new message below everything, and nothing is left of its progress", async () => {
    const { promise, resolve } = Promise.withResolvers<{ text: string }>();
    const slow = fakeTool({ name: "slow", run: () => promise, doing: () => "Looking at web" });
    const { options } = talk([
      { calls: [call("slow")] },
      { text: "INCONCLUSIVE: it is the disk." },
    ]);
    await run({ ...options, tools: [slow], showAfterMs: 0 });
    const key = await at().begin("ana", "is web well?");
    await shows(key, "Looking at web");
    await at().write(key, "bob", "@ana it was well an hour ago");
    resolve({ text: "looked" });
    await shows(key, /it was well an hour ago[^]*it is the disk/);
    expect(at().shown(key)).not.toMatch(/⏳|in_progress|Still looking/);
    expect(at().pings()).toEqual([]);
  });

  test("a thread that grows gets one summary, which is edited as it goes on, by the next process too", async () => {
    const said = ["one", "two", "three", "four", "five"];
    const { options } = talk(said.map((each) => ({ text: `INCONCLUSIVE: it may be ${each}.` })));
    let process = await run(options);
    const key = await at().begin("ana", "why is web slow?");
    await shows(key, "it may be one");
    for (const each of ["two", "three", "four"]) {
      await at().write(key, "ana", `and now, is it ${each}?`);
      await shows(key, `it may be ${each}`);
    }
    expect(at().shown(key)).not.toContain("Summary of this thread");
    const summedUp = (text: RegExp) =>
      until(async () => {
        await process.host.stage.worker.work(key);
        return text.test(at().shown(key));
      });
    pass(61_000);
    await summedUp(
      /Summary of this thread[^]*4 answers in all[^]*• Not sure yet: it may be four\./,
    );
    await shows(key, /Asked by ana\S*: [^\n]*why is web slow\?/);
    await shows(key, /Newest answer: [^\n]*http/);
    await process.end();
    process = await run(options);
    await at().write(key, "ana", "and five?");
    await shows(key, "it may be five");
    pass(61_000);
    await summedUp(/5 answers in all[^]*• Not sure yet: it may be five\./);
    expect(at().shown(key).split("Summary of this thread")).toHaveLength(2);
    expect(at().pings()).toEqual([]);
  });
}
