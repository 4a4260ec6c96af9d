import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { formatUtc } from "../../core/instant.ts";
import { readPast } from "../../core/past.ts";
import { counted } from "../../core/text.ts";
import { aroundMoment, changeLine, type ChangeSource } from "../change.ts";
import { orRefused } from "../refusal.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { type Forge, repositoryArgument } from "./forge.ts";
import { historyOf } from "./history.ts";

const MAX_ROWS = 40;
/** How many repositories one call looks at: each costs five requests or more. */
const MAX_REPOSITORIES = 8;
const HOUR_MS = 3_600_000;

export function createChanges(forge: Forge) {
  return defineTool({
    name: "github_changes",
    summary: "shows what was merged, released and deployed around a time, and which runs failed",
    description:
      "What changed in repositories around a time, the last change before it first: deployments with their status, releases, merged pull requests, commits, failed and deploying workflow runs. Without a repository: all that are configured.",
    input: z.strictObject({
      repository: repositoryArgument(forge),
      since: z.string().min(1).max(40).default("24h").describe("How far back: 2h, 1d or a time"),
      at: z
        .string()
        .min(1)
        .max(40)
        .default("now")
        .describe("The time it broke; an hour after it is shown too"),
    }),
    effect: "read",
    endpoints: forge.endpoints,
    timeoutMs: 60_000,
    run: ({ repository, since, at }, ctx) =>
      orRefused(async () => {
        const zone = (await ctx.asker?.timezone()) ?? "UTC";
        const now = ctx.asker?.startedAt ?? Date.now();
        const moment = await readPast(at, { zone, now });
        const from = await readPast(since, { zone, now: moment });
        if (from >= moment)
          throw new BotError("INPUT_INVALID", "since: expected a time before at.");
        const window = { from, to: Math.min(now, moment + HOUR_MS) };
        const seen = await lookAt(forge, repository, window, ctx);
        const { changes, gaps, findings, notes, isBlind } = seen;
        if (isBlind) return { text: gaps[0]?.why ?? "Nothing could be seen.", gaps, failed: true };
        const ranked = aroundMoment(changes, moment);
        const rows = ranked.slice(0, MAX_ROWS).map((change) => changeLine(change, moment));
        const more = ranked.length > MAX_ROWS ? [`and ${ranked.length - MAX_ROWS} more`] : [];
        const span = `from ${formatUtc(window.from)} to ${formatUtc(window.to)}`;
        const head = `${counted(changes.length, "change")} ${span}, told from ${formatUtc(moment, "second")}:`;
        return { text: [head, ...rows, ...more, ...notes].join("\n"), findings, gaps };
      }),
  });
}

async function lookAt(
  forge: Forge,
  written: string | undefined,
  window: { from: number; to: number },
  ctx: ToolContext,
) {
  const all = written === undefined ? forge.repositories : [forge.find(written)];
  const seen = await Promise.all(
    all
      .slice(0, MAX_REPOSITORIES)
      .map((each) => historyOf(each, window, { rest: forge.rest(each, ctx), ctx })),
  );
  const left = all.slice(MAX_REPOSITORIES).map(({ label }) => label);
  const skipped = {
    what: left.join(", "),
    why: `one call looks at ${MAX_REPOSITORIES} repositories`,
    help: "Name one.",
  };
  return {
    changes: seen.flatMap(({ changes }) => changes),
    findings: seen.flatMap(({ findings }) => findings),
    notes: seen.flatMap(({ notes }) => notes),
    isBlind: seen.every(({ isBlind }) => isBlind),
    gaps: [...seen.flatMap(({ gaps }) => gaps), ...(left.length === 0 ? [] : [skipped])],
  };
}

/** What `what_changed` asks. */
export function changeSource(forge: Forge): ChangeSource {
  return {
    name: "github",
    endpoints: forge.endpoints,
    changes: (window, ctx) => lookAt(forge, undefined, window, ctx),
  };
}
