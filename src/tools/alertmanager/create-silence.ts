import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { formatElapsed } from "../../core/instant.ts";
import { tryDuration } from "../../core/past.ts";
import { counted, inQuotes } from "../../core/text.ts";
import type { ReverseCall } from "../../core/tool-call.ts";
import { severityOf } from "../labels.ts";
import { formatMoment } from "../moment.ts";
import { orRefused } from "../refusal.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { meantBy } from "./alerts.ts";
import { type Alert, createAlertmanager, type Silence, TOOL_TIMEOUT_MS } from "./api.ts";
import { type Instances, matchersField, MAX_COMMENT } from "./fields.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import {
  areSame,
  checkMatchSomething,
  type Matcher,
  matcherText,
  readMatchers,
} from "./matchers.ts";
import { groupsOf, groupText, matchersText, untilText } from "./shown.ts";

const MAX_ROWS = 10;
const MINUTE_MS = 60_000;
/** A silence that is longer belongs into the rules. */
const MAX_MS = 30 * 86_400_000;
/** The clocks of two machines differ. */
const CLOCK_MS = 60_000;

const spanField = z.strictObject({ startsAt: z.int(), endsAt: z.int() });
type Span = z.infer<typeof spanField>;

export function createSilence(instances: Instances) {
  const open = (ctx: ToolContext, instance: string | undefined) =>
    createAlertmanager(ctx, instanceOf({ instance }, instances));
  return defineTool({
    name: "alertmanager_silence",
    summary: "silences the alerts that match, for a while",
    description:
      "Creates a silence: alerts that match notify nobody until it ends. The card shows which alerts it hides now. Ended early by alertmanager_expire_silence.",
    input: z.strictObject({
      matchers: matchersField.min(1),
      duration: z
        .string()
        .min(1)
        .max(20)
        .describe("How long, from approval on")
        .meta({ examples: ["2h"] }),
      comment: z
        .string()
        .regex(/\S/, "is empty")
        .max(MAX_COMMENT)
        .describe("Why, for whoever finds it"),
      /** Of a silence that was ended and is made again, ms since 1970: then these count, not the duration. */
      span: spanField.optional().meta({ internal: true }),
      ...instanceArgument(instances),
    }),
    effect: "write",
    title: ({ matchers, duration, span }) =>
      `Silence ${matchers.join(", ")} ${span === undefined ? `for ${duration}` : "again, until the same end"}`,
    endpoints: instances,
    timeoutMs: TOOL_TIMEOUT_MS,
    resource: ({ matchers }) => `silence ${matchers.toSorted().join(" ")}`,
    async precheck({ matchers: written, duration, span, instance }, ctx) {
      const matchers = readMatchers(written);
      checkMatchSomething(matchers);
      timesOf(duration, span);
      checkNotSilenced(await open(ctx, instance).silences(), matchers);
    },
    async preview({ matchers: written, duration, comment, span, instance }, ctx) {
      const matchers = readMatchers(written);
      const server = open(ctx, instance);
      const [hidden, all] = await Promise.all([server.alerts(matchers), server.alerts([])]);
      const near = hidden.length === 0 ? await meantBy(server, matchers, ctx.encoder) : [];
      return {
        lines: [
          { label: "Silences", value: matchersText({ matchers }) },
          timeLine(duration, span),
          { label: "Because", value: comment },
        ],
        blastRadius: [blastText(hidden, all, ctx), ...near].join(" "),
        undo: "Can be undone: alertmanager_expire_silence ends it at once. What was not sent meanwhile is sent then, if it still fires.",
      };
    },
    async verify({ matchers: written, comment, instance }, ctx, startedAt) {
      const found = await findMade(open(ctx, instance), readMatchers(written), comment, startedAt);
      if (found === undefined)
        return {
          verdict: "unknown",
          evidence: "no silence of these matchers and this comment was made since.",
        };
      const until = untilText(found.endsAt, Date.now());
      const evidence = `silence ${found.id} is ${found.state} until ${until}.`;
      return { verdict: "done", evidence, undo: endingOf(found, instance) };
    },
    run: ({ matchers: written, duration, comment, span, instance }, ctx) =>
      orRefused(async () => {
        const matchers = readMatchers(written);
        const server = open(ctx, instance);
        const { startsAt, endsAt } = timesOf(duration, span);
        const createdBy = `${ctx.asker?.name ?? "somebody"} (Watchkeeper)`;
        const id = await server.create({ matchers, createdBy, comment, startsAt, endsAt });
        const shown = matchers.map(matcherText).join(", ");
        return {
          text: `Silenced {${shown}} until ${untilText(endsAt, Date.now())}. Its id: ${id}`,
          undo: endingOf({ id, endsAt }, instance),
        };
      }),
  });
}

/** @throws BotError PRECHECK_FAILED */
function checkNotSilenced(silences: readonly Silence[], matchers: readonly Matcher[]): void {
  const same = silences.find((each) => each.state === "active" && areSame(each.matchers, matchers));
  if (same === undefined) return;
  const until = untilText(same.endsAt, Date.now());
  const text = `These alerts are silenced already, by ${same.id} until ${until}.`;
  throw new BotError("PRECHECK_FAILED", text);
}

/** @throws BotError INPUT_INVALID, PRECHECK_FAILED */
function timesOf(duration: string, span: Span | undefined): Span {
  const now = Date.now();
  if (span === undefined) return { startsAt: now, endsAt: now + durationOf(duration) };
  const { startsAt, endsAt } = span;
  if (endsAt > now) return { startsAt: Math.max(now, startsAt), endsAt };
  throw new BotError("PRECHECK_FAILED", `It would have ended ${formatMoment(endsAt)}.`);
}

function timeLine(duration: string, span: Span | undefined): { label: string; value: string } {
  if (span !== undefined)
    return { label: "Until", value: `${untilText(span.endsAt, Date.now())}, as before` };
  return { label: "For", value: `${formatElapsed(durationOf(duration))} from approval on` };
}

/** Ends it, unless somebody has changed until when it holds. */
function endingOf(
  { id, endsAt }: Pick<Silence, "id" | "endsAt">,
  instance: string | undefined,
): ReverseCall {
  const on = instance === undefined ? {} : { instance };
  return { tool: "alertmanager_expire_silence", args: { id, until: endsAt, ...on } };
}

/** @throws BotError INPUT_INVALID */
function durationOf(text: string): number {
  const ms = tryDuration(text);
  if (ms !== undefined && ms >= MINUTE_MS && ms <= MAX_MS) return ms;
  const problem = `duration: expected 1m to 30d, such as 2h, not ${inQuotes(text)}.`;
  throw new BotError("INPUT_INVALID", problem);
}

/** `Hides 3 of 12 firing alerts, 1 of them critical: …` */
function blastText(
  hidden: readonly Alert[],
  all: readonly Alert[],
  { encoder }: ToolContext,
): string {
  const later = "Alerts that match later are hidden too.";
  if (hidden.length === 0) return `Hides none of ${counted(all.length, "firing alert")}. ${later}`;
  const critical = hidden.filter(({ labels }) => severityOf(labels) === "error").length;
  const groups = groupsOf(hidden);
  const some = groups.slice(0, MAX_ROWS).map((group) => groupText(group, encoder));
  const more = groups.length > MAX_ROWS ? `; and ${groups.length - MAX_ROWS} more names` : "";
  const head = `Hides ${hidden.length} of ${counted(all.length, "firing alert")}, ${critical} of them critical`;
  return `${head}: ${some.join("; ")}${more}. ${later}`;
}

async function findMade(
  server: ReturnType<typeof createAlertmanager>,
  matchers: readonly Matcher[],
  comment: string,
  startedAt: number,
) {
  const silences = await server.silences();
  return silences.find(
    (each) =>
      each.state !== "expired" &&
      each.comment === comment &&
      each.updatedAt >= startedAt - CLOCK_MS &&
      areSame(each.matchers, matchers),
  );
}
