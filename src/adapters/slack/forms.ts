import type { types } from "@slack/bolt";
import * as z from "zod";
import type { Bounds } from "../../core/edit.ts";
import type { Form, FormField } from "../render/forms.ts";
import type { Page } from "../shared/reading.ts";
import { pageBlocks } from "./encode.ts";
import { CANCEL, CLOSE } from "./phrases.ts";
import type { Place } from "./place.ts";

/** Names the input inside of a form's block; the block has the field's name. */
const INPUT = "input";
/** Blocks of one form (docs.slack.dev, modals); fields beyond it are edited as JSON. */
export const MAX_FIELDS = 90;

const placeSchema = z.strictObject({ channel: z.string(), root: z.string() });

const fieldSchema = z.object({
  value: z.string().nullish(),
  selected_option: z.object({ value: z.string() }).nullish(),
});

export const submitSchema = z.object({
  user: z.object({ id: z.string(), team_id: z.string().optional() }),
  view: z.object({
    id: z.string(),
    callback_id: z.string(),
    private_metadata: z.string(),
    state: z.object({
      values: z.record(z.string(), z.record(z.string(), fieldSchema)),
    }),
  }),
});

/** The form as Slack shows it. It remembers the thread it was opened in, which is the one that it is sent to. */
export function formView({ id, title, submit, fields }: Form, place: Place): types.ModalView {
  return {
    type: "modal",
    callback_id: id,
    // Nobody but us can write it.
    private_metadata: JSON.stringify(place),
    title: plain(title),
    submit: plain(submit),
    close: plain(CANCEL),
    blocks: fields.map(inputOf),
  };
}

/** A window to read in. */
export function pageView({ title, blocks, buttons }: Page, place: Place): types.ModalView {
  return {
    type: "modal",
    private_metadata: JSON.stringify(place),
    title: plain(title),
    close: plain(CLOSE),
    blocks: pageBlocks(blocks, buttons),
  };
}

/** Where a window was opened. @throws z.ZodError or SyntaxError when it is none of ours */
export function readPlace(metadata: string): Place {
  return placeSchema.parse(JSON.parse(metadata));
}

function inputOf(field: FormField): types.InputBlock {
  const { name, label, hint, optional, kind, bounds, value } = field;
  const isNumber = bounds !== undefined && kind === "line" && isWithin(bounds, value);
  return {
    type: "input",
    block_id: name,
    optional,
    label: plain(label),
    ...(hint !== "" && { hint: plain(hint) }),
    element:
      kind === "choice"
        ? selectOf(field)
        : isNumber
          ? numberInputOf(bounds, value)
          : textInputOf(field),
  };
}

/** Slack takes no other value into a field for numbers; what stands there now may be another. */
function isWithin({ isWhole, min = -Infinity, max = Infinity }: Bounds, value: string): boolean {
  if (value === "") return true;
  if (!(isWhole ? /^-?\d{1,15}$/ : /^-?\d{1,15}(?:\.\d{1,15})?$/).test(value)) return false;
  return Number(value) >= min && Number(value) <= max;
}

function numberInputOf({ isWhole, min, max }: Bounds, value: string): types.NumberInput {
  return {
    type: "number_input",
    action_id: INPUT,
    is_decimal_allowed: !isWhole,
    ...(min !== undefined && { min_value: String(min) }),
    ...(max !== undefined && { max_value: String(max) }),
    ...(value !== "" && { initial_value: value }),
  };
}

function textInputOf({ kind, value, maxLength }: FormField): types.PlainTextInput {
  return {
    type: "plain_text_input",
    action_id: INPUT,
    multiline: kind === "paragraph",
    max_length: maxLength,
    ...(value !== "" && { initial_value: value }),
  };
}

function selectOf({ choices, value }: FormField): types.StaticSelect {
  const optionOf = (choice: string) => ({ text: plain(choice), value: choice });
  return {
    type: "static_select",
    action_id: INPUT,
    options: choices.map(optionOf),
    ...(choices.includes(value) && { initial_option: optionOf(value) }),
  };
}

function plain(text: string): types.PlainTextElement {
  return { type: "plain_text", text };
}

/** What was sent, and where. @throws z.ZodError or SyntaxError when it is no form of ours */
export function readSubmit(body: unknown) {
  const { user, view } = submitSchema.parse(body);
  const place = readPlace(view.private_metadata);
  const texts = Object.entries(view.state.values).map(([name, block]) => {
    const { value, selected_option } = block[INPUT] ?? {};
    return [name, value ?? selected_option?.value ?? ""] as const;
  });
  return { user, place, view: view.id, form: view.callback_id, written: Object.fromEntries(texts) };
}

/** What keeps a form open: each mistake under its field, those of the whole under the first. */
export function errorsOf(
  written: Readonly<Record<string, string>>,
  mistakes: readonly { field: string | undefined; text: string }[],
): { response_action: "errors"; errors: Record<string, string> } {
  const [first = ""] = Object.keys(written);
  const errors: Record<string, string> = {};
  for (const { field = first, text } of mistakes) {
    const under = Object.hasOwn(written, field) ? field : first;
    const before = errors[under] === undefined ? "" : `${errors[under]}; `;
    errors[under] = before + text;
  }
  return { response_action: "errors", errors };
}
