import { invalidForm, Refusal } from "./refusals.ts";
import type { Body } from "./world.ts";

/** Of https://discord.com/developers/docs/components/reference. */
export const COMPONENT = {
  row: 1,
  button: 2,
  stringSelect: 3,
  textInput: 4,
  channelSelect: 8,
  section: 9,
  text: 10,
  thumbnail: 11,
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

const V2_TOP: readonly number[] = [1, 9, 10, 12, 13, 14, 17];
const IN_CONTAINER: readonly number[] = [1, 9, 10, 12, 13, 14];

interface Reading {
  readonly customIds: Set<string>;
  readonly numbers: Set<number>;
  /** Names of the files that come along. */
  readonly files: ReadonlySet<string>;
  readonly filesShown: Set<string>;
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

function checkButton(button: Body, path: string, reading: Reading): void {
  const style = button["style"];
  if (typeof style !== "number" || style < 1 || style > 6) {
    throw invalidForm(
      `${path}.style`,
      "BASE_TYPE_CHOICES",
      "Value must be one of {1, 2, 3, 4, 5, 6}.",
    );
  }
  const label = button["label"];
  if (label !== undefined && label !== null) stringOf(button, "label", path, [1, 80]);
  else if (!isBody(button["emoji"]) && style !== 6) {
    throw invalidForm(
      path,
      "BUTTON_COMPONENT_LABEL_OR_EMOJI_REQUIRED",
      "A label or emoji is needed",
    );
  }
  if (style === 5) {
    const url = stringOf(button, "url", path, [1, 512]);
    if (!/^(https?|discord):\/\//.test(url)) {
      throw invalidForm(
        `${path}.url`,
        "URL_TYPE_INVALID_SCHEME",
        "Scheme must be http, https or discord",
      );
    }
    if (button["custom_id"] !== undefined) {
      const said = "A custom id and url cannot both be specified";
      throw invalidForm(path, "BUTTON_COMPONENT_CUSTOM_ID_AND_URL", said);
    }
  } else if (style !== 6) customIdOf(button, path, reading.customIds);
}

function checkSelect(select: Body, path: string, reading: Reading): void {
  customIdOf(select, path, reading.customIds);
  if (select["placeholder"] !== undefined) stringOf(select, "placeholder", path, [0, 150]);
  if (select["type"] !== COMPONENT.stringSelect) return;
  const options = select["options"];
  if (!Array.isArray(options) || options.length < 1 || options.length > 25) {
    const said = "Must be between 1 and 25 in length.";
    throw invalidForm(`${path}.options`, "BASE_TYPE_BAD_LENGTH", said);
  }
  for (const [index, option] of (options as Body[]).entries()) {
    stringOf(option, "label", `${path}.options.${index}`, [1, 100]);
    stringOf(option, "value", `${path}.options.${index}`, [1, 100]);
  }
}

function checkRow(row: Body, path: string, reading: Reading): void {
  const children = childrenOf(row, path, [1, 5]);
  for (const [index, child] of children.entries()) {
    const at = `${path}.components.${index}`;
    const type = child["type"];
    numbered(child, at, reading);
    if (type === COMPONENT.button) checkButton(child, at, reading);
    else if (
      typeof type === "number" &&
      type >= COMPONENT.stringSelect &&
      type <= COMPONENT.channelSelect &&
      type !== COMPONENT.textInput
    ) {
      if (children.length > 1) {
        const said = "The specified component exceeds the maximum width";
        throw invalidForm(at, "COMPONENT_LAYOUT_WIDTH_EXCEEDED", said);
      }
      checkSelect(child, at, reading);
    } else throw unknownType(at, "(2, 3, 5, 6, 7, 8)");
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

function checkMedia(owner: Body, key: string, path: string, reading: Reading): void {
  const media = owner[key];
  const url = isBody(media) ? media["url"] : undefined;
  if (typeof url !== "string") throw required(`${path}.${key}.url`);
  const name = /^attachment:\/\/(.+)$/.exec(url)?.[1];
  if (name === undefined && (owner["type"] === COMPONENT.file || !/^https?:\/\//.test(url))) {
    throw invalidForm(`${path}.${key}.url`, "URL_TYPE_INVALID_SCHEME", "Not a valid address here");
  }
  if (name !== undefined && !reading.files.has(name)) {
    const said = "The referenced attachment was not found";
    throw invalidForm(
      `${path}.${key}`,
      "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND",
      said,
    );
  }
  if (name !== undefined) reading.filesShown.add(name);
}

function checkSection(section: Body, path: string, reading: Reading): void {
  for (const [index, child] of childrenOf(section, path, [1, 3]).entries()) {
    const at = `${path}.components.${index}`;
    numbered(child, at, reading);
    if (child["type"] !== COMPONENT.text) throw unknownType(at, "(10,)");
    checkText(child, at, reading);
  }
  const accessory = section["accessory"];
  const at = `${path}.accessory`;
  if (!isBody(accessory)) throw required(at);
  numbered(accessory, at, reading);
  if (accessory["type"] === COMPONENT.button) checkButton(accessory, at, reading);
  else if (accessory["type"] === COMPONENT.thumbnail) checkMedia(accessory, "media", at, reading);
  else throw unknownType(at, "(2, 11)");
}

function checkGallery(gallery: Body, path: string, reading: Reading): void {
  const items = gallery["items"];
  if (!Array.isArray(items) || items.length < 1 || items.length > 10) {
    throw invalidForm(
      `${path}.items`,
      "BASE_TYPE_BAD_LENGTH",
      "Must be between 1 and 10 in length.",
    );
  }
  for (const [index, item] of (items as Body[]).entries()) {
    checkMedia(item, "media", `${path}.items.${index}`, reading);
  }
}

function check(component: Body, path: string, allowed: readonly number[], reading: Reading): void {
  const type = component["type"];
  if (typeof type !== "number" || !allowed.includes(type)) {
    throw unknownType(path, `(${allowed.join(", ")})`);
  }
  numbered(component, path, reading);
  if (type === COMPONENT.row) checkRow(component, path, reading);
  else if (type === COMPONENT.text) checkText(component, path, reading);
  else if (type === COMPONENT.section) checkSection(component, path, reading);
  else if (type === COMPONENT.gallery) checkGallery(component, path, reading);
  else if (type === COMPONENT.file) checkMedia(component, "file", path, reading);
  else if (type === COMPONENT.container) {
    for (const [index, child] of childrenOf(component, path, [1, MAX_COMPONENTS]).entries()) {
      check(child, `${path}.components.${index}`, IN_CONTAINER, reading);
    }
  }
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
    if (isBody(component["accessory"])) copy["accessory"] = number(component["accessory"]);
    return copy;
  };
  return components.map(number);
}

/**
 * A message's components, checked and numbered. With `v2` every rule of Components V2, else rows alone.
 * @throws Refusal 50035, and 500 for more bytes of text than Discord's servers bear
 */
export function readComponents(value: unknown, v2: boolean, files: ReadonlySet<string>): Body[] {
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
    files,
    filesShown: new Set(),
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
    check(component, `components.${index}`, v2 ? V2_TOP : [COMPONENT.row], reading);
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
  if (v2) {
    for (const name of files) {
      if (!reading.filesShown.has(name)) {
        const said = `${name} is attached and no component shows it`;
        throw invalidForm("attachments", "ATTACHMENT_NOT_REFERENCED", said);
      }
    }
  }
  return withNumbers(value as Body[], reading.numbers);
}
