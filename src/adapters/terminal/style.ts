import { styleText } from "node:util";

export type Style =
  | "bold"
  | "dim"
  | "italic"
  | "underline"
  | "red"
  | "green"
  | "yellow"
  | "cyan"
  | "destructive";

/** Colours a piece of text, or gives it back as it is. What a colour says is always said in words or marks too. */
export type Paint = (style: Style, text: string) => string;

/** What decides how a thing looks on this screen, now. */
export interface Look {
  paint: Paint;
  columns: number;
  /** Ms since 1970; ages and times left are counted from it. */
  now: number;
  /** Markdown is rendered; else it is shown as it was written. */
  rich: boolean;
}

/** `color` false: for files, pipes and NO_COLOR. */
export function createPaint(color: boolean): Paint {
  if (!color) return (_style, text) => text;
  return (style, text) =>
    styleText(style === "destructive" ? ["bold", "red"] : style, text, { validateStream: false });
}
