import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { counted } from "../../core/text.ts";
import { clip } from "../labels.ts";
import { formatMoment } from "../moment.ts";
import { orRefused } from "../refusal.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { type Alertmanager, createAlertmanager, type Silence, TOOL_TIMEOUT_MS } from "./api.ts";
import { type Instances } from "./fields.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import { matcherText } from "./matchers.ts";
import { groupsOf, groupText, matchersText, untilText } from "./shown.ts";

const MAX_ROWS = 10;

export function createExpireSilence(instances: Instances) {
  const open = (ctx: ToolContext, instance: string | undefined) =>
    createAlertmanager(ctx, instanceOf({ instance }, instances));
  return defineTool({
    name: "alertmanager_expire_silence",
    summary: "ends a silence, so that its alerts notify again",
    description: "Ends a silence now: the alerts that it hides notify people again.",
    input: z.strictObject({
      id: z.uuid().describe("The silence's id, from alertmanager_silences"),
      ...instanceArgument(instances),
    }),
    effect: "write",
    endpoints: instances,
    timeoutMs: TOOL_TIMEOUT_MS,
    resource: ({ id }) => `silence ${id}`,
    async precheck({ id, instance }, ctx) {
      await standing(open(ctx, instance), id);
    },
    async preview({ id, instance }, ctx) {
      const server = open(ctx, instance);
      const [silence, alerts] = await Promise.all([standing(server, id), server.alerts([])]);
      const hidden = alerts.filter(({ silencedBy }) => silencedBy.includes(id));
      const only = hidden.filter(({ silencedBy }) => silencedBy.length === 1);
      const groups = groupsOf(only).slice(0, MAX_ROWS);
      const names = groups.map((group) => groupText(group, ctx.encoder)).join("; ");
      const now = Date.now();
      return {
        lines: [
          { label: "Silence", value: clip(matchersText(silence), 400, ctx.encoder) },
          { label: "Until", value: untilText(silence.endsAt, now) },
          { label: "By", value: clip(silence.createdBy, 100, ctx.encoder) },
          { label: "Because", value: clip(silence.comment, 300, ctx.encoder) },
        ],
        blastRadius:
          only.length === 0
            ? "No alert that fires now is hidden by it alone."
            : `${counted(only.length, "firing alert")} will notify again: ${names}.`,
        undo: `Can be undone: ${reverseText(silence, now)}.`,
      };
    },
    async verify({ id, instance }, ctx) {
      const silence = await open(ctx, instance).silence(id);
      if (silence === undefined) return { verdict: "unknown", evidence: "the silence is gone." };
      const { state, endsAt } = silence;
      return state === "expired"
        ? { verdict: "done", evidence: `silence ${id} ended ${formatMoment(endsAt)}.` }
        : { verdict: "not done", evidence: `silence ${id} is ${state}.` };
    },
    run: ({ id, instance }, ctx) =>
      orRefused(async () => {
        const server = open(ctx, instance);
        const silence = await standing(server, id);
        await server.expire(id);
        const matchers = clip(matchersText(silence), 400, ctx.encoder);
        return { text: `Ended the silence ${matchers}. Undo: ${reverseText(silence, Date.now())}` };
      }),
  });
}

/** A silence that has not ended. @throws BotError PRECHECK_FAILED */
async function standing(server: Alertmanager, id: string): Promise<Silence> {
  const silence = await server.silence(id);
  if (silence === undefined) throw new BotError("PRECHECK_FAILED", `There is no silence ${id}.`);
  if (silence.state !== "expired") return silence;
  const text = `Silence ${id} has ended already, ${formatMoment(silence.endsAt)}.`;
  throw new BotError("PRECHECK_FAILED", text);
}

/** The call that would make the same silence again until the same end. */
function reverseText({ matchers, endsAt, comment }: Silence, now: number): string {
  const minutes = Math.max(1, Math.round((endsAt - now) / 60_000));
  const written = JSON.stringify(matchers.map(matcherText));
  return `alertmanager_silence matchers=${written} duration=${minutes}m comment=${JSON.stringify(comment)}`;
}
