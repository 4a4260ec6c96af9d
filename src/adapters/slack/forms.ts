import type { types } from "@slack/bolt";
import * as z from "zod";
import type { Form } from "../told.ts";
import type { Place } from "./place.ts";

/** Names the one field of a form. */
export const FIELD = "text";
/** A text field's in Slack (docs.slack.dev, plain-text input). */
export const MAX_FIELD = 3_000;

const placeSchema = z.strictObject({ channel: z.string(), root: z.string() });

/** What is taken of a `view_submission` payload. */
const submitSchema = z.object({
  user: z.object({ id: z.string(), team_id: z.string().optional() }),
  view: z.object({
    id: z.string(),
    callback_id: z.string(),
    private_metadata: z.string(),
    state: z.object({
      values: z.record(z.string(), z.record(z.string(), z.object({ value: z.string().nullish() }))),
    }),
  }),
});

/** A form with one field. It remembers the thread it was opened in, which is the one that it is sent to. */
export function formView(form: Form, place: Place): types.ModalView {
  const { id, title, label, hint, value, maxLength, optional } = form;
  return {
    type: "modal",
    callback_id: id,
    // Nobody but us can write it.
    private_metadata: JSON.stringify(place),
    title: { type: "plain_text", text: title },
    submit: { type: "plain_text", text: "Send" },
    close: { type: "plain_text", text: "Back" },
    blocks: [
      {
        type: "input",
        block_id: FIELD,
        optional,
        label: { type: "plain_text", text: label },
        ...(hint !== "" && { hint: { type: "plain_text", text: hint } }),
        element: {
          type: "plain_text_input",
          action_id: FIELD,
          multiline: true,
          max_length: Math.min(maxLength, MAX_FIELD),
          ...(value !== "" && { initial_value: value }),
        },
      },
    ],
  };
}

/** What was sent, and where. @throws z.ZodError or SyntaxError when it is no form of ours */
export function readSubmit(body: unknown) {
  const { user, view } = submitSchema.parse(body);
  const place = placeSchema.parse(JSON.parse(view.private_metadata));
  const text = view.state.values[FIELD]?.[FIELD]?.value ?? "";
  return { user, place, view: view.id, form: view.callback_id, text };
}
