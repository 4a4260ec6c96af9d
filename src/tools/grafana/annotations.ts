import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { readPast } from "../../core/past.ts";
import { counted } from "../../core/text.ts";
import { agoText, quoted, time } from "../answer-words.ts";
import type { ChangeSource } from "../change.ts";
import { idOf, isRecord, type Item, textOf, textsOf, wordOf } from "../decode.ts";
import { instanceArgument } from "../instances.ts";
import { clip } from "../labels.ts";
import { CLOCK_MS, defineWrite, gone } from "../pinned-write.ts";
import { orRefused } from "../refusal.ts";
import type { Rest } from "../rest.ts";
import { hereOf, sinceArgument } from "../since.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import { boardIn, type Instances, serviceOf } from "./boards.ts";
import { boardField } from "./reads.ts";

const MAX_ROWS = 30;
const MAX = 100;
/** Of tags that tell the marks of actions apart. */
const OWN = "watchkeeper:";

async function annotationsIn(
  rest: Rest,
  {
    from,
    to,
    ...filter
  }: { from: number; to: number; dashboardUID?: string | undefined; tags?: readonly string[] },
): Promise<Item[]> {
  const asked = { from, to, limit: MAX, type: "annotation", ...filter };
  const found = await rest.list("api/annotations", asked);
  return found.toSorted((a, b) => time(b["time"]) - time(a["time"]));
}

function annotationText(item: Item, { encoder }: ToolContext): string {
  const tags = textsOf(item["tags"]).filter((tag) => !tag.startsWith(OWN));
  const shown = tags.length === 0 ? "" : ` ${clip(`[${tags.join(", ")}]`, 100, encoder)}`;
  return `${quoted(item["text"], encoder, 200)}${shown}`;
}

export function createAnnotations(endpoints: Instances) {
  const service = serviceOf(endpoints);
  return defineTool({
    name: "grafana_annotations",
    summary: "lists annotations of Grafana: deploys and other events that were marked",
    description:
      "Annotations since a time, newest first: deploys and other events that people and pipelines marked.",
    input: z.strictObject({
      since: sinceArgument.default("24h"),
      dashboard: boardField.optional(),
      tags: z.array(z.string().min(1).max(100)).max(10).default([]),
      ...instanceArgument(endpoints),
    }),
    effect: "read",
    doing: ({ since }) => `Reading what was marked in Grafana since ${since}`,
    endpoints,
    timeoutMs: 40_000,
    run: ({ since, dashboard, tags, ...input }, ctx) =>
      orRefused(async () => {
        const here = await hereOf(ctx);
        const { now } = here;
        const from = await readPast(since, here);
        const rest = service.rest(service.place(input), ctx);
        const found = await annotationsIn(rest, { from, to: now, tags, dashboardUID: dashboard });
        const rows = found.slice(0, MAX_ROWS).map((item) => {
          const login = wordOf(item["login"]);
          const by = login === "" ? "" : ` by ${login}`;
          return `- ${agoText(item["time"], now)} ${annotationText(item, ctx)}${by}, id ${idOf(item["id"])}`;
        });
        const more =
          found.length > MAX_ROWS
            ? [`and ${found.length - MAX_ROWS}${found.length === MAX ? " or more" : ""} others`]
            : [];
        return { text: [`${counted(found.length, "annotation")}.`, ...rows, ...more].join("\n") };
      }),
  });
}

export function createAnnotate(endpoints: Instances): Tool {
  const service = serviceOf(endpoints);
  const removing = (item: { id: number; text: string }, place: string) => ({
    tool: "grafana_remove_annotation",
    args: { id: item.id, before: { text: item.text }, ...service.pinned(place).args },
  });
  return defineWrite(service, {
    name: "grafana_annotate",
    summary: "marks a moment in Grafana with an annotation",
    description:
      "Marks now in Grafana with an annotation: on one dashboard, or on all that show its tags.",
    shape: {
      text: z.string().regex(/\S/, "is empty").max(500),
      tags: z.array(z.string().min(1).max(50)).max(10).default(["watchkeeper"]),
      dashboard: boardField.optional(),
    },
    title: ({ text }) => `Mark now in Grafana as ${JSON.stringify(text)}`,
    resource: ({ text }) => `annotation ${text}`,
    async find({ dashboard }, _, rest) {
      return dashboard === undefined ? {} : { ...(await boardIn(rest, dashboard)) };
    },
    before: ({ uid }) => ({ dashboard: textOf(uid) }),
    check: () => {},
    preview: ({ text, tags }, { item, ctx }) => ({
      lines: [
        { label: "Text", value: text },
        { label: "Tags", value: tags.join(", ") || "(none)" },
        {
          label: "Dashboard",
          value:
            item["title"] === undefined
              ? "all that show these tags"
              : quoted(item["title"], ctx.encoder),
        },
      ],
      blastRadius: "Whoever looks at the dashboards sees it.",
      undo: "Can be undone: the annotation is removed.",
    }),
    async run({ text, tags, dashboard }, { at, rest }) {
      const json = {
        text,
        tags,
        time: Date.now(),
        ...(dashboard !== undefined && { dashboardUID: dashboard }),
      };
      const made = await rest.write("POST", "api/annotations", json);
      const id = isRecord(made) ? Number(idOf(made["id"])) : 0;
      if (id === 0) throw new BotError("ABORTED", "Grafana did not say which annotation it made.");
      return { text: `Marked it in Grafana, annotation ${id}.`, undo: removing({ id, text }, at) };
    },
    async verify({ text, tags, dashboard }, { at, rest, startedAt, now }) {
      const found = await annotationsIn(rest, {
        from: startedAt - CLOCK_MS,
        to: now + CLOCK_MS,
        tags,
        dashboardUID: dashboard,
      });
      const made = found.find((each) => each["text"] === text);
      if (made === undefined)
        return { verdict: "unknown", evidence: "there is no such annotation since." };
      const id = Number(idOf(made["id"]));
      return {
        verdict: "done",
        evidence: `there is annotation ${id}.`,
        undo: removing({ id, text }, at),
      };
    },
  });
}

/** Marks what was done as a pipeline marks a deploy, in the first of several servers. */
export function createMark(endpoints: Instances): NonNullable<Tool["mark"]> {
  const service = serviceOf(endpoints);
  return async ({ id, tool, resource, isUndo, approvers, link, at }, ctx) => {
    const rest = service.rest(service.place({}), ctx);
    const tags = ["watchkeeper", `${OWN}${id}`];
    const around = { from: at - CLOCK_MS, to: at + CLOCK_MS, tags };
    if ((await annotationsIn(rest, around)).length > 0) return;
    const who = approvers.length === 0 ? "" : `, approved by ${approvers.join(" and ")}`;
    // The only instance has a name that nobody gave it.
    const object = resource.replace(/ of default$/, "");
    const words = `${isUndo ? "Undo: " : ""}${tool} (${object})${who}`;
    // Grafana shows annotations as HTML.
    const shown = clip(words, 400, ctx.encoder).replaceAll(/[<>&]/g, " ");
    const text = link === undefined ? shown : `${shown}\n${link}`;
    const about = object.split(/[\s/]/).at(-1) ?? "";
    await rest.write("POST", "api/annotations", { text, tags: [...tags, about], time: at });
  };
}

export function createRemove(endpoints: Instances): Tool {
  return defineWrite(serviceOf(endpoints), {
    name: "grafana_remove_annotation",
    summary: "removes an annotation of Grafana",
    description: "Removes an annotation of Grafana by its id.",
    shape: { id: z.int().min(1) },
    title: ({ id }) => `Remove annotation ${id} from Grafana`,
    resource: ({ id }) => `annotation ${id}`,
    async find({ id }, _, rest) {
      const found = await rest.find(`api/annotations/${id}`);
      if (found === undefined) throw new BotError("INPUT_INVALID", `There is no annotation ${id}.`);
      return found;
    },
    before: ({ text }) => ({ text: textOf(text) }),
    check: () => {},
    preview: ({ id }, { item, ctx, now }) => ({
      lines: [
        { label: "Annotation", value: `${id} ${annotationText(item, ctx)}` },
        { label: "Marks", value: agoText(item["time"], now) },
      ],
      blastRadius: "It is gone from all dashboards.",
      undo: "Can't be undone: Grafana does not keep it.",
    }),
    async run({ id }, { rest }) {
      await rest.write("DELETE", `api/annotations/${id}`);
      return { text: `Removed annotation ${id}.` };
    },
    verify: async ({ id }, { item }) =>
      item === undefined
        ? { ...gone, verdict: "done" }
        : { verdict: "not done", evidence: `annotation ${id} is still there.` },
  });
}

/** What people and pipelines marked; what alerts did is no change. */
export function changeSource(endpoints: Instances): ChangeSource {
  const service = serviceOf(endpoints);
  return {
    name: "grafana",
    endpoints,
    async changes(window, ctx) {
      const names = Object.keys(endpoints);
      const all = await Promise.all(
        names.map(async (name) => {
          const found = await annotationsIn(service.rest(name, ctx), window);
          return found.map((item) => ({
            at: time(item["time"]),
            where: names.length > 1 ? `grafana ${name}` : "grafana",
            text: annotationText(item, ctx),
            by: wordOf(item["login"]) || undefined,
            about: textsOf(item["tags"]),
            isLive: true,
          }));
        }),
      );
      return { changes: all.flat(), gaps: [] };
    },
  };
}
