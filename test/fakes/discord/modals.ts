import { childrenOf, COMPONENT, customIdOf, isBody, stringOf } from "./components.ts";
import { invalidForm } from "./refusals.ts";
import type { Body } from "./world.ts";

/** A form as it is open before a person. */
export interface OpenModal {
  readonly id: string;
  readonly customId: string;
  readonly title: string;
  readonly inputs: ModalInput[];
  /** The components as they were sent. */
  readonly components: Body[];
}

interface ModalInput {
  customId: string;
  label: string;
  description: string;
  value: string;
  required: boolean;
  minLength: number;
  maxLength: number;
  style: "short" | "paragraph";
  /** Of a select. */
  choices?: string[];
}

const MAX_INPUT = 4_000;

function lengthOf(
  input: Body,
  key: string,
  path: string,
  otherwise: number,
  least: number,
): number {
  const value = input[key] ?? otherwise;
  if (typeof value === "number" && value >= least && value <= MAX_INPUT) return value;
  const said = `int value should be between ${least} and ${MAX_INPUT}.`;
  throw invalidForm(`${path}.${key}`, "NUMBER_TYPE_MAX", said);
}

/** A select in a label (Discord's reference, "String Select"): "required" is true unless it says otherwise. */
function readSelect(select: Body, path: string, taken: Set<string>): ModalInput {
  customIdOf(select, path, taken);
  const options = select["options"];
  if (!Array.isArray(options) || options.length < 1 || options.length > 25) {
    const said = "Must be between 1 and 25 in length.";
    throw invalidForm(`${path}.options`, "BASE_TYPE_BAD_LENGTH", said);
  }
  const values = (options as Body[]).map((option, index) => {
    stringOf(option, "label", `${path}.options.${index}`, [1, 100]);
    return stringOf(option, "value", `${path}.options.${index}`, [1, 100]);
  });
  const required = select["required"] !== false;
  const least = select["min_values"] ?? 1;
  if (required && least === 0) {
    const said = "min_values must be at least 1 when required is true.";
    throw invalidForm(`${path}.min_values`, "BASE_TYPE_MIN_LENGTH", said);
  }
  const chosen = (options as Body[]).findIndex((option) => option["default"] === true);
  return {
    customId: String(select["custom_id"]),
    label: "",
    description: "",
    value: values[chosen] ?? "",
    required,
    minLength: 0,
    maxLength: 100,
    style: "short",
    choices: values,
  };
}

/** The text input of a Label. */
function readInput(input: Body, path: string, taken: Set<string>): ModalInput {
  if (input["type"] !== COMPONENT.textInput) {
    throw invalidForm(
      `${path}.type`,
      "UNION_TYPE_CHOICES",
      'Value of field "type" must be one of (4,).',
    );
  }
  customIdOf(input, path, taken);
  if (input["style"] !== 1 && input["style"] !== 2) {
    throw invalidForm(`${path}.style`, "BASE_TYPE_CHOICES", "Value must be one of {1, 2}.");
  }
  if (input["label"] !== undefined && input["label"] !== null) {
    const said = "label is not allowed on a text input inside a Label";
    throw invalidForm(`${path}.label`, "TEXT_INPUT_LABEL_IN_LABEL", said);
  }
  if (input["placeholder"] !== undefined) stringOf(input, "placeholder", path, [0, 100]);
  const minLength = lengthOf(input, "min_length", path, 0, 0);
  const maxLength = lengthOf(input, "max_length", path, MAX_INPUT, 1);
  const value = input["value"] === undefined ? "" : stringOf(input, "value", path, [0, maxLength]);
  return {
    customId: String(input["custom_id"]),
    label: "",
    description: "",
    value,
    required: input["required"] !== false,
    minLength,
    maxLength,
    style: input["style"] === 1 ? "short" : "paragraph",
  };
}

/** @throws Refusal 50035 */
export function readModal(id: string, data: unknown): OpenModal {
  if (!isBody(data)) throw invalidForm("data", "BASE_TYPE_REQUIRED", "This field is required");
  const customId = stringOf(data, "custom_id", "data", [1, 100]);
  const title = stringOf(data, "title", "data", [1, 45]);
  const components = childrenOf(data, "data", [1, 5]);
  const taken = new Set<string>();
  const inputs: ModalInput[] = [];
  for (const [index, component] of components.entries()) {
    const path = `data.components.${index}`;
    if (component["type"] !== COMPONENT.label) {
      const said = 'Value of field "type" must be one of (18,).';
      throw invalidForm(`${path}.type`, "UNION_TYPE_CHOICES", said);
    }
    const label = stringOf(component, "label", path, [1, 45]);
    const has = component["description"] !== undefined && component["description"] !== null;
    const description = has ? stringOf(component, "description", path, [1, 100]) : "";
    const inner = component["component"];
    const at = `${path}.component`;
    if (!isBody(inner)) throw invalidForm(at, "BASE_TYPE_REQUIRED", "This field is required");
    const isSelect = inner["type"] === COMPONENT.stringSelect;
    const input = isSelect ? readSelect(inner, at, taken) : readInput(inner, at, taken);
    inputs.push({ ...input, label, description });
  }
  return { id, customId, title, inputs, components };
}

/** What a submitted form says, as the components of the interaction. @throws Error when the client would not let it go */
export function filledIn(modal: OpenModal, values: Record<string, string>): Body[] {
  const ids = modal.inputs.map((input) => input.customId);
  for (const key of Object.keys(values)) {
    if (!ids.includes(key)) throw new Error(`The form has no ${key}, only ${ids.join(", ")}`);
  }
  const answer = (input: Body): Body => {
    const known = modal.inputs.find((each) => each.customId === input["custom_id"]);
    if (known === undefined) return input;
    const value = values[known.customId] ?? known.value;
    if (known.choices !== undefined) {
      if (value === "" ? known.required : !known.choices.includes(value)) {
        throw new Error(`${known.label} offers ${known.choices.join(", ")}, not ${value}`);
      }
      const chosen = value === "" ? [] : [value];
      return { type: COMPONENT.stringSelect, custom_id: known.customId, values: chosen, id: 2 };
    }
    const least = Math.max(known.minLength, known.required ? 1 : 0);
    if (value.length < least || value.length > known.maxLength) {
      throw new Error(`${known.label} takes ${least} to ${known.maxLength} characters`);
    }
    return { type: COMPONENT.textInput, custom_id: known.customId, value, id: 2 };
  };
  return modal.components.map((component, index) => ({
    type: COMPONENT.label,
    id: index + 1,
    component: answer(component["component"] as Body),
  }));
}
