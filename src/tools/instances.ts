import * as z from "zod";
import type { JsonObject } from "../core/entry.ts";
import { apiKey, baseUrl, fromEnv, fromYaml } from "../core/settings.ts";
import { readSmallFile } from "../core/small-file.ts";
import type { Credential, Endpoint } from "./http.ts";

/** The servers of one system: one by its usual variables, or several in the yaml, each with a name. */

/** The name of a variable that holds a secret. */
export const variable = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    "expected the name of an environment variable such as PROD_TOKEN",
  );

/** What is in the PEM file of that name. */
export const pemFile = z.string().transform((path, ctx) => {
  try {
    return readSmallFile(path);
  } catch {
    ctx.addIssue({
      code: "custom",
      message: "expected a PEM file of at most 1 MiB that can be read",
    });
    return z.NEVER;
  }
});

export const instanceName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,30}$/, "expected a short name such as prod");

/** Such as `shop`, or several as `shop|web`. */
export const tenantName = z
  .string()
  .regex(/^[\w!.*'()|:-]{1,150}$/, "expected a tenant's name such as shop");

const serverSettings = (tenants: boolean) =>
  z
    .strictObject({
      url: baseUrl.describe("Its address."),
      token: variable.optional().describe("The variable that holds its bearer token."),
      user: z.string().min(1).optional().describe("The user, where it takes a password."),
      password: variable.optional().describe("The variable that holds that user's password."),
      ca: pemFile.optional().describe("A PEM file with the authority that signed its certificate."),
      insecure: z
        .boolean()
        .optional()
        .describe(
          "`true`: its certificate is not checked. Whoever stands in between reads and changes everything.",
        ),
      tenant: tenants ? tenantName.optional().describe("Its tenant.") : z.never().optional(),
    })
    .refine(({ user, password }) => (user === undefined) === (password === undefined), {
      message: "expected user and password together",
    });

type Instance = z.infer<ReturnType<typeof serverSettings>>;

/** The name that the one server has which variables name. */
export const ONLY = "default";

interface System {
  /** As its yaml key and folder are called, such as `prometheus`. */
  name: string;
  title: string;
  /** What its variables begin with, such as `PROMETHEUS`. */
  prefix: string;
  /** How a token is sent; default: as a bearer. */
  credential?(token: string): Credential;
  /** What its token is; default: a bearer token. */
  token?: string;
  /** A server has several tenants, and each request names one. */
  tenants?: boolean;
}

/**
 * The settings of a system: `<PREFIX>_URL`, `_TOKEN`, `_USER` and `_PASSWORD`, and `integrations.<name>` in the yaml with any
 * number of servers.
 */
export function instanceSettings({
  name,
  title,
  prefix,
  token = "A bearer token",
  tenants = false,
}: Pick<System, "name" | "title" | "prefix" | "token" | "tenants">) {
  return {
    url: fromEnv(`${prefix}_URL`, baseUrl.optional(), `The address of ${title}.`, {
      unset: "its tools are not offered",
    }),
    token: fromEnv(`${prefix}_TOKEN`, apiKey.optional(), `${token} for ${title}.`),
    user: fromEnv(
      `${prefix}_USER`,
      z.string().min(1).optional(),
      `The user, where ${title} takes a password.`,
    ),
    password: fromEnv(`${prefix}_PASSWORD`, apiKey.optional(), "That user's password."),
    named: fromYaml(
      `integrations.${name}`,
      z.record(instanceName, serverSettings(tenants)).default({}),
      `Several of them: \`<name>: { url, token, user, password, ca, insecure${tenants ? ", tenant" : ""} }\`; \`token\` and \`password\` are names of variables.`,
    ),
  };
}

export interface InstanceSettings {
  url?: string | undefined;
  token?: string | undefined;
  user?: string | undefined;
  password?: string | undefined;
  named: Readonly<Record<string, Instance>>;
}

/** The variables that the yaml says hold secrets. */
export function variablesIn({ named }: InstanceSettings): string[] {
  return Object.values(named).flatMap(({ token, password }) =>
    [token, password].filter((each) => each !== undefined),
  );
}

/** The servers by their names: `default` is the one that variables name. None: the system is not configured. */
export function endpointsOf(
  { url, token, user, password, named }: InstanceSettings,
  variableValue: (name: string) => string,
  credential: (token: string) => Credential = (secret) => ({ kind: "bearer", secret }),
): Readonly<Record<string, Endpoint>> {
  const whole = (secrets: Pick<InstanceSettings, "token" | "user" | "password">) =>
    secrets.user !== undefined && secrets.password !== undefined
      ? ({ kind: "basic", user: secrets.user, secret: secrets.password } as const)
      : secrets.token === undefined
        ? undefined
        : credential(secrets.token);
  const several = Object.entries(named).map(([name, each]) => {
    const value = (of: string | undefined) => (of === undefined ? undefined : variableValue(of));
    const secrets = { token: value(each.token), user: each.user, password: value(each.password) };
    const { ca, insecure } = each;
    const tls = { ...(ca !== undefined && { ca }), ...(insecure !== undefined && { insecure }) };
    return [name, { url: each.url, credential: whole(secrets), tls }] as const;
  });
  const one =
    url === undefined
      ? []
      : [[ONLY, { url, credential: whole({ token, user, password }) }] as const];
  return Object.fromEntries([...one, ...several]);
}

/** The argument that chooses one of several servers; none where there is only one. */
export function instanceArgument(endpoints: Readonly<Record<string, Endpoint>>): {
  instance: z.ZodOptional<z.ZodEnum<Record<string, string>>>;
} {
  const names = Object.keys(endpoints);
  const instance = z.enum(names).optional().describe(`Which one. Not given: ${names[0]}.`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- left out, it reads as what it is when it is not given
  return (names.length < 2 ? {} : { instance }) as { instance: typeof instance };
}

/** The server that a call is for. */
export function instanceOf(
  input: { instance?: string | undefined },
  endpoints: Readonly<Record<string, object>>,
): string {
  return input.instance ?? Object.keys(endpoints)[0] ?? ONLY;
}

/** A proof for each server: the call with its name, where there are several. */
export function proofsOf(
  system: string,
  endpoints: Readonly<Record<string, unknown>>,
  { tool, args }: { tool: string; args: JsonObject },
): { subject: string; tool: string; args: JsonObject }[] {
  const names = Object.keys(endpoints);
  return names.map((instance) => ({
    subject: names.length > 1 ? `${system} ${instance}` : system,
    tool,
    args: names.length > 1 ? { ...args, instance } : args,
  }));
}
