import { promQuote } from "./api.ts";

/**
 * The selector that somebody meant: one as it is, or words that stand in a metric's name (`http errors`), in that order.
 * Nothing: every series.
 */
export function selectorOf(text: string | undefined): string {
  const written = text?.trim() ?? "";
  if (written === "") return '{__name__=~".+"}';
  if (/^[a-zA-Z_:]?[\w:]*\s*\{[^]*\}$/.test(written)) return written;
  const words = written.split(/\s+/).map((word) => word.replaceAll(/[^\w:]/g, "."));
  return `{__name__=~${promQuote(`(?i).*${words.join(".*")}.*`)}}`;
}

/** The selector with one more matcher. */
export function narrowed(selector: string, matcher: string): string {
  const open = selector.replace(/,?\s*\}$/, "");
  return `${open}${open.endsWith("{") ? "" : ","}${matcher}}`;
}
