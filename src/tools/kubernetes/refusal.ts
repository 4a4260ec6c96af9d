import type { Gap } from "../../core/finding.ts";
import { type JsonObject } from "../../core/entry.ts";
import { BotError } from "../../core/errors.ts";
import { oneLine, shortened } from "../../core/text.ts";
import { wordOf } from "../decode.ts";
import { objectAt, textAt } from "./objects.ts";

/** What was asked of the API server, for telling which permission is missing. */
export interface Wanted {
  verb: string;
  /** `pods`, `deployments.apps`, `pods/log` */
  resource: string;
  namespace: string;
  name: string;
}

/** A refused object can be told field by field. */
const MAX_SAID = 2_000;

/** The API server answered, and not with what was asked for. */
export class Refusal extends Error {
  readonly status: number;
  /** Kubernetes' own word, such as `Forbidden`, `NotFound`, `Expired`; empty where the server had none. */
  readonly reason: string;
  readonly asked: Wanted;
  /** The API server knows no such kind, rather than no such object. */
  readonly isUnknownKind: boolean;
  /** With an expired list: where it may go on, a little less consistent. */
  readonly next: string;

  constructor(status: number, answer: JsonObject | undefined, text: string, asked: Wanted) {
    const said = textAt(answer, "message") || text.slice(0, 300);
    super(shortened(oneLine(said), MAX_SAID) || `status ${status}`);
    this.name = "Refusal";
    this.status = status;
    this.reason = wordOf(answer?.["reason"]);
    this.asked = asked;
    const details = objectAt(answer, "details");
    this.isUnknownKind =
      status === 404 && textAt(details, "name") === "" && textAt(details, "kind") === "";
    this.next = textAt(answer, "metadata", "continue");
  }
}

export function isRefusal(error: unknown, ...statuses: number[]): error is Refusal {
  return error instanceof Refusal && (statuses.length === 0 || statuses.includes(error.status));
}

function placeOf({ resource, namespace, name }: Wanted): string {
  const where = namespace === "" ? "in all namespaces" : `in namespace ${namespace}`;
  return `${resource}${name === "" ? "" : ` ${name}`} ${where}`;
}

const CLUSTER_WIDE = /^(?:nodes|namespaces|persistentvolumes|storageclasses)\b/;

/** What could not be seen for it, and what would help. */
export function gapOf(refusal: Refusal): Gap {
  const { asked, status, message } = refusal;
  const what = CLUSTER_WIDE.test(asked.resource) ? asked.resource : placeOf(asked);
  if (status === 403) {
    return {
      what,
      why: `forbidden: ${message}`,
      help: `Allow ${asked.verb} on ${asked.resource}.`,
    };
  }
  if (status === 401)
    return { what, why: "the API server takes the credential for nobody's", help: "Renew it." };
  if (refusal.isUnknownKind) return { what, why: "this cluster does not have that kind", help: "" };
  return { what, why: `the API server answered ${status}: ${message}`, help: "Try again." };
}

/** A server that does not answer leaves no gap: there is nothing beside it. */
const SHOWING_NOTHING: ReadonlySet<string> = new Set(["ABORTED", "CONNECTION_FAILED"]);

/** The gap that anything thrown leaves; what ends the call is thrown on. */
export function gapFrom(error: unknown, asked: Wanted): Gap {
  if (isRefusal(error)) return gapOf(error);
  if (error instanceof BotError && !SHOWING_NOTHING.has(error.code)) {
    return {
      what: placeOf(asked),
      why: error.message,
      help: "Try again, with a namespace if there was none.",
    };
  }
  throw error;
}

/** A refusal in a sentence. */
export function refusalText(refusal: Refusal): string {
  const { asked, status, message } = refusal;
  const why = status === 0 ? "" : ` (${[status, refusal.reason].filter(Boolean).join(" ")})`;
  return `The API server refused to ${asked.verb} ${asked.resource}${why}: ${message}`;
}
