import { containersOf, nameOf, type Cluster, type WorkloadView } from "./cluster.ts";
import type { Container } from "./objects.ts";
import type { Service } from "./resources.ts";

/** Where a workload's settings say that it connects to. */
export interface Address {
  /** Such as `env REDIS_ADDR`. */
  from: string;
  container: string;
  host: string;
  port: number | undefined;
  /** Of this namespace, when the host is in it. */
  service: Service | undefined;
  /** The host can only be a service of this namespace, and there is none. */
  isMissing: boolean;
  /** The name of the service that it can only be. */
  name: string;
}

const ADDRESS_NAME =
  /HOST|ADDR|URL|URI|ENDPOINT|SERVER|BROKER|BOOTSTRAP|DSN|CONNECTION|UPSTREAM|BACKEND|SERVICE|TARGET|REDIS|MONGO|POSTGRES|MYSQL|KAFKA|RABBIT|AMQP|DATABASE|DATASOURCE/i;
/** These variables are set by the kubelet for each service, or name the pod itself. */
const OWN_NAME =
  /^(?:KUBERNETES_|HOSTNAME$|POD_|NODE_|MY_)|_(?:SERVICE_ACCOUNT|HOSTNAME_OVERRIDE|SERVICE_NAME|USER|USERNAME|PASSWORD|NAME|BIND|LISTEN)$|LISTEN|BIND|SERVER_(?:NAME|MODE|TYPE)|SERVICE_(?:NAME|VERSION|MODE|ACCOUNT)/i;

/** The addresses in variables and arguments, as far as they are written there and not in a ConfigMap or Secret. */
export function addressesOf(cluster: Cluster, workload: WorkloadView): Address[] {
  return containersOf(workload.spec).flatMap((container) =>
    hostsOf(container).map((written) => ({
      ...written,
      container: container.name ?? "",
      ...resolve(cluster, written.host, written.isSure),
    })),
  );
}

interface Written {
  from: string;
  host: string;
  port: number | undefined;
  /** Written so that it can be nothing but an address. */
  isSure: boolean;
}

function hostsOf(container: Container): Written[] {
  const env = container.env ?? [];
  const written = env.flatMap(({ name = "", value = "" }) => {
    if (value === "" || OWN_NAME.test(name)) return [];
    const from = `env ${name}`;
    const named = ADDRESS_NAME.test(name);
    return value.split(",").flatMap((part) => readHost(part.trim(), from, named));
  });
  for (const one of written) one.port ??= siblingPort(env, one.from.slice("env ".length));
  const args = [...(container.command ?? []), ...(container.args ?? [])].flatMap((arg) =>
    arg.length > MAX_ARG
      ? []
      : arg
          .split(/[\s=,"']+/)
          .flatMap((word) =>
            /^[a-z][\w.-]*:\d{2,5}$|:\/\//.test(word) ? readHost(word, "args", false) : [],
          ),
  );
  return [...written, ...args];
}

const MAX_ARG = 500;

/** `DB_HOST` goes with `DB_PORT`. */
function siblingPort(env: readonly { name?: string; value?: string }[], name: string) {
  const wanted = name.replace(/(?:HOST(?:NAME)?|ADDR(?:ESS)?|SERVER|ENDPOINT)$/i, "PORT");
  if (wanted === name) return undefined;
  const value = env.find((one) => one.name === wanted)?.value ?? "";
  return /^\d{1,5}$/.test(value) ? Number(value) : undefined;
}

const HOST =
  "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*\\.?";
const URL_FORM = new RegExp(
  `^(?:jdbc:)?[a-z][a-z0-9+.-]*://(?:[^@/\\s]*@)?(${HOST})(?::(\\d{1,5}))?(?:[/?;]|$)`,
  "i",
);
const PORT_FORM = new RegExp(`^(?:[^@/\\s]*@)?(${HOST}):(\\d{1,5})(?:/.*)?$`);
const BARE_FORM = new RegExp(`^(${HOST})$`);

function readHost(text: string, from: string, isNamed: boolean): Written[] {
  if (text.length > MAX_ARG) return [];
  const url = URL_FORM.exec(text);
  const [, host, port] =
    url ?? PORT_FORM.exec(text) ?? (isNamed ? BARE_FORM.exec(text) : null) ?? [];
  if (host === undefined || !isHost(host)) return [];
  const isBare = url === null && port === undefined;
  const isSure = !isBare || /(?:HOST|HOSTNAME|ADDR|ADDRESS)$/i.test(from);
  return [{ from, host, port: port === undefined ? schemePort(text) : Number(port), isSure }];
}

function schemePort(text: string): number | undefined {
  const scheme = /^(https?):/i.exec(text)?.[1]?.toLowerCase();
  return scheme === "http" ? 80 : scheme === "https" ? 443 : undefined;
}

function isHost(host: string): boolean {
  return (
    /[a-z]/i.test(host) &&
    !/^(?:localhost|true|false|none|null|0x.*|[A-Z0-9_]+)$/.test(host) &&
    !/^\d+(?:\.\d+)*(?:[a-z]{1,2})?$/i.test(host)
  );
}

/** Which service of the namespace a host name means. */
function resolve(
  cluster: Cluster,
  host: string,
  isSure: boolean,
): { service: Service | undefined; isMissing: boolean; name: string } {
  const isCluster = /\.svc(?:\.|$)/.test(host);
  const labels = host
    .replace(/\.$/, "")
    .replace(/\.svc(?:\..*)?$/, "")
    .split(".");
  const [first = "", second, third, ...more] = labels;
  const elsewhere = { service: undefined, isMissing: false, name: first };
  const inNamespace = (name: string, sure: boolean) => {
    const service = cluster.service(name);
    const isMissing = service === undefined && sure && cluster.sees("services");
    return { service, isMissing, name };
  };
  if (more.length > 0) return elsewhere;
  if (second === undefined) return inNamespace(first, isSure);
  if (third !== undefined)
    return isCluster && third === cluster.namespace ? inNamespace(second, true) : elsewhere;
  if (second === cluster.namespace) return inNamespace(first, true);
  // A pod of a stateful set, by the name of its headless service.
  if (cluster.service(second) !== undefined && /-\d+$/.test(first))
    return inNamespace(second, true);
  return isCluster &&
    cluster.sees("namespaces") &&
    !cluster.list("namespaces").some((one) => nameOf(one) === second)
    ? { service: undefined, isMissing: true, name: host }
    : elsewhere;
}
