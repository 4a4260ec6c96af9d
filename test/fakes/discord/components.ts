import { invalidForm, Refusal } from "./refusals.ts";
import type { Body } from "./world.ts";

/** Of https://discord.com/developers/docs/components/reference, those that the program sends: the fake refuses all others. */
export const COMPONENT = {
  row: 1,
  button: 2,
  stringSelect: 3,
  textInput: 4,
  text: 10,
  gallery: 12,
  file: 13,
  separator: 14,
  container: 17,
  label: 18,
} as const;

const MAX_COMPONENTS = 40;
const MAX_TEXT = 4_000;
/** Above it Discord answers 500; each TextDisplay costs 12 (discord-api-docs issue 8554, measured there). */
const MAX_TEXT_BYTES = 10_170;
const TEXT_DISPLAY_BYTES = 12;
const MAX_ROWS = 5;

interface Reading {
  readonly customIds: Set<string>;
  readonly numbers: Set<number>;
  /** Names of the files that come along, and of those that are shown. */
  readonly files: ReadonlySet<string>;
  readonly shown: Set<string>;
  count: number;
  text: number;
  bytes: number;
}

export function isBody(value: unknown): value is Body {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function required(path: string): Refusal {
  return invalidForm(path, "BASE_TYPE_REQUIRED", "This field is required");
}

/** A string of that many characters, counted in UTF-16 units, which is never fewer than Discord counts. */
export function stringOf(
  owner: Body,
  key: string,
  path: string,
  [min, max]: readonly [number, number],
): string {
  const value = owner[key];
  if (typeof value !== "string" || (min > 0 && value.trim() === ""))
    throw required(`${path}.${key}`);
  if (value.length < min || value.length > max) {
    const said = `Must be between ${min} and ${max} in length.`;
    throw invalidForm(`${path}.${key}`, "BASE_TYPE_BAD_LENGTH", said);
  }
  return value;
}

/** The list under `components`, of so many. */
export function childrenOf(
  owner: Body,
  path: string,
  [min, max]: readonly [number, number],
): Body[] {
  const list = owner["components"];
  if (!Array.isArray(list)) throw required(`${path}.components`);
  if (list.length < min || list.length > max) {
    const said = `Must be between ${min} and ${max} in length.`;
    throw invalidForm(`${path}.components`, "BASE_TYPE_BAD_LENGTH", said);
  }
  return list.map((child, index) => {
    if (!isBody(child)) throw required(`${path}.components.${index}`);
    return child;
  });
}

/** Custom ids are 1 to 100 characters and no two of a message are the same. */
export function customIdOf(owner: Body, path: string, taken: Set<string>): void {
  const id = stringOf(owner, "custom_id", path, [1, 100]);
  if (taken.has(id)) {
    const said = "Component custom id cannot be duplicated";
    throw invalidForm(`${path}.custom_id`, "COMPONENT_CUSTOM_ID_DUPLICATED", said);
  }
  taken.add(id);
}

/** Links, premium buttons and emoji are not among what the program sends. */
function checkButton(button: Body, path: string, reading: Reading): void {
  const style = button["style"];
  if (typeof style !== "number" || style < 1 || style > 4) {
    const said = "Value must be one of {1, 2, 3, 4}.";
    throw invalidForm(`${path}.style`, "BASE_TYPE_CHOICES", said);
  }
  stringOf(button, "label", path, [1, 80]);
  customIdOf(button, path, reading.customIds);
}

function checkRow(row: Body, path: string, reading: Reading): void {
  for (const [index, child] of childrenOf(row, path, [1, 5]).entries()) {
    const at = `${path}.components.${index}`;
    if (child["type"] !== COMPONENT.button) throw unknownType(at, "(2,)");
    numbered(child, at, reading);
    checkButton(child, at, reading);
  }
}

function unknownType(path: string, choices: string): Refusal {
  return invalidForm(
    `${path}.type`,
    "UNION_TYPE_CHOICES",
    `Value of field "type" must be one of ${choices}.`,
  );
}

/** Counts a component and gives it its number, as Discord does where none is given. */
function numbered(component: Body, path: string, reading: Reading): void {
  reading.count += 1;
  const id = component["id"];
  if (id === undefined || id === 0) return;
  if (typeof id !== "number" || !Number.isInteger(id) || reading.numbers.has(id)) {
    throw invalidForm(
      `${path}.id`,
      "COMPONENT_ID_DUPLICATED",
      "Component id must be an unused integer",
    );
  }
  reading.numbers.add(id);
}

function checkText(text: Body, path: string, reading: Reading): void {
  const content = stringOf(text, "content", path, [1, MAX_TEXT]);
  reading.text += content.length;
  reading.bytes += Buffer.byteLength(content) + TEXT_DISPLAY_BYTES;
}

/** Of files that come with the message; the program shows no others. */
function checkGallery(gallery: Body, path: string, reading: Reading): void {
  const items = Array.isArray(gallery["items"]) ? gallery["items"].filter(isBody) : [];
  if (items.length < 1 || items.length > 10) {
    throw invalidForm(
      `${path}.items`,
      "BASE_TYPE_BAD_LENGTH",
      "Must be between 1 and 10 in length.",
    );
  }
  for (const [index, item] of items.entries()) {
    const at = `${path}.items.${index}`;
    checkMedia(item["media"], `${at}.media`, reading);
    if (item["description"] !== undefined) stringOf(item, "description", at, [1, 1_024]);
  }
}

/** A file that comes along with the request. */
function checkMedia(media: unknown, path: string, reading: Reading): void {
  const url = stringOf(isBody(media) ? media : {}, "url", path, [1, 2_048]);
  const name = /^attachment:\/\/([\w.-]+)$/.exec(url)?.[1] ?? "";
  if (!reading.files.has(name)) {
    const code = "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND";
    throw invalidForm(`${path}.url`, code, "The referenced attachment was not found");
  }
  reading.shown.add(name);
}

/** Of rows, texts, galleries and separators, never of another container. */
function checkContainer(container: Body, path: string, reading: Reading): void {
  const colour = container["accent_color"];
  const isColour = typeof colour === "number" && colour >= 0 && colour <= 0xff_ff_ff;
  if (colour !== undefined && !isColour) {
    const said = "int value should be between 0 and 16777215.";
    throw invalidForm(`${path}.accent_color`, "NUMBER_TYPE_MAX", said);
  }
  for (const [index, child] of childrenOf(container, path, [1, MAX_COMPONENTS]).entries())
    check(child, `${path}.components.${index}`, true, reading, true);
}

function check(
  component: Body,
  path: string,
  v2: boolean,
  reading: Reading,
  isInside = false,
): void {
  const type = component["type"];
  const { row, text, gallery, file, separator, container } = COMPONENT;
  const known = v2
    ? [row, text, gallery, file, separator, ...(isInside ? [] : [container])]
    : [row];
  if (!known.some((each) => each === type)) throw unknownType(path, `(${known.join(", ")})`);
  numbered(component, path, reading);
  if (type === COMPONENT.container) return checkContainer(component, path, reading);
  if (type === COMPONENT.separator) return;
  if (type === COMPONENT.row) checkRow(component, path, reading);
  else if (type === COMPONENT.text) checkText(component, path, reading);
  else if (type === COMPONENT.file) checkMedia(component["file"], `${path}.file`, reading);
  else checkGallery(component, path, reading);
}

/** Components as they are kept: a copy in which each has its number. */
function withNumbers(components: readonly Body[], taken: ReadonlySet<number>): Body[] {
  let next = 0;
  const number = (component: Body): Body => {
    const given = component["id"];
    if (typeof given !== "number" || given === 0) {
      do next += 1;
      while (taken.has(next));
    }
    const copy: Body = {
      ...component,
      id: typeof given === "number" && given !== 0 ? given : next,
    };
    const children = component["components"];
    if (Array.isArray(children)) copy["components"] = (children as Body[]).map(number);
    return copy;
  };
  return components.map(number);
}

/**
 * A message's components, checked and numbered. With `v2` every rule of Components V2, else rows alone.
 * @throws Refusal 50035, and 500 for more bytes of text than Discord's servers bear
 */
export function readComponents(value: unknown, v2: boolean, files: readonly string[] = []): Body[] {
  if (!Array.isArray(value)) {
    throw invalidForm(
      "components",
      "LIST_TYPE_CONVERT",
      "Only iterables may be used in a ListType",
    );
  }
  const reading: Reading = {
    customIds: new Set(),
    numbers: new Set(),
    files: new Set(files),
    shown: new Set(),
    count: 0,
    text: 0,
    bytes: 0,
  };
  if (!v2 && value.length > MAX_ROWS) {
    throw invalidForm(
      "components",
      "BASE_TYPE_BAD_LENGTH",
      `Must be ${MAX_ROWS} or fewer in length.`,
    );
  }
  for (const [index, component] of value.entries()) {
    if (!isBody(component)) throw required(`components.${index}`);
    check(component, `components.${index}`, v2, reading);
  }
  if (files.some((name) => !reading.shown.has(name))) {
    const said = "Every file has to be shown by a component";
    throw invalidForm("attachments", "ATTACHMENT_NOT_REFERENCED", said);
  }
  if (reading.count > MAX_COMPONENTS) {
    const said = `The maximum of ${MAX_COMPONENTS} components in a message was exceeded`;
    throw invalidForm("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", said);
  }
  if (reading.text > MAX_TEXT) {
    const said = `The total text of a message's components must be ${MAX_TEXT} characters or fewer`;
    throw invalidForm("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", said);
  }
  if (reading.bytes > MAX_TEXT_BYTES) throw new Refusal(500, 0, "500: Internal Server Error");
  return withNumbers(value as Body[], reading.numbers);
}
