import type { MessagePart } from "../../core/bot-message.ts";

/** Of each part's fields, links and buttons. */
const MAX_EACH = 50;

type Told = { [K in keyof MessagePart]?: MessagePart[K] | undefined };

/** A part of a bot's message; undefined for one that says nothing. Without a title it is headed by its first line. */
export function partOf({
  title,
  url,
  text = "",
  color,
  fields = [],
  links = [],
  buttons = [],
  footer = "",
}: Told): MessagePart | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const heading = title?.trim() || (lines.shift()?.trim() ?? "");
  const said = fields.filter(({ name, value }) => name.trim() !== "" && value.trim() !== "");
  if (heading === "" && said.length === 0 && footer.trim() === "") return undefined;
  return {
    title: heading,
    ...(url !== undefined && { url }),
    text: lines.join("\n"),
    ...(color !== undefined && { color }),
    fields: said.slice(0, MAX_EACH),
    links: links.slice(0, MAX_EACH),
    buttons: buttons.slice(0, MAX_EACH),
    footer: footer.trim(),
  };
}
