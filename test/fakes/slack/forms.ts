import * as z from "zod";
import { viewProblems } from "./blocks.ts";
import type { Acknowledgement, Data, FakeView } from "./types.ts";
import { invalid, withBlockIds, type World } from "./world.ts";

const option = z.looseObject({ value: z.string() });
const input = z.looseObject({
  type: z.literal("input"),
  block_id: z.string(),
  optional: z.boolean().default(false),
  element: z.discriminatedUnion("type", [
    z.looseObject({
      type: z.literal("plain_text_input"),
      action_id: z.string(),
      initial_value: z.string().optional(),
      min_length: z.int().default(0),
      max_length: z.int().default(3_000),
    }),
    z.looseObject({
      type: z.literal("number_input"),
      action_id: z.string(),
      is_decimal_allowed: z.boolean(),
      initial_value: z.string().optional(),
      min_value: z.string().default("-Infinity"),
      max_value: z.string().default("Infinity"),
    }),
    z.looseObject({
      type: z.literal("static_select"),
      action_id: z.string(),
      options: z.array(option),
      initial_option: option.optional(),
    }),
  ]),
});

function inputsOf(view: Data): z.infer<typeof input>[] {
  const blocks = Array.isArray(view["blocks"]) ? view["blocks"] : [];
  return blocks.flatMap((block: unknown) => {
    const read = input.safeParse(block);
    return read.success ? [read.data] : [];
  });
}

/** What Slack sends of the fields: what the person typed, else what was there before. @throws where the form refuses it */
export function filledIn(
  view: Data,
  values: string | Record<string, Record<string, string>>,
): Record<string, Record<string, Data>> {
  const inputs = inputsOf(view);
  if (typeof values === "string" && inputs.length !== 1) {
    throw new Error(`the form has ${inputs.length} fields, not one`);
  }
  const filled: Record<string, Record<string, Data>> = {};
  for (const { block_id: block, optional, element } of inputs) {
    const given = typeof values === "string" ? values : values[block]?.[element.action_id];
    if (element.type === "static_select") {
      const chosen = given ?? element.initial_option?.value;
      const selected = element.options.find(({ value }) => value === chosen);
      if (selected === undefined && (chosen !== undefined || !optional)) {
        throw new Error(`the form does not offer ${chosen ?? "nothing"} in ${block}`);
      }
      filled[block] = {
        [element.action_id]: { type: "static_select", selected_option: selected ?? null },
      };
      continue;
    }
    const value = given ?? element.initial_value ?? "";
    const isLeftOut = value === "" && optional;
    if (element.type === "number_input") {
      const { is_decimal_allowed: mayBreak, min_value: min, max_value: max } = element;
      const isNumber = (mayBreak ? /^-?\d+(\.\d+)?$/ : /^-?\d+$/).test(value);
      const isWithin = Number(value) >= Number(min) && Number(value) <= Number(max);
      if (!isLeftOut && !(isNumber && isWithin))
        throw new Error(`the form does not take ${value} in ${block}`);
      filled[block] = { [element.action_id]: { type: element.type, value: value || null } };
      continue;
    }
    if (
      !isLeftOut &&
      (value.length < Math.max(1, element.min_length) || value.length > element.max_length)
    ) {
      throw new Error(`the form does not take ${value.length} characters in ${block}`);
    }
    filled[block] = {
      [element.action_id]: { type: "plain_text_input", value: value === "" ? null : value },
    };
  }
  return filled;
}

/** A form in front of a person. @throws Refusal invalid_arguments */
export function showForm(world: World, user: string, view: unknown): FakeView {
  const id = world.nextId("V");
  const made: FakeView = { id, user, view: formOf(world, id, view), errors: {}, open: true };
  world.views.push(made);
  return made;
}

/** Another one in its place. @throws Refusal invalid_arguments */
export function updateForm(world: World, shown: FakeView, view: unknown): FakeView {
  shown.view = formOf(world, shown.id, view);
  return shown;
}

function formOf(world: World, id: string, view: unknown): Data {
  const problems = viewProblems(view);
  if (problems.length > 0) throw invalid(...problems);
  const read = z.looseObject({ blocks: z.array(z.record(z.string(), z.unknown())) }).parse(view);
  return {
    private_metadata: "",
    callback_id: "",
    external_id: "",
    ...read,
    blocks: withBlockIds(world, read.blocks),
    id,
    team_id: world.team.id,
    app_id: world.app.id,
    app_installed_team_id: world.team.id,
    bot_id: world.app.botId,
    state: { values: {} },
    hash: `${Date.now()}.${world.nextId("h")}`,
  };
}

const answer = z.object({
  response_action: z.literal("errors"),
  errors: z.record(z.string(), z.string().min(1)),
});

/** Does what the app answered to a sent form. An answer that Slack cannot read leaves the form open, with a warning. */
export function answerForm(form: FakeView, outcome: Acknowledgement): Acknowledgement {
  if (!outcome.acknowledged) return outcome;
  const { payload } = outcome;
  const isEmpty =
    payload === undefined ||
    payload === "" ||
    (typeof payload === "object" && payload !== null && Object.keys(payload).length === 0);
  if (isEmpty) {
    form.open = false;
    return outcome;
  }
  const read = answer.safeParse(payload);
  const names = new Set(inputsOf(form.view).map(({ block_id: block }) => block));
  const unknown = Object.keys(read.data?.errors ?? {}).filter((name) => !names.has(name));
  if (!read.success || unknown.length > 0) {
    const problem = read.error?.message ?? `no field is called ${unknown.join(", ")}`;
    const reason = `the answer to the form is not valid: ${problem}`;
    return { acknowledged: false, reason, attempts: outcome.attempts };
  }
  form.errors = read.data.errors;
  return outcome;
}
