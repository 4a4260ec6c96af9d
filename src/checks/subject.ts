import { LABEL_NAMES, type Labelled, labelsFor } from "../core/label-names.ts";

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
  /** How far back: `1h`, or a time. */
  "since",
  /** The URL, or that of the host's page where a host is named by its domain and without a port. */
  "site",
  /** The host by its name, also that of the URL. */
  "domain",
] as const;

export type SubjectName = (typeof SUBJECTS)[number];
export type Subject = Readonly<Partial<Record<SubjectName, string>>>;

function isLabelled(name: SubjectName): name is SubjectName & Labelled {
  return Object.hasOwn(LABEL_NAMES, name);
}

export function subjectOfLabels(labels: Readonly<Record<string, string>>): Subject {
  const said = new Map(Object.entries(labels).map(([name, value]) => [name.toLowerCase(), value]));
  const subject = subjectOf((name) =>
    (isLabelled(name) ? labelsFor(name) : []).map((label) => said.get(label)).find(Boolean),
  );
  // Probes call what they look at an instance, exporters their machine with their own port.
  const { url = Object.values(labels).find((value) => /^https?:\/\//.test(value)) } = subject;
  const { host = hostIn(subject.instance ?? "") } = subject;
  return withDomain({
    ...subject,
    ...(url !== undefined && { url, site: url }),
    ...(host !== undefined && { host }),
  });
}

/** What is said of a URL is said of its host; an address has no name that leads to it. */
export function withDomain(subject: Subject): Subject {
  const { url, host } = subject;
  const domain = url !== undefined && URL.canParse(url) ? new URL(url).hostname : host;
  const isName = domain !== undefined && !/^\[|^[\d.]+$/.test(domain);
  return isName ? { ...subject, domain } : subject;
}

/** `db-1` for `db-1:9100`; undefined for this machine's own address, and for what is no host. */
export function hostIn(instance: string): string | undefined {
  const host = /^([\w-]+(?:\.[\w-]+)*)(?::\d+)?$/.exec(instance)?.[1];
  return host === undefined || /^(?:localhost|127\.[\d.]+)$/.test(host) ? undefined : host;
}

export function subjectOf(valueOf: (name: SubjectName) => string | undefined): Subject {
  return Object.fromEntries(
    SUBJECTS.flatMap((name) => {
      const value = valueOf(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
