import { createHash } from "node:crypto";
import { encodedGoal, resultsOfGoal } from "../../queries/goals.ts";
import { goalReport, reportName } from "../../queries/goal-report.ts";
import { messageOf } from "../../core/errors.ts";
import { barrier } from "../store.ts";
import { putOff } from "../background.ts";
import { conclude } from "./conclude.ts";
import type { Learn } from "./parts.ts";

/** Writes the report of a goal that has ended into the folder for them: the same bytes under the same name, however often it is tried. */
export const writeReport: Learn<"writeReport"> = async (ctx, step, signal) => {
  const { key, thread, parts, journal, adapter } = ctx;
  const { goal } = step;
  try {
    // What a folder has nobody can take back.
    if (!(await barrier(ctx))) return async () => {};
    const { encode } = parts.encoder;
    const shown = encodedGoal(thread, goal, encode);
    const results = await resultsOfGoal(await journal.read(key), shown.goal, encode);
    const which = createHash("sha256").update(key).digest("hex").slice(0, 8);
    const text = goalReport(shown, results, adapter.link(key));
    await parts.reports?.write(reportName(shown, which), text);
  } catch (error) {
    const text = `The report of ${goal.started.goal} could not be written into goals.folder, and is tried again: ${messageOf(error)}`;
    ctx.log.warn({ err: error, key }, "a goal's report could not be written");
    await parts.ops
      ?.tell(`report ${key} ${goal.started.goal}`, parts.encoder.encode(text))
      .catch((failed: unknown) =>
        ctx.log.warn({ err: failed, key }, "operators could not be told"),
      );
    return async () => putOff(ctx, step.key, error);
  }
  return async () => {
    if (!signal.aborted) await conclude(ctx, { ...step, facts: "written" });
  };
};
