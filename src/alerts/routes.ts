import { globMatches } from "../core/glob.ts";
import type { Alert } from "./alert.ts";
import type { GroupRule } from "./groups.ts";

/** Where alerts go, as the configuration says. */
export interface AlertRoute {
  /** Patterns of labels, all of which match; `source` and `alertname` count as labels. */
  readonly match: Readonly<Record<string, string | readonly string[]>>;
  readonly channel: string;
  /** Undefined: as is usual for where the alert came from. */
  readonly triage?: boolean | undefined;
  /** A model looks into each new group. */
  readonly investigate?: boolean | undefined;
  readonly mention: readonly string[];
  readonly rule: GroupRule;
}

export interface Routed {
  readonly route: AlertRoute;
  readonly alerts: readonly Alert[];
}

/** Each alert by the first route that it matches, and those that match none. */
export function routed(
  routes: readonly AlertRoute[],
  source: string,
  alerts: readonly Alert[],
): { routed: Routed[]; stray: Alert[] } {
  const byRoute = new Map<AlertRoute, Alert[]>();
  const stray: Alert[] = [];
  for (const alert of alerts) {
    const route = routes.find(({ match }) => matches(match, source, alert));
    if (route === undefined) stray.push(alert);
    else byRoute.set(route, [...(byRoute.get(route) ?? []), alert]);
  }
  return {
    routed: [...byRoute].map(([route, its]) => ({ route, alerts: its })),
    stray,
  };
}

/** Whether an alert's labels, name and source are as the patterns say. */
export function matches(
  match: AlertRoute["match"],
  source: string,
  { name, labels }: Alert,
): boolean {
  const said: Readonly<Record<string, string>> = { ...labels, alertname: name, source };
  return Object.entries(match).every(([label, wanted]) =>
    [wanted].flat().some((glob) => globMatches(glob, said[label] ?? "")),
  );
}
