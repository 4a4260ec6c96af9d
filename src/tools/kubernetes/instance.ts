import { homedir } from "node:os";
import * as z from "zod";
import { readSmallFile } from "../../core/small-file.ts";
import { BotError, messageOf } from "../../core/errors.ts";
import { untilAborted } from "../../core/time-limit.ts";
import { createEncoder } from "../../security/encoder.ts";
import type { Credential, Endpoint } from "../http.ts";
import { createExec } from "../process.ts";
import type { Kind } from "./kinds.ts";
import type { ClusterConfig, ExecPlugin } from "./kubeconfig.ts";

/** A cluster that tools may ask, with its credentials. */
export interface Instance {
  readonly name: string;
  /** The context's namespace; empty where it has none. */
  readonly namespace: string;
  readonly endpoint: Endpoint;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The version of each kind that its server has, as found out. */
  readonly versions: Map<Kind, string>;
  /** Gets a credential that has to be got. @throws BotError NOT_AVAILABLE */
  prepare(signal: AbortSignal): Promise<void>;
  /** The credential was refused: true when there may be another. */
  renew(): boolean;
}

/** A plugin opens no browser here and asks nobody, so it is quick or it never ends. */
const PLUGIN_MS = 10_000;
/** Tokens are renewed so long before they expire. */
const EARLY_MS = 60_000;

export function createInstance(config: ClusterConfig): Instance {
  const { name, namespace, server, as, tls } = config;
  const plugin = config.exec === undefined ? undefined : createPlugin(config.exec, name);
  const tokenFile = config.tokenFile;
  const endpoint: Endpoint = {
    url: server,
    get tls() {
      return { ...tls, ...plugin?.current()?.tls };
    },
    async credential() {
      if (tokenFile !== undefined) return bearer(await readToken(tokenFile));
      if (config.token !== undefined) return bearer(config.token);
      const { basic } = config;
      if (basic !== undefined) return { kind: "basic", user: basic.user, secret: basic.password };
      const token = plugin?.current()?.token;
      return token === undefined ? undefined : bearer(token);
    },
  };
  return {
    name,
    namespace,
    endpoint,
    headers: as === undefined ? {} : { "impersonate-user": as },
    versions: new Map(),
    prepare: async (signal) => plugin?.prepare(signal),
    renew: () => plugin?.forget() ?? tokenFile !== undefined,
  };
}

function bearer(secret: string): Credential {
  return { kind: "bearer", secret };
}

/** @throws BotError NOT_AVAILABLE */
async function readToken(path: string): Promise<string> {
  try {
    return readSmallFile(path).trim();
  } catch (error) {
    throw new BotError(
      "NOT_AVAILABLE",
      `The token file ${path} cannot be read: ${messageOf(error)}.`,
    );
  }
}

/** What a plugin prints. */
const execCredential = z.looseObject({
  kind: z.literal("ExecCredential"),
  status: z.looseObject({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().optional(),
  }),
});

interface Given {
  token: string | undefined;
  tls: { cert?: string; key?: string };
  /** ms since 1970; Infinity: it says of no end. */
  expiresAt: number;
}

function createPlugin(plugin: ExecPlugin, context: string) {
  let given: Given | undefined;
  let asking: Promise<Given> | undefined;
  const isFresh = () => given !== undefined && given.expiresAt - EARLY_MS > Date.now();

  async function ask(): Promise<Given> {
    try {
      given = await runPlugin(plugin, context);
      return given;
    } finally {
      asking = undefined;
    }
  }

  return {
    current: () => given,
    /** Calls that come together ask once, and one that ends early leaves the answer to the others. */
    async prepare(signal: AbortSignal): Promise<void> {
      if (isFresh()) return;
      asking ??= ask();
      // Whoever waited may have gone.
      asking.catch(() => {});
      await untilAborted(asking, signal);
    },
    forget(): boolean {
      given = undefined;
      return true;
    },
  };
}

/** @throws BotError NOT_AVAILABLE, never with what it printed: that may be the token */
async function runPlugin(
  { argv, env, apiVersion, cluster }: ExecPlugin,
  context: string,
): Promise<Given> {
  const spec = { interactive: false, ...(cluster !== undefined && { cluster }) };
  const info = JSON.stringify({ apiVersion, kind: "ExecCredential", spec });
  // Its own settings and what it keeps lie in the home folder; nothing else of this program's environment is its business.
  const exec = createExec({
    encoder: createEncoder([]),
    env: { HOME: homedir(), ...env, KUBERNETES_EXEC_INFO: info },
  });
  const program = argv[0] ?? "";
  const why = (text: string) =>
    new BotError("NOT_AVAILABLE", `The credential plugin ${program} of context ${context} ${text}`);
  try {
    const { exitCode, stdout, stderr } = await exec(argv, {
      signal: AbortSignal.timeout(PLUGIN_MS),
    });
    if (exitCode !== 0)
      throw why(`failed (exit ${exitCode ?? "by a signal"}): ${stderr.trim().slice(0, 300)}`);
    return givenBy(stdout) ?? notOne(why);
  } catch (error) {
    if (error instanceof BotError && error.code === "TIMEOUT")
      throw why(`did not answer within ${PLUGIN_MS / 1_000} s.`);
    throw error;
  }
}

function notOne(why: (text: string) => BotError): never {
  throw why("printed no ExecCredential with a token or a certificate.");
}

function givenBy(stdout: string): Given | undefined {
  const { data } = execCredential.safeParse(jsonOf(stdout));
  if (data === undefined) return undefined;
  const {
    token,
    clientCertificateData: cert,
    clientKeyData: key,
    expirationTimestamp,
  } = data.status;
  if (token === undefined && cert === undefined) return undefined;
  const expiresAt = Date.parse(expirationTimestamp ?? "");
  return {
    token,
    tls: cert === undefined || key === undefined ? {} : { cert, key },
    expiresAt: Number.isNaN(expiresAt) ? Number.POSITIVE_INFINITY : expiresAt,
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
