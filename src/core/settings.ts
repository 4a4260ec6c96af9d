import * as z from "zod";

/**
 * Settings are declared beside what uses them: each field of a zod object says where it is set and what it is. What is read,
 * the messages about mistakes, `.env.example` and the tables of `docs/configuration.md` follow from these declarations.
 */
export interface SettingsPart<S = unknown> {
  readonly name: string;
  readonly settings: z.ZodType<S> & { readonly shape: Readonly<Record<string, z.ZodType>> };
  /**
   * Mistakes that only the settings together show, by the variable or key to mend. `isSet` takes such a name too, and is also
   * true of a value in the wrong form, which is undefined in `settings`.
   */
  check?(isSet: (name: string) => boolean, settings: S): Readonly<Record<string, string>>;
  /** Variables that hold secrets and are named in the settings themselves. */
  variables?(settings: S): readonly string[];
}

/** Lets TypeScript infer the type of the settings from their schema. */
export function defineSettings<S>(part: SettingsPart<S>): SettingsPart<S> {
  return part;
}

interface Words {
  /** What holds while it is not set, in words; left out where the schema has a default. */
  unset?: string;
  /** Its value must never be shown. Names such as `…_TOKEN` and `…_SECRET` say so themselves. */
  secret?: true;
  /** Other programs know it too, such as AWS's: what the yaml names may be given it (`Config.variable`). */
  shared?: true;
}

/** A setting from an environment variable. The schema takes the variable's text; an empty one counts as not set. */
export function fromEnv<T extends z.ZodType>(
  env: string,
  schema: T,
  description: string,
  words: Words = {},
): T {
  return schema.meta({ env, description, ...words });
}

/** A setting from `watchkeeper.yaml`, at a key such as `timezone` or `logs.roots`. */
export function fromYaml<T extends z.ZodType>(
  yaml: string,
  schema: T,
  description = "",
  words: Omit<Words, "secret" | "shared"> = {},
): T {
  return schema.meta({ yaml, ...(description !== "" && { description }), ...words });
}

export interface Setting {
  field: string;
  /** The variable or key that sets it. */
  name: string;
  source: "env" | "yaml";
  description: string;
  secret: boolean;
  shared: boolean;
  schema: z.ZodType;
}

/** @throws TypeError when a field does not say where it is set */
export function settingsIn(part: SettingsPart): Setting[] {
  return Object.entries(part.settings.shape).map(([field, schema]) => {
    const { env, yaml, secret, shared, description = "" } = schema.meta() ?? {};
    const name = env ?? yaml;
    if (typeof name !== "string")
      throw new TypeError(`${part.name}.${field} is declared without fromEnv or fromYaml.`);
    const source = env === undefined ? "yaml" : "env";
    const words = { description, secret: secret === true, shared: shared === true };
    return { field, name, source, ...words, schema };
  });
}

/** What settings are set to, by the variables and keys that set them. */
export type SettingValues = Readonly<Record<string, unknown>>;

/** The settings of one part. Those that `values` lacks have their defaults. */
export function settingsOf<S>(part: SettingsPart<S>, values: SettingValues): S {
  const own = settingsIn(part).map(({ field, name, schema }) => [
    field,
    Object.hasOwn(values, name) ? values[name] : schema.parse(undefined),
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value is what its own schema made of what was set
  return Object.fromEntries(own) as S;
}

/** The address of an API: paths are put behind it. */
export const baseUrl = z
  .string()
  .trim()
  .refine(
    (text) => URL.canParse(text) && /^https?:\/\/[^\s\\/?#@]+(?:\/[^\s\\?#]*)?$/i.test(text),
    "expected an http or https URL such as https://example.com, without user, password, query and fragment",
  );

/** A secret as people paste it. */
export function secretText(form: RegExp, expected: string): z.ZodString {
  return z.string().trim().regex(form, `expected ${expected}`);
}

/** A key that a header can carry. */
export const apiKey = secretText(
  /^[!-~]+$/,
  "the key alone; it has a space, a line break or a character that no key has",
);
