import * as z from "zod";
import type { SettingsPart } from "../core/settings.ts";
import { apiKey, baseUrl, fromEnv, fromYaml } from "../core/settings.ts";
import type { Credential, Endpoint } from "./http.ts";
import { instanceName, ONLY, pemFile, variable } from "./instances.ts";

/**
 * Services that are reached with a token: one by its usual variables, or several in the yaml, each with a name. Their own
 * fields, such as the repositories that may be looked at, are set in both ways.
 */

interface Service<F extends z.ZodRawShape> {
  /** As its yaml key and folder are called, such as `github`. */
  name: string;
  title: string;
  /** What its variables begin with, such as `GITHUB`. */
  prefix: string;
  /** Its address, where none is set. */
  home: string;
  /** What the token may do, in words. */
  token: string;
  /** Each with a description; `logHosts` is set by `<PREFIX>_LOG_HOSTS`. */
  fields: F;
}

type Named<O> = O & {
  url: string;
  token: string;
  ca?: string | undefined;
  insecure?: boolean | undefined;
};

/** `O`: the service's own fields. */
export type AccountSettings<O> = O & {
  url: string;
  token?: string | undefined;
  named: Readonly<Record<string, Named<O>>>;
};

/** `shared`: settings of all accounts together, declared with where they are set. */
export function accountSettings<F extends z.ZodRawShape, S extends z.ZodRawShape>(
  { name, title, prefix, home, token, fields }: Service<F>,
  shared?: S,
): SettingsPart<AccountSettings<z.infer<z.ZodObject<F>>> & z.infer<z.ZodObject<S>>>["settings"] {
  const own = Object.entries(fields).map(([key, schema]) => {
    const env = `${prefix}_${key.replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- zod's core types of shapes lack what its own schemas have
    const field = schema as unknown as z.ZodType;
    return [key, fromEnv(env, field, field.description ?? "")] as const;
  });
  const address = baseUrl.default(home);
  const account = z.strictObject({
    url: address.describe("Its address."),
    token: variable.describe("The variable that holds its token."),
    ca: pemFile.optional().describe("A PEM file with the authority that signed its certificate."),
    insecure: z.boolean().optional().describe("`true`: its certificate is not checked."),
    ...fields,
  });
  const keys = ["url", "token", "ca", "insecure", ...Object.keys(fields)].join(", ");
  const settings: unknown = z.object({
    url: fromEnv(`${prefix}_URL`, address, `The address of ${title}.`),
    token: fromEnv(`${prefix}_TOKEN`, apiKey.optional(), token, {
      unset: "its tools are not offered",
    }),
    ...Object.fromEntries(own),
    ...shared,
    named: fromYaml(
      `integrations.${name}`,
      z.record(instanceName, account).default({}),
      `Several of them: \`<name>: { ${keys} }\`; \`token\` is the name of a variable.`,
    ),
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the compiler does not see through a spread of a generic
  return settings as ReturnType<typeof accountSettings<F, S>>;
}

/** The variables that the yaml says hold tokens. */
export function tokensIn({ named }: AccountSettings<object>): string[] {
  return Object.values(named).map(({ token }) => token);
}

/** Each account by its name, with its own fields: `default` is the one that variables name. */
export function accountsOf<O extends object>(
  { url: address, token: secret, named, ...own }: AccountSettings<O>,
  variableValue: (name: string) => string,
  credential: (token: string) => Credential,
): Readonly<Record<string, O & { endpoint: Endpoint }>> {
  const all: Record<string, unknown> = {};
  const account = (url: string, token: string, tls: Endpoint["tls"], fields: object) => ({
    ...fields,
    endpoint: { url, credential: credential(token), ...(tls && { tls }) },
  });
  if (secret !== undefined) all[ONLY] = account(address, secret, undefined, own);
  for (const [name, { url, token, ca, insecure, ...fields }] of Object.entries(named)) {
    const tls = { ...(ca !== undefined && { ca }), ...(insecure !== undefined && { insecure }) };
    all[name] = account(url, variableValue(token), tls, fields);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is left of the settings are the own fields
  return all as Readonly<Record<string, O & { endpoint: Endpoint }>>;
}

/** Why there is no account, or undefined. */
export function withoutAccounts(
  { name, prefix }: { name: string; prefix: string },
  { token, named }: AccountSettings<object>,
): string | undefined {
  if (token !== undefined || Object.keys(named).length > 0) return undefined;
  return `${prefix}_TOKEN is not set, and integrations.${name} names no account`;
}

/** Why nothing may be looked at, or undefined. `field`: the one that lists what may be, such as `repositories`. */
export function withoutPlaces<F extends string>(
  service: { name: string; prefix: string },
  field: F,
  settings: AccountSettings<Readonly<Record<F, readonly string[]>>>,
): string | undefined {
  const accounts = [settings, ...Object.values(settings.named)];
  const none = `${service.prefix}_${field.toUpperCase()} is not set: nothing may be looked at`;
  const isSet = accounts.some((account) => account[field].length > 0);
  return withoutAccounts(service, settings) ?? (isSet ? undefined : none);
}

/** Asks each place for its last hour. `argument`: what the tool of changes calls it, such as `repository`. */
export function placeProofs(service: string, argument: string, places: readonly string[]) {
  return places.map((place) => ({
    subject: `${service} ${place}`,
    tool: `${service}_changes`,
    args: { [argument]: place, since: "1h" },
  }));
}

/** `a, b`, or a list in the yaml; none by default. */
export function listOf(item: z.ZodType<string, string>, description: string) {
  const items = z.array(item);
  return z
    .union([z.string().transform((text) => text.split(/[\s,]+/).filter(Boolean)), items])
    .pipe(items)
    .default([])
    .describe(description);
}
