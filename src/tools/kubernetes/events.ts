import * as z from "zod";
import type { Gap } from "../../core/finding.ts";
import { counted } from "../../core/text.ts";
import type { Tool } from "../tool.ts";
import { type Clusters, defineRead, objectName, someNamespace } from "./cluster-tool.ts";
import { eventLine, eventTime, foldEvents } from "./event-lines.ts";
import { firstLines } from "./format.ts";
import { builtIn } from "./kinds.ts";
import { sinceArgument, sinceMs } from "../since.ts";

const EVENTS = builtIn("events");
const MAX_EVENTS = 5_000;

export function createEvents(clusters: Clusters): Tool {
  return defineRead(clusters, {
    name: "kubernetes_events",
    summary: "shows events, newest first, the same ones folded",
    description:
      "Events of a cluster, a namespace or one object, newest first; what says the same is one line with ×N.",
    shape: {
      namespace: someNamespace,
      name: objectName.optional().describe("Only about the object of this name"),
      type: z.enum(["Warning", "Normal", "all"]).default("Warning"),
      since: sinceArgument.optional(),
      limit: z.int().min(1).max(200).default(40).describe("Lines"),
    },
    doing: ({ name }) => `Reading events${name === undefined ? "" : ` of ${name}`}`,
    async run({ namespace, name, type, since, limit }, api, ctx) {
      const fields = [
        ...(type === "all" ? [] : [`type=${type}`]),
        ...(name === undefined ? [] : [`involvedObject.name=${name}`]),
      ].join(",");
      const gaps: Gap[] = [];
      const { items, isWhole } = await api.list(EVENTS, {
        namespace,
        ...(fields !== "" && { fields }),
        max: MAX_EVENTS,
      });
      if (!isWhole)
        gaps.push({
          what: `events beyond ${MAX_EVENTS}`,
          why: "there are more",
          help: "Name a namespace or an object.",
        });
      const from = since === undefined ? 0 : await sinceMs(since, ctx);
      const recent = items.filter((event) => eventTime(event) >= from);
      const folded = foldEvents(recent);
      const lines = folded.map((event) =>
        eventLine(event, { namespaces: namespace === undefined }),
      );
      const word = type === "all" ? "event" : `${type} event`;
      const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
      const head =
        lines.length === 0
          ? `No ${word}s${where}.`
          : `${counted(recent.length, word)}${where}, ${counted(lines.length, "line")}:`;
      return { text: [head, ...firstLines(lines, limit, "lines")].join("\n"), gaps };
    },
  });
}
