import { labelsFor } from "../core/label-names.ts";
import { addressesIn } from "../core/links.ts";

/** What a question or an alert is about, as far as its words or labels say: the values that checks are run with. */

export const SUBJECTS = [
  "url",
  "host",
  "port",
  "service",
  "namespace",
  "pod",
  "deployment",
  "node",
  "container",
  "instance",
  "job",
  "database",
  "queue",
  "cluster",
  "environment",
  "path",
  /** When it began, as ISO 8601 or `14:05`: an alert's own time. */
  "time",
] as const;

type SubjectName = (typeof SUBJECTS)[number];
export type Subject = Readonly<Partial<Record<SubjectName, string>>>;

export function subjectOfLabels(labels: Readonly<Record<string, string>>): Subject {
  const said = new Map(Object.entries(labels).map(([name, value]) => [name.toLowerCase(), value]));
  const subject = subjectOf((name) =>
    (name === "time" ? [] : labelsFor(name)).map((label) => said.get(label)).find(Boolean),
  );
  // Probes call what they look at an instance, exporters their machine with their own port.
  const { url = Object.values(labels).find((value) => /^https?:\/\//.test(value)) } = subject;
  const { host = hostIn(subject.instance ?? "") } = subject;
  return { ...subject, ...(url !== undefined && { url }), ...(host !== undefined && { host }) };
}

/** `db-1` for `db-1:9100`; undefined for this machine's own address, and for what is no host. */
function hostIn(instance: string): string | undefined {
  const host = /^([\w-]+(?:\.[\w-]+)*)(?::\d+)?$/.exec(instance)?.[1];
  return host === undefined || /^(?:localhost|127\.[\d.]+)$/.test(host) ? undefined : host;
}

/** Words after a name that are no value of it: "the service is down", "pods keep restarting". */
const NO_VALUE = new Set(
  "after again all and any are as at be because been before but by can cannot could crash crashes dead did do does down fail failed fails for from full gets goes gone had hang hangs has have how if in is it its just keep keeps looks missing my no not now of on or our pending ready refuses restart restarts said say says seems should since slow so still stuck than that the their then there this to too unavailable unreachable up was were what when where which who why will with without would your".split(
    " ",
  ),
);

/** What looks like a domain's name and is none. */
const FILE =
  /\.(?:conf|csv|gz|html|ini|java|jpe?g|js|json|log|md|pid|png|py|service|sh|sock|sql|ts|txt|ya?ml|zip)$/i;

/** "at p99", "on k8s" */
const NO_HOST = /^(?:[a-z]\d+|k8s|ipv[46]|x509)$/i;

/** `10.0.0.5:5432`, `on web-1`, `db.internal`: with a digit or a dot, so that "on staging" names no machine. */
function placeIn(text: string): { host?: string | undefined; port?: string | undefined } {
  const [, at, port] =
    /(?<![\w.:/-])((?=[\w-]*[.\d-])[\w-]+(?:\.[\w-]+)*):(\d{3,5})(?![\w.])/.exec(text) ?? [];
  if (at !== undefined && /[a-z]|\d\.\d/i.test(at)) return { host: hostIn(at) ?? at, port };
  const [, machine] =
    /\b(?:on|at|of|from|to)\s+([a-z][a-z-]*\d[\w-]*(?:\.[\w-]+)*)(?![\w/:])/i.exec(text) ?? [];
  const domain = text
    .match(/(?<![\w@/.-])(?:[a-z][\w-]*\.)+[a-z]{2,}(?![\w/(-])/gi)
    ?.find((each) => !FILE.test(each));
  return { host: domain ?? (NO_HOST.test(machine ?? "") ? undefined : machine) };
}

/** `namespace shop`, `service=checkout`, addresses. */
export function subjectOfText(text: string): Subject {
  const [{ address } = {}] = addressesIn(text);
  const rest = address === undefined ? text : text.replace(address, " ");
  const place = placeIn(rest);
  return subjectOf((name) => {
    if (name === "url") return address;
    if (name === "time") return /\bsince\s+(\d{1,2}:\d\d)\b/i.exec(rest)?.[1];
    const word = new RegExp(`\\b${name}(?:s|\\b)[\\s=:]+["'\`]?([a-z0-9][\\w./-]*)`, "i");
    const value = word.exec(rest)?.[1]?.replace(/[./-]+$/, "");
    if (value !== undefined && !NO_VALUE.has(value.toLowerCase())) return value;
    return name === "host" || name === "port" ? place[name] : undefined;
  });
}

function subjectOf(valueOf: (name: SubjectName) => string | undefined): Subject {
  return Object.fromEntries(
    SUBJECTS.flatMap((name) => {
      const value = valueOf(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
