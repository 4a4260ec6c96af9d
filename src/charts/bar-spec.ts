import type { TopLevelSpec } from "vega-lite";
import type { BarChart, BarPanel } from "./chart.ts";
import { configOf, GROUND, INK, linesOf, PADDING, WIDTH } from "./look.ts";

/** From the worst on; told apart in grey too, where each is lighter than the one before. */
const COLORS = ["#8c1d04", "#d55e00", "#f0a848", "#56b4e9", "#a8b0b8"];
/** Of bars that are of one kind. */
const PLAIN = "#0072b2";

/** What the values on the left take, the same in each panel: the bars of one part stand above each other. */
const SIDE = 34;
const INNER = WIDTH - SIDE - 2 * PADDING;
const HEIGHT = 120;
/** Of a character of the labels, and between two of them. */
const [CHARACTER, GAP] = [6.6, 8];
const PANEL_TITLE = { fontSize: 12, fontWeight: 400, offset: 4 } as const;
/** With more bars the numbers above them would touch. */
const MOST_NUMBERED = 14;

export function barSpec(chart: BarChart, font: string): TopLevelSpec {
  const { title, panels } = chart;
  return {
    background: GROUND,
    padding: PADDING,
    title: { text: linesOf(title), anchor: "start", frame: "bounds" },
    spacing: 14,
    vconcat: panels.map((panel, at) => panelSpec(panel, chart, at === panels.length - 1)),
    resolve: { scale: { color: "independent" } },
    config: configOf(font),
  };
}

type Panel = Extract<
  Extract<TopLevelSpec, { vconcat: unknown }>["vconcat"][number],
  { layer: unknown }
>;
type Layer = Extract<Panel["layer"][number], { mark: unknown }>;
type Encoding = NonNullable<Layer["encoding"]>;

function panelSpec({ title, series }: BarPanel, chart: BarChart, isLast: boolean): Panel {
  const all = chart.parts.map((_, part) => part);
  const rows = series.flatMap(({ values }, kind) =>
    all.flatMap((part) => {
      const value = values[part] ?? 0;
      return value > 0 && Number.isFinite(value) ? { part, value, kind } : [];
    }),
  );
  const totals = all.flatMap((part) => {
    const value = rows.reduce((sum, row) => (row.part === part ? sum + row.value : sum), 0);
    return value === 0 ? [] : { part, value, label: numberText(value) };
  });
  const highest = Math.max(0, ...totals.map(({ value }) => value));
  const x = partsOf(chart, isLast);
  const isWhole = rows.every(({ value }) => Number.isInteger(value));
  const bars: Layer = {
    data: { values: rows },
    mark: { type: "bar" },
    encoding: {
      x,
      y: valuesUpTo(highest, isWhole),
      order: { field: "kind", type: "quantitative" },
      color: colorsOf(series),
    },
  };
  const numbers: Layer = {
    data: { values: totals },
    mark: { type: "text", dy: -6, fontSize: 11, color: INK },
    encoding: {
      x,
      y: { field: "value", type: "quantitative" },
      text: { field: "label", type: "nominal" },
    },
  };
  return {
    width: INNER,
    height: HEIGHT,
    title: { text: title, anchor: "start", frame: "group", ...PANEL_TITLE },
    layer: all.length > MOST_NUMBERED ? [bars] : [bars, numbers],
  };
}

/** Only the lowest panel names the parts. */
function partsOf({ parts, axis }: BarChart, isLast: boolean): NonNullable<Encoding["x"]> {
  return {
    field: "part",
    type: "ordinal",
    scale: { domain: parts.map((_, part) => part), paddingInner: 0.25, paddingOuter: 0.15 },
    axis: isLast
      ? {
          title: axis,
          values: labelled(parts),
          labelExpr: `split(${JSON.stringify(parts)}[datum.value], '\\n')`,
          labelAngle: 0,
          labelOverlap: false,
          labelPadding: 7,
          ticks: false,
        }
      : { title: null, labels: false, ticks: false },
  };
}

function valuesUpTo(highest: number, isWhole: boolean): NonNullable<Encoding["y"]> {
  return {
    field: "value",
    type: "quantitative",
    stack: "zero",
    // Space for the number above the highest.
    scale: { domain: [0, highest * 1.15] },
    axis: {
      title: null,
      format: ",~f",
      tickCount: 4,
      // Nothing happens half a time.
      ...(isWhole && { tickMinStep: 1 }),
      minExtent: SIDE,
      domain: false,
      ticks: false,
    },
  };
}

function colorsOf(series: BarPanel["series"]): NonNullable<Encoding["color"]> {
  const names = series.map(({ name }) => name);
  return {
    field: "kind",
    type: "nominal",
    scale: {
      domain: series.map((_, kind) => kind),
      range: series.map(({ rank }) => (rank === undefined ? PLAIN : (COLORS[rank] ?? PLAIN))),
    },
    legend: series.every(({ rank }) => rank === undefined)
      ? null
      : {
          title: null,
          orient: "top",
          direction: "horizontal",
          columnPadding: 10,
          labelExpr: `${JSON.stringify(names)}[datum.value]`,
          symbolType: "square",
          offset: 4,
        },
  };
}

/** Every so many parts have a label: as many as stand beside each other. */
function labelled(parts: readonly string[]): number[] {
  const longest = Math.max(...parts.flatMap((part) => part.split("\n")).map((line) => line.length));
  const fitting = Math.max(1, Math.floor(INNER / (longest * CHARACTER + GAP)));
  const step = Math.ceil(parts.length / fitting);
  return parts.flatMap((_, part) => (part % step === 0 ? part : []));
}

function numberText(value: number): string {
  return value < 10 && !Number.isInteger(value) ? value.toFixed(1) : String(Math.round(value));
}
