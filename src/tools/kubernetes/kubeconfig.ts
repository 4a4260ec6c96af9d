import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import * as z from "zod";
import { readSmallFile } from "../../core/small-file.ts";
import { messageOf } from "../../core/errors.ts";

/**
 * Reads kubeconfig files as kubectl does: several are merged, and of what they name alike the first counts. An own reader of
 * some 150 lines: Kubernetes' client for Node takes 86 MB of memory and makes connections of its own, past the network rules.
 */

/** Entries that are merged by their names. */
function list<T extends z.ZodType>(entry: T) {
  return z
    .array(entry)
    .nullish()
    .transform((entries) => entries ?? []);
}

const exec = z.looseObject({
  command: z.string(),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  apiVersion: z.string().default("client.authentication.k8s.io/v1"),
  provideClusterInfo: z.boolean().optional(),
});

const cluster = z.looseObject({
  server: z.string(),
  "certificate-authority": z.string().optional(),
  "certificate-authority-data": z.string().optional(),
  "insecure-skip-tls-verify": z.boolean().optional(),
  "tls-server-name": z.string().optional(),
  "proxy-url": z.string().optional(),
});

const user = z.looseObject({
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  "client-certificate": z.string().optional(),
  "client-certificate-data": z.string().optional(),
  "client-key": z.string().optional(),
  "client-key-data": z.string().optional(),
  as: z.string().optional(),
  exec: exec.nullish(),
  "auth-provider": z.unknown().optional(),
});

const context = z.looseObject({
  cluster: z.string(),
  user: z.string().default(""),
  namespace: z.string().optional(),
});

const file = z.looseObject({
  clusters: list(z.object({ name: z.string(), cluster })),
  users: list(z.object({ name: z.string(), user: user.nullish() })),
  contexts: list(z.object({ name: z.string(), context })),
  "current-context": z.string().nullish(),
});

/** A program that gives credentials. */
export interface ExecPlugin {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  apiVersion: string;
  /** What it is told of the cluster, where it wants to know. */
  cluster: { server: string; "certificate-authority-data"?: string } | undefined;
}

/** A context with all that it names, its files read. */
export interface ClusterConfig {
  name: string;
  server: string;
  /** Empty: it names none. */
  namespace: string;
  tls: { ca?: string; cert?: string; key?: string; serverName?: string; insecure?: boolean };
  token?: string;
  /** Read again for each request: whoever renews the token writes it there. */
  tokenFile?: string;
  basic?: { user: string; password: string };
  exec?: ExecPlugin;
  /** In whose name the context acts. */
  as?: string;
}

export interface Kubeconfig {
  /** In the order of the files. */
  clusters: ClusterConfig[];
  /** The context that is meant when none is named. */
  current: string;
  /** What could not be used, and why. */
  problems: string[];
}

interface Found<T> {
  value: T;
  /** Where its relative paths begin. */
  folder: string;
}

/** `paths`: as KUBECONFIG has them, separated by colons. Never throws. */
export function readKubeconfig(paths: string): Kubeconfig {
  const clusters = new Map<string, Found<z.infer<typeof cluster>>>();
  const users = new Map<string, Found<z.infer<typeof user>>>();
  const contexts = new Map<string, z.infer<typeof context>>();
  const problems: string[] = [];
  let current = "";
  for (const written of paths.split(":").filter((path) => path.trim() !== "")) {
    const path = resolve(written.trim().replace(/^~(?=\/)/, homedir()));
    try {
      const read = file.parse(parse(readSmallFile(path)) ?? {});
      const folder = dirname(path);
      addNew(clusters, read.clusters, (entry) => ({ value: entry.cluster, folder }));
      addNew(users, read.users, (entry) => ({ value: entry.user ?? {}, folder }));
      addNew(contexts, read.contexts, (entry) => entry.context);
      current ||= read["current-context"] ?? "";
    } catch (error) {
      problems.push(`${path}: ${briefly(error)}`);
    }
  }
  const usable = [...contexts].flatMap(([name, each]) => {
    try {
      return [clusterOf(name, each, clusters.get(each.cluster), users.get(each.user))];
    } catch (error) {
      problems.push(`context ${name}: ${briefly(error)}`);
      return [];
    }
  });
  return { clusters: usable, current, problems };
}

/** Never with a piece of the file: it holds secrets. */
function briefly(error: unknown): string {
  if (error instanceof z.ZodError) {
    return error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  }
  if (error instanceof Error && error.name === "YAMLParseError") return "it is no YAML";
  return messageOf(error);
}

function addNew<T extends { name: string }, V>(
  known: Map<string, V>,
  entries: readonly T[],
  valueOf: (entry: T) => V,
): void {
  for (const entry of entries) if (!known.has(entry.name)) known.set(entry.name, valueOf(entry));
}

function clusterOf(
  name: string,
  { namespace = "", cluster: clusterName, user: userName }: z.infer<typeof context>,
  found: Found<z.infer<typeof cluster>> | undefined,
  foundUser: Found<z.infer<typeof user>> | undefined,
): ClusterConfig {
  if (found === undefined) throw new Error(`there is no cluster ${clusterName}`);
  if (foundUser === undefined && userName !== "") throw new Error(`there is no user ${userName}`);
  const { value, folder } = found;
  if (value["proxy-url"] !== undefined) throw new Error("proxy-url is not supported");
  const ca = pem(value, "certificate-authority", folder);
  const insecure = value["insecure-skip-tls-verify"];
  const serverName = value["tls-server-name"];
  return {
    name,
    server: value.server,
    namespace,
    ...userOf(foundUser ?? { value: {}, folder }, value.server, ca),
    tls: {
      ...(ca !== undefined && { ca }),
      ...(insecure === true && { insecure }),
      ...(serverName !== undefined && { serverName }),
      ...certificateOf(foundUser),
    },
  };
}

function certificateOf(found: Found<z.infer<typeof user>> | undefined): {
  cert?: string;
  key?: string;
} {
  if (found === undefined) return {};
  const cert = pem(found.value, "client-certificate", found.folder);
  const key = pem(found.value, "client-key", found.folder);
  return cert === undefined || key === undefined ? {} : { cert, key };
}

function userOf(
  { value, folder }: Found<z.infer<typeof user>>,
  server: string,
  ca: string | undefined,
) {
  const { token, tokenFile, username, password, as, exec: plugin } = value;
  if (value["auth-provider"] !== undefined && value["auth-provider"] !== null)
    throw new Error("auth-provider is not supported; kubectl dropped it too, use an exec plugin");
  return {
    ...(as !== undefined && { as }),
    // As in kubectl, the file counts where both are given.
    ...(tokenFile !== undefined && { tokenFile: join(resolve(folder, tokenFile)) }),
    ...(token !== undefined && tokenFile === undefined && { token: token.trim() }),
    ...(username !== undefined &&
      password !== undefined && { basic: { user: username, password } }),
    ...(plugin !== undefined && plugin !== null && { exec: pluginOf(plugin, folder, server, ca) }),
  };
}

function pluginOf(
  { command, args, env, apiVersion, provideClusterInfo }: z.infer<typeof exec>,
  folder: string,
  server: string,
  ca: string | undefined,
): ExecPlugin {
  const program = command.includes("/") ? resolve(folder, command) : command;
  const authority = ca === undefined ? {} : { "certificate-authority-data": btoa(ca) };
  return {
    argv: [program, ...(args ?? [])],
    env: Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
    apiVersion,
    cluster: provideClusterInfo === true ? { server, ...authority } : undefined,
  };
}

/** A PEM text that stands in the file, or in one that it names. */
function pem(
  value: Readonly<Record<string, unknown>>,
  key: string,
  folder: string,
): string | undefined {
  const data = value[`${key}-data`];
  if (typeof data === "string" && data !== "") return Buffer.from(data, "base64").toString("utf8");
  const path = value[key];
  return typeof path === "string" && path !== "" ? readSmallFile(resolve(folder, path)) : undefined;
}

/** Where Kubernetes puts what a pod's service account needs. */
const POD_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The cluster that this program runs in, as a pod sees it; undefined elsewhere. */
export function inCluster(
  host: string,
  port: string,
  folder = POD_FOLDER,
): ClusterConfig | undefined {
  try {
    const shown = host.includes(":") ? `[${host}]` : host;
    return {
      name: "in-cluster",
      server: `https://${shown}:${port}`,
      namespace: readSmallFile(join(folder, "namespace")).trim(),
      tls: { ca: readSmallFile(join(folder, "ca.crt")) },
      tokenFile: join(folder, "token"),
    };
  } catch {
    return undefined;
  }
}
