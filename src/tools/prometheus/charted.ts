import { drawChart } from "../../charts/chart.ts";
import { messageOf } from "../../core/errors.ts";
import type { ToolContext, ToolImage } from "../tool.ts";
import { clip, labelText, sharedLabels } from "../labels.ts";
import { formatValue } from "./numbers.ts";
import { spanText, type Told } from "./rows.ts";

/** More lines than these cannot be told apart. */
const MAX_LINES = 6;
const MAX_TITLE = 90;
const MAX_NAME = 44;

/** A chart of the first lines, and the line of the result that tells of it. A chart that fails is no reason to lose the rest. */
export async function chartOf(
  { title, start, end, told }: { title: string; start: number; end: number; told: readonly Told[] },
  { encoder, signal }: ToolContext,
): Promise<{ note: string; images: ToolImage[] }> {
  const shown = told.slice(0, MAX_LINES);
  const said = sharedLabels(told.map(({ series }) => series.labels));
  const lines = shown.map(({ series: { labels, times, values } }) => ({
    name: clip(labelText(labels, encoder, said), MAX_NAME, encoder),
    times,
    values,
  }));
  const name = clip(title, MAX_TITLE, encoder);
  try {
    const bytes = await drawChart({ kind: "lines", title: name, start, end, lines }, signal);
    const ends = shown.map(({ summary }, at) => {
      const { min, max, last } = summary;
      const facts = `last ${formatValue(last)}, min ${formatValue(min)}, max ${formatValue(max)}`;
      return `${lines[at]?.name}: ${facts}`;
    });
    const alt = `Line chart of ${name} ${spanText(start, end)}. ${ends.join("; ")}`;
    const count = told.length > shown.length ? `, of ${shown.length} of these series` : "";
    const image: ToolImage = {
      name: "chart.png",
      mediaType: "image/png",
      bytes,
      alt,
      unseen: true,
    };
    return {
      note: `A chart shows it${count}; a terminal tells in words what is on it.`,
      images: [image],
    };
  } catch (error) {
    signal.throwIfAborted();
    return { note: `No chart could be drawn: ${messageOf(error)}`, images: [] };
  }
}
