import { COMPONENT } from "./components.ts";
import { isBody } from "./components.ts";
import { MESSAGE_TYPES, textIn, type Body, type FakeMessage } from "./world.ts";

/** A button as a person sees it. */
export interface ButtonSeen {
  label: string;
  customId: string;
  style: "primary" | "secondary" | "success" | "danger";
  disabled: boolean;
}

const STYLES = ["primary", "secondary", "success", "danger"] as const;

/** Every component of a message, in the order in which they are shown. */
function flat(components: readonly Body[]): Body[] {
  return components.flatMap((component) => {
    const children = Array.isArray(component["components"])
      ? (component["components"] as Body[])
      : [];
    return [component, ...flat(children)];
  });
}

/** All text of a message, its content first, a line per TextDisplay; labels of buttons are not in it. */
/** Of a gallery, what is said of its images to whoever cannot see them. */
function wordsOfImages({ items }: Body): string[] {
  const list = Array.isArray(items) ? items.filter(isBody) : [];
  return list.map(({ description }) => `Image: ${String(description)}`);
}

export function textOf(message: FakeMessage): string {
  const displays = flat(message.components).flatMap((each) =>
    each["type"] === COMPONENT.text ? [String(each["content"])] : wordsOfImages(each),
  );
  return [message.content, ...displays].filter((text) => text !== "").join("\n");
}

export function buttonsOf(message: FakeMessage): ButtonSeen[] {
  return flat(message.components).flatMap((each): ButtonSeen[] => {
    if (each["type"] !== COMPONENT.button) return [];
    return [
      {
        label: textIn(each, "label"),
        customId: textIn(each, "custom_id"),
        style: STYLES[Number(each["style"]) - 1] ?? "secondary",
        disabled: each["disabled"] === true,
      },
    ];
  });
}

/** What people and bots wrote; not what Discord puts between, such as the first line of a thread. */
export function isWritten(message: FakeMessage): boolean {
  return message.type === MESSAGE_TYPES.default || message.type === MESSAGE_TYPES.reply;
}
