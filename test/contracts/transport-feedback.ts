import { expect, test } from "vitest";
import { createFeedback } from "../../src/team/feedback.ts";
import { createFeedbackList } from "../../src/tools/feedback/feedback-list.ts";
import { until } from "../until.ts";
import type { Surface } from "./surface.ts";

/** What people say of an answer: kept beside the thread, counted, and told to no model. */
export function feedbackOnSurface({ at, run, shows, talk, kindsOf }: Surface): void {
  test("people say below an answer whether it helped, each once, and why not", async () => {
    const on = "It is the disk.";
    const { model, options } = talk([{ text: on }]);
    const list = createFeedbackList(() => createFeedback(host.stage.journal));
    const { host } = await run({ ...options, tools: [list] });
    const platform = at();
    const key = await platform.begin("ana", "why is web slow?");
    await shows(key, on);
    await platform.press(key, "ana", "Helpful", on);
    await until(() => platform.told("ana").includes("Thanks, noted."));
    await platform.press(key, "bob", "Helpful", on);
    const written = { text: "it was the other disk" };
    await platform.fill(key, "bob", { label: "Not helpful", action: on }, written);
    await platform.press(key, "cy", "Not helpful", on);
    await until(async () => (await kindsOf("team:feedback")).length >= 5);
    expect(await kindsOf(key)).not.toContain("feedback");
    await platform.write(key, "ana", "feedback");
    await shows(key, "1 helpful, 2 not, on 1 answer by 3 people.");
    await shows(key, 'bob, not helpful: "it was the other disk"');
    // A command's answer is words, without the tool that found them.
    expect(platform.shown(key)).not.toContain("feedback_list");
    expect(model.left()).toBe(0);
  });
}
