import * as z from "zod";
import { counted } from "../../core/text.ts";
import { quoted } from "../answer-words.ts";
import { textOf, textsOf } from "../decode.ts";
import { instanceArgument } from "../instances.ts";
import { clip } from "../labels.ts";
import { orRefused } from "../refusal.ts";
import { defineTool } from "../tool.ts";
import { boardIn, type Instances, serviceOf } from "./boards.ts";

const TIMEOUT_MS = 40_000;
const MAX_BOARDS = 25;
const MAX_PANELS = 40;

export const boardField = z
  .string()
  .regex(/^[\w-]{1,100}$/, "expected a dashboard's uid")
  .describe("The dashboard's uid, from grafana_search");

export function createSearch(endpoints: Instances) {
  const service = serviceOf(endpoints);
  return defineTool({
    name: "grafana_search",
    summary: "finds dashboards of Grafana by words or tag",
    description: "Finds dashboards by words of their title, with uid, folder and tags.",
    input: z.strictObject({
      words: z.string().min(1).max(100).optional(),
      tag: z.string().min(1).max(100).optional(),
      ...instanceArgument(endpoints),
    }),
    effect: "read",
    doing: ({ words }) => `Looking for dashboards${words === undefined ? "" : ` of ${words}`}`,
    endpoints,
    timeoutMs: TIMEOUT_MS,
    run: (input, ctx) =>
      orRefused(async () => {
        const rest = service.rest(service.place(input), ctx);
        const found = await rest.list("api/search", {
          query: input.words,
          tag: input.tag,
          type: "dash-db",
          limit: MAX_BOARDS + 1,
        });
        const rows = found.slice(0, MAX_BOARDS).map((board) => {
          const folder = textOf(board["folderTitle"]);
          const tags = textsOf(board["tags"]);
          const words = `${quoted(board["title"], ctx.encoder)}${folder === "" ? "" : ` in ${folder}`}${tags.length === 0 ? "" : ` [${tags.join(", ")}]`}`;
          return `- ${clip(textOf(board["uid"]), 100, ctx.encoder)} ${clip(words, 250, ctx.encoder)}`;
        });
        const more = found.length > MAX_BOARDS ? ["and more; name words"] : [];
        const head =
          found.length === 0 ? "No dashboard was found." : `${counted(rows.length, "dashboard")}:`;
        return { text: [head, ...rows, ...more].join("\n") };
      }),
  });
}

export function createPanels(endpoints: Instances) {
  const service = serviceOf(endpoints);
  return defineTool({
    name: "grafana_panels",
    summary: "shows the panels of a dashboard with their queries",
    description:
      "The panels of a dashboard with their ids and queries, and what its variables are set to.",
    input: z.strictObject({ dashboard: boardField, ...instanceArgument(endpoints) }),
    effect: "read",
    doing: ({ dashboard }) => `Reading the panels of dashboard ${dashboard}`,
    endpoints,
    timeoutMs: TIMEOUT_MS,
    run: (input, ctx) =>
      orRefused(async () => {
        const board = await boardIn(service.rest(service.place(input), ctx), input.dashboard);
        const rows = board.panels.slice(0, MAX_PANELS).map(({ id, title, type, queries }) => {
          const texts = queries.map(({ datasource, expr }) => `${datasource.type || "?"}: ${expr}`);
          const words = `${id} ${JSON.stringify(title)} (${type})${texts.length === 0 ? "" : `: ${texts.join(" ; ")}`}`;
          return `- ${clip(words, 400, ctx.encoder)}`;
        });
        const more =
          board.panels.length > MAX_PANELS ? [`and ${board.panels.length - MAX_PANELS} more`] : [];
        const variables = Object.entries(board.variables).map(
          ([name, values]) => `${name}=${values.join("|")}`,
        );
        const set =
          variables.length === 0
            ? []
            : [clip(`Variables: ${variables.join(" ")}`, 500, ctx.encoder)];
        return {
          text: [
            `${quoted(board.title, ctx.encoder)}, ${counted(board.panels.length, "panel")}:`,
            ...set,
            ...rows,
            ...more,
          ].join("\n"),
        };
      }),
  });
}
