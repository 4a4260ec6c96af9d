import type { JsonObject } from "../../core/entry.ts";
import { BotError, messageOf } from "../../core/errors.ts";
import type { Gap } from "../../core/finding.ts";
import { counted } from "../../core/text.ts";
import type { Change, Changes, ChangeSource, Window } from "../change.ts";
import { clip } from "../labels.ts";
import type { ToolContext } from "../tool.ts";
import { type Api, createApi } from "./client.ts";
import { endpointsOf } from "./cluster-tool.ts";
import { changeLines } from "./differences.ts";
import { eventTime, foldEvents } from "./event-lines.ts";
import { createInstance } from "./instance.ts";
import { builtIn, type Kind, refOf } from "./kinds.ts";
import type { ClusterConfig } from "./kubeconfig.ts";
import { controllerOf, isObject, nameOf, namespaceOf, objectAt, textAt } from "./objects.ts";
import { isRefusal } from "./refusal.ts";
import { revisionOf } from "./workloads.ts";

/** What changed in clusters: rollouts with what is other in them, objects that somebody set, and what happened to nodes. */

/** Objects that somebody's hand or pipeline sets. Not Secrets: the bot needs no right to list them. */
const SET = [
  "deployments",
  "statefulsets",
  "daemonsets",
  "cronjobs",
  "configmaps",
  "services",
  "ingresses",
  "horizontalpodautoscalers",
  "networkpolicies",
].map(builtIn);
const REPLICA_SETS = builtIn("replicasets");
const EVENTS = builtIn("events");
/** Events that are changes themselves; others are what comes of them. */
const TELLING = new Set([
  "Rebooted",
  "NodeNotReady",
  "NodeNotSchedulable",
  "NodeHasDiskPressure",
  "NodeHasInsufficientMemory",
  "SuccessfulRescale",
]);
/** Set the fields of others all the time. */
const CONTROLLERS =
  /^(?:kube-controller-manager|kube-scheduler|kubelet|k3s|rke2|cloud-controller-manager)$/;
const MAX_ITEMS = 5_000;
const MAX_TEXT = 240;

export function changeSource({
  clusters,
  current,
}: {
  clusters: readonly ClusterConfig[];
  current: string;
}): ChangeSource {
  const instances = clusters.map((config) => createInstance(config));
  return {
    name: "kubernetes",
    endpoints: endpointsOf({ instances, current }),
    async changes(window, ctx) {
      const seen = await Promise.all(
        instances.map(async (instance): Promise<Changes> => {
          try {
            return await changesIn(createApi(instance, ctx), window, ctx);
          } catch (error) {
            if (ctx.signal.aborted || !(error instanceof BotError || isRefusal(error))) throw error;
            const what = `changes in the cluster ${instance.name}`;
            const gap = { what, why: messageOf(error).replace(/\.$/, ""), help: "Ask again." };
            return { changes: [], gaps: [gap] };
          }
        }),
      );
      return {
        changes: seen.flatMap(({ changes }) => changes),
        gaps: seen.flatMap(({ gaps }) => gaps),
      };
    },
  };
}

async function changesIn(api: Api, window: Window, ctx: ToolContext): Promise<Changes> {
  const gaps: Gap[] = [];
  const [sets, events, ...objects] = await Promise.all([
    api.see(REPLICA_SETS, gaps, { max: MAX_ITEMS }),
    api.see(EVENTS, gaps, { max: MAX_ITEMS }),
    ...SET.map((kind) => api.see(kind, gaps, { max: MAX_ITEMS, keep: setTimes })),
  ]);
  const rollouts = rolloutsIn(sets, window, ctx).map((each) => placed(each, api));
  const rolled = new Set(rollouts.map(({ about }) => about[0]));
  const others = objects.flatMap((all, index) => {
    const kind = SET[index];
    return kind === undefined ? [] : all.flatMap((object) => setIn(kind, object, window));
  });
  return {
    changes: [
      ...rollouts,
      // A rollout tells more of the same.
      ...others.filter(({ about }) => !rolled.has(about[0])).map((each) => placed(each, api)),
      ...eventsIn(events, window, ctx).map((each) => placed(each, api)),
    ],
    gaps: foldedGaps(gaps),
  };
}

type Found = Omit<Change, "where" | "isLive">;

function placed(found: Found, api: Api): Change {
  return { ...found, where: `kubernetes ${api.instance}`, isLive: true };
}

const within = (at: number, { from, to }: Window) => at >= from && at <= to;

/** Deployments' new replica sets, against the one before. */
function rolloutsIn(
  sets: readonly JsonObject[],
  window: Window,
  { encoder }: ToolContext,
): Found[] {
  const owned = sets.filter((set) => textAt(controllerOf(set), "kind") === "Deployment");
  const byOwner = Map.groupBy(owned, (set) => textAt(controllerOf(set), "uid"));
  return [...byOwner.values()].flatMap((all) => {
    const ordered = all.toSorted((a, b) => revisionOf(b) - revisionOf(a));
    return ordered.flatMap((set, index) => {
      const at = Date.parse(textAt(set, "metadata", "creationTimestamp"));
      if (!within(at, window)) return [];
      const name = textAt(controllerOf(set), "name");
      const older = ordered[index + 1];
      const lines =
        older === undefined
          ? ["first rollout"]
          : changeLines(templateOf(older), templateOf(set)).map((line) =>
              line.replace(/^spec\.containers\[([^\]]+)\]\./, "$1 "),
            );
      const more = lines.length > 3 ? `; and ${lines.length - 3} more` : "";
      const what = clip(lines.slice(0, 3).join("; "), MAX_TEXT, encoder);
      const cause = textAt(set, "metadata", "annotations", "kubernetes.io/change-cause");
      const why = cause === "" ? "" : ` (${JSON.stringify(clip(cause, 100, encoder))})`;
      return [
        {
          at,
          text: `rollout of ${namespaceOf(set)}/deployment/${name}, revision ${revisionOf(set)}: ${what || "the same template"}${more}${why}`,
          about: [`${namespaceOf(set)}/deployment/${name}`, name, namespaceOf(set)],
        },
      ];
    });
  });
}

function templateOf(set: JsonObject): JsonObject {
  const { metadata, ...template } = objectAt(set, "spec", "template");
  void metadata;
  return template;
}

/** Who set fields of it last, besides the controllers; kept with its name only. */
function setTimes(object: JsonObject, managed: readonly JsonObject[]): JsonObject {
  const last = managed
    .filter(
      (entry) =>
        entry["subresource"] === undefined &&
        !CONTROLLERS.test(textAt(entry, "manager")) &&
        setsMore(entry),
    )
    .toSorted((a, b) => Date.parse(textAt(b, "time")) - Date.parse(textAt(a, "time")))[0];
  const { name = "", namespace = "", creationTimestamp = "" } = objectAt(object, "metadata");
  return {
    metadata: { name, namespace, creationTimestamp },
    changed: textAt(last, "time"),
    manager: textAt(last, "manager"),
  };
}

/** Before 1.22 notes on the status looked like the others. */
function setsMore(entry: JsonObject): boolean {
  const fields = entry["fieldsV1"];
  return isObject(fields) && Object.keys(fields).some((key) => key !== "f:status");
}

function setIn(kind: Kind, object: JsonObject, window: Window): Found[] {
  if (nameOf(object) === "kube-root-ca.crt") return [];
  const created = Date.parse(textAt(object, "metadata", "creationTimestamp"));
  const changed = Date.parse(textAt(object, "changed"));
  const by = textAt(object, "manager") || undefined;
  const place = `${namespaceOf(object)}/${refOf(kind.kind, nameOf(object))}`;
  const about = [place, nameOf(object), namespaceOf(object)];
  const found = { text: `${place} created`, at: created, about };
  // Who created it is not known any more once somebody else has set the same fields.
  const times =
    changed > created
      ? [found, { text: `${place} changed`, at: changed, about, by }]
      : [{ ...found, by }];
  return times.filter(({ at }) => within(at, window));
}

function eventsIn(
  events: readonly JsonObject[],
  window: Window,
  { encoder }: ToolContext,
): Found[] {
  const telling = events.filter(
    (event) => TELLING.has(textAt(event, "reason")) && within(eventTime(event), window),
  );
  return foldEvents(telling).map(({ reason, message, count, last, objects, namespaces }) => {
    const names = objects.slice(0, 3).join(", ");
    const more = objects.length > 3 ? ` and ${objects.length - 3} more` : "";
    const times = count > 1 ? ` ×${count}` : "";
    return {
      at: last,
      text: `${names}${more}: ${reason}${times}: ${clip(message, 160, encoder)}`,
      about: [...objects.map((each) => each.replace(/^.*\//, "")), ...namespaces],
    };
  });
}

/** The same reason once: a role that lacks one list mostly lacks several. */
function foldedGaps(gaps: readonly Gap[]): Gap[] {
  if (gaps.length < 4) return [...gaps];
  const [first] = gaps;
  return first === undefined
    ? []
    : [{ ...first, what: `${first.what} and ${counted(gaps.length - 1, "other list")}` }];
}
