import * as z from "zod";
import type { Encoder } from "../../security/encoder.ts";
import { clip } from "../labels.ts";
import { formatMoment } from "../moment.ts";
import { orRefused } from "../refusal.ts";
import { nowOf } from "../since.ts";
import { defineTool } from "../tool.ts";
import { createAlertmanager, type Silence, TOOL_TIMEOUT_MS } from "./api.ts";
import { type Instances } from "./fields.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import { hidingFindings, matchersText, untilText } from "./shown.ts";

const MAX_ROWS = 15;
const DAY_MS = 86_400_000;

export function createSilences(instances: Instances) {
  return defineTool({
    name: "alertmanager_silences",
    summary: "lists silences: what they hide, until when, who made them",
    description:
      "Active and pending silences: those that hide most now first, then those that end soonest; then those that ended within the last day.",
    input: z.strictObject({ ...instanceArgument(instances) }),
    effect: "read",
    doing: () => "Reading the silences in Alertmanager",
    endpoints: instances,
    timeoutMs: TOOL_TIMEOUT_MS,
    run: ({ instance }, ctx) =>
      orRefused(async () => {
        const now = nowOf(ctx);
        const server = createAlertmanager(ctx, instanceOf({ instance }, instances));
        const [silences, alerts] = await Promise.all([server.silences(), server.alerts([])]);
        const counts = Map.groupBy(
          alerts.flatMap(({ silencedBy }) => silencedBy),
          (id) => id,
        );
        const hidden = (id: string) => counts.get(id)?.length ?? 0;
        const standing = silences
          .filter(({ state }) => state !== "expired")
          .toSorted((a, b) => hidden(b.id) - hidden(a.id) || a.endsAt - b.endsAt);
        const ended = silences
          .filter(({ state, endsAt }) => state === "expired" && now - endsAt < DAY_MS)
          .toSorted((a, b) => b.endsAt - a.endsAt);
        const count = (state: string) => standing.filter((each) => each.state === state).length;
        const rows = standing
          .slice(0, MAX_ROWS)
          .map(
            (each) =>
              `- ${silenceText(each, now, ctx.encoder)}; hides ${hidden(each.id) || "nothing"} now`,
          );
        const more = standing.length > MAX_ROWS ? [`and ${standing.length - MAX_ROWS} more`] : [];
        const past = ended.slice(0, 5).map((each) => {
          const matchers = clip(matchersText(each), 200, ctx.encoder);
          return `- ended ${formatMoment(each.endsAt, now)}: ${matchers}`;
        });
        const end =
          standing.length === 0 ? [] : ["End one by alertmanager_expire_silence id=<its id>."];
        const head = `${count("active")} active, ${count("pending")} to come, ${ended.length} ended within a day.`;
        const { encoder } = ctx;
        return {
          text: [head, ...rows, ...more, ...past, ...end].join("\n"),
          findings: hidingFindings({ silences: standing, alerts }, { instance, now, encoder }),
        };
      }),
  });
}

/** `<id> {job="x"} until … by ana: planned` */
function silenceText(silence: Silence, now: number, encoder: Encoder): string {
  const { id, state, startsAt, endsAt, createdBy, comment } = silence;
  const matchers = clip(matchersText(silence), 240, encoder);
  const from = state === "pending" ? `from ${untilText(startsAt, now)} ` : "";
  const by = clip(`${createdBy}: ${comment}`, 160, encoder);
  return `${clip(id, 40, encoder)} ${matchers} ${from}until ${untilText(endsAt, now)} by ${by}`;
}
