import {
  type APILabelComponent,
  type APIModalInteractionResponseCallbackData,
  ComponentType,
  TextInputStyle,
} from "discord.js";
import type { Mistake } from "../../core/edit.ts";
import { exactText } from "../../security/sanitize.ts";
import type { Interaction } from "./payloads.ts";
import { againButton } from "../render/buttons.ts";
import { type Form, type FormField } from "../render/forms.ts";
import type { RenderedMessage } from "../render/rich-text.ts";

/** Inputs of one form (Discord's reference, "Modal"). */
export const MAX_FIELDS = 5;

export function modalOf({ id, title, fields }: Form): APIModalInteractionResponseCallbackData {
  return { custom_id: id, title, components: fields.map(labelOf) };
}

function labelOf(field: FormField): APILabelComponent {
  return {
    type: ComponentType.Label,
    label: field.label,
    ...(field.hint !== "" && { description: field.hint }),
    component: field.kind === "choice" ? selectOf(field) : textInputOf(field),
  };
}

function selectOf({ name, choices, value, optional }: FormField) {
  return {
    type: ComponentType.StringSelect,
    custom_id: name,
    required: !optional,
    min_values: optional ? 0 : 1,
    max_values: 1,
    options: choices.map((choice) => ({
      label: choice,
      value: choice,
      ...(choice === value && { default: true }),
    })),
  } as const;
}

function textInputOf({ name, kind, value, maxLength, optional }: FormField) {
  return {
    type: ComponentType.TextInput,
    custom_id: name,
    style: kind === "line" ? TextInputStyle.Short : TextInputStyle.Paragraph,
    max_length: maxLength,
    required: !optional,
    ...(value !== "" && { value }),
  } as const;
}

export function writtenIn({ data }: Interaction): Record<string, string> {
  const written: Record<string, string> = {};
  for (const { component: field } of data.components) {
    if (field === undefined) continue;
    if (field.type === TEXT_INPUT) written[field.custom_id] = field.value;
    else if (field.type === STRING_SELECT) written[field.custom_id] = field.values[0] ?? "";
  }
  return written;
}

const TEXT_INPUT: number = ComponentType.TextInput;
const STRING_SELECT: number = ComponentType.StringSelect;
const TEXT_DISPLAY: number = ComponentType.TextDisplay;

/**
 * Says what is wrong with what was written, which a form of Discord's cannot show itself, and offers the form again. What
 * was written stands in the message whole, so that any process can put it into the form again (`keptIn`).
 */
export function renderMistakes(
  { action, revision, mistakes }: { action: string; revision: number; mistakes: Mistake[] },
  written: Readonly<Record<string, string>>,
): RenderedMessage {
  const lines = mistakes.map(({ field, text }) =>
    field === undefined ? text : `${field}: ${text}`,
  );
  const kept = exactText(JSON.stringify(written));
  const head = `Nothing was sent. ${action} stays as it was.`;
  return {
    summary: head,
    blocks: [
      { kind: "text", inlines: [{ text: [head, ...lines].join("\n") }] },
      { kind: "small", inlines: [{ text: "What you wrote:" }] },
      { kind: kept.length <= MAX_KEPT ? "exact" : "code", text: kept },
    ],
    buttons: [againButton(action, revision)],
  };
}

/** With the mistakes it fits into one message of 4,000 characters. A longer text is shown and not put into the form again. */
const MAX_KEPT = 3_000;
const KEPT = /```\n(\{.*\})\n```/s;

/** What `renderMistakes` keeps in its message. Undefined where it does not stand there whole. */
export function keptIn({ message }: Interaction): Record<string, string> | undefined {
  for (const { type, content } of message?.components ?? []) {
    if (type !== TEXT_DISPLAY) continue;
    const written = tryWritten(KEPT.exec(content)?.[1] ?? "");
    if (written !== undefined) return written;
  }
  return undefined;
}

function tryWritten(text: string): Record<string, string> | undefined {
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read !== "object" || read === null) return undefined;
    const texts = Object.entries(read).filter(
      (each): each is [string, string] => typeof each[1] === "string",
    );
    return Object.fromEntries(texts);
  } catch {
    return undefined;
  }
}
