import type { SQLInputValue } from "node:sqlite";
import { oneLine } from "../core/text.ts";
import type { Viewer } from "../core/viewer.ts";
import type { Filter } from "./incident.ts";

/** A condition on the catalog's table of incidents, with the values of its `?`s in order. */
export interface Where {
  readonly sql: string;
  readonly given: readonly SQLInputValue[];
}

/** Those in these places, which the viewer may read, and those that were opened in the thread that asks. */
export function visibleTo(viewer: Viewer, places: readonly number[]): Where {
  const read = `place IN (${places.join(", ")})`;
  const own = ownOf(viewer);
  return { sql: `(${read} OR (${own.sql}))`, given: own.given };
}

/** Those that were opened in the thread that asks, if they are public. */
export function ownOf({ thread }: Viewer): Where {
  return thread === undefined
    ? { sql: "FALSE", given: [] }
    : { sql: "public AND thread = ?", given: [thread] };
}

/** All of the filter but its text and limit. */
export function limitedTo({ status, severity, service, period, link, saidIn }: Filter): Where {
  const limits: [string, readonly SQLInputValue[] | undefined][] = [
    ...statusIs(status),
    ["severity = ?", listOf(severity)],
    ["link = ?", listOf(link)],
    ["started >= ? AND started < ?", period && [period.from, period.to]],
    ["said_to >= ? AND said_from <= ?", saidIn && [saidIn.from, saidIn.to]],
    [
      "row IN (SELECT row FROM service WHERE name = ?)",
      listOf(service === undefined ? undefined : oneLine(service).toLowerCase()),
    ],
  ];
  return allOf(...limits.flatMap(([sql, given]) => (given === undefined ? [] : { sql, given })));
}

/** What is mitigated is open too. */
function statusIs(status: Filter["status"]): [string, readonly SQLInputValue[]][] {
  if (status === undefined) return [];
  return status === "open"
    ? [["status IN (?, ?)", ["open", "mitigated"]]]
    : [["status = ?", [status]]];
}

export function allOf(...all: readonly Where[]): Where {
  return {
    sql: all.map(({ sql }) => `(${sql})`).join(" AND ") || "TRUE",
    given: all.flatMap(({ given }) => given),
  };
}

function listOf(value: string | undefined): [string] | undefined {
  return value === undefined ? undefined : [value];
}
