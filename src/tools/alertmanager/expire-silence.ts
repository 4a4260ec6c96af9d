import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { counted } from "../../core/text.ts";
import type { ReverseCall } from "../../core/tool-call.ts";
import { clip } from "../labels.ts";
import { formatMoment } from "../moment.ts";
import { orRefused } from "../refusal.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { type Alertmanager, createAlertmanager, type Silence, TOOL_TIMEOUT_MS } from "./api.ts";
import { type Instances, MAX_COMMENT, MAX_MATCHERS } from "./fields.ts";
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
      id: z
        .uuid("expected an id that alertmanager_silences shows")
        .describe("The silence's id, from alertmanager_silences"),
      /** Until when it held as it was made, ms since 1970, where that is to be taken back. */
      until: z.int().optional().meta({ internal: true }),
      ...instanceArgument(instances),
    }),
    effect: "write",
    title: ({ id }) => `End silence ${id}`,
    endpoints: instances,
    timeoutMs: TOOL_TIMEOUT_MS,
    resource: ({ id }) => `silence ${id}`,
    async precheck({ id, until, instance }, ctx) {
      const { endsAt } = await standing(open(ctx, instance), id);
      if (until === undefined || endsAt === until) return;
      const text = `Somebody has changed silence ${id} since: it now holds until ${untilText(endsAt, Date.now())}.`;
      throw new BotError("PRECHECK_FAILED", text);
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
        undo:
          reverseOf(silence, instance) === undefined
            ? "Can't be undone from here: its comment or its matchers are too long."
            : "Can be undone: the same silence is made again until the same end.",
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
        return { text: `Ended the silence ${matchers}.`, undo: reverseOf(silence, instance) };
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

/** Makes the same silence again, until the same end; undefined where it is not one that can be made from here. */
function reverseOf(
  { matchers, startsAt, endsAt, comment }: Silence,
  instance: string | undefined,
): ReverseCall | undefined {
  if (comment.trim() === "" || comment.length > MAX_COMMENT || matchers.length > MAX_MATCHERS)
    return undefined;
  const minutes = Math.max(1, Math.round((endsAt - Date.now()) / 60_000));
  const args = {
    matchers: matchers.map(matcherText),
    duration: `${minutes}m`,
    comment,
    span: { startsAt, endsAt },
    ...(instance !== undefined && { instance }),
  };
  return { tool: "alertmanager_silence", args };
}
