import type { Config } from "vega-lite";

/** How every chart looks. */

/** Text of 12 in a picture of 400 is still 11 points on a phone. */
export const WIDTH = 400;
export const PADDING = 12;
const TITLE_CHARACTERS = 48;

export const GROUND = "#ffffff";
export const INK = "#24292f";
const QUIET = "#d0d7de";

export function configOf(font: string): Config {
  return {
    font,
    title: { fontSize: 12.5, fontWeight: 500, color: INK, offset: 8 },
    axis: {
      labelFontSize: 12,
      titleFontSize: 11,
      titleFontWeight: 400,
      labelColor: INK,
      titleColor: INK,
      domainColor: QUIET,
      tickColor: QUIET,
      gridColor: QUIET,
    },
    legend: { labelFontSize: 12, labelColor: INK, rowPadding: 3 },
    view: { stroke: null },
  };
}

/** In lines that fit, parted between words where there are any. */
export function linesOf(title: string): string[] {
  const lines = title.match(
    new RegExp(`.{1,${TITLE_CHARACTERS}}(?:\\s|$)|.{${TITLE_CHARACTERS}}`, "gu"),
  );
  return lines ?? [title];
}
