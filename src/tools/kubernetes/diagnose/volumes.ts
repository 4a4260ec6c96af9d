import { ageMs, nameOf, timeOf, type Cluster, type SeenEvent } from "./cluster.ts";
import { cut, found, perWorkload, type Analyzer, type Found, type Problem } from "./found.ts";
import type { Pod } from "./objects.ts";
import type { PersistentVolume, VolumeClaim } from "./resources.ts";
import { quantity } from "./quantity.ts";
import { selects, showLabels } from "./selectors.ts";

/** Claims that are not bound, and volumes that cannot be attached or mounted. */
export const volumes: Analyzer = {
  name: "volumes",
  look: (cluster) => [
    ...cluster.list("persistentvolumeclaims").flatMap((claim) => lookAtClaim(cluster, claim)),
    ...perWorkload(cluster, (pod, workload) => unmounted(cluster, pod, workload)),
  ],
};

function lookAtClaim(cluster: Cluster, claim: VolumeClaim): Found[] {
  const phase = claim.status?.phase;
  if (phase === "Bound" || phase === undefined || ageMs(cluster, claim) < PATIENCE_MS) return [];
  const users = cluster.workloads.filter(({ pods }) => pods.some((pod) => mounts(pod, claim)));
  const why = phase === "Lost" ? lost(claim) : unbound(cluster, claim, users.length > 0);
  if (why === undefined) return [];
  const { cause, fix, seen, restsOn } = why;
  const wanting = users.map(({ kind, name }) => `${kind} ${name}`).join(", ");
  const object = { kind: "PersistentVolumeClaim", name: nameOf(claim) };
  const [user] = users;
  // What stops one workload is told of that one; what several wait for is told of itself.
  const isOwn = user !== undefined && users.length === 1;
  return [
    found(cluster, isOwn ? user : object, {
      cause: isOwn ? `PersistentVolumeClaim ${object.name} is not bound: ${cause}` : cause,
      evidence: `The claim is ${phase}${wanting === "" ? "" : `; ${wanting} waits for it`}. ${wants(claim)}.${seen === undefined ? "" : ` ${seen}`}`,
      fix,
      severity: users.length > 0 || phase === "Lost" ? "error" : "warning",
      since: claim.metadata?.creationTimestamp ?? null,
      weight: 88,
      breaks: [cluster.key(object.kind, object.name), ...users.map(({ key }) => key)],
      ...(restsOn !== undefined && { restsOn }),
    }),
  ];
}

const PATIENCE_MS = 20_000;

function mounts(pod: Pod, claim: VolumeClaim): boolean {
  return (pod.spec?.volumes ?? []).some(
    ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === nameOf(claim),
  );
}

/** What it asks for, in a few words. */
function wants({ spec }: VolumeClaim): string {
  const size = spec?.resources?.requests?.["storage"] ?? "?";
  const modes = (spec?.accessModes ?? []).join(", ");
  return `It asks for ${size}, ${modes}, class ${classOf(spec?.storageClassName)}`;
}

function classOf(name: string | null | undefined): string {
  return name === undefined || name === null ? "(default)" : `"${name}"`;
}

interface Why {
  cause: string;
  fix?: string | undefined;
  seen?: string;
  restsOn?: readonly string[];
}

function lost(claim: VolumeClaim): Why {
  return {
    cause: `Lost: PersistentVolume ${claim.spec?.volumeName} that the claim was bound to no longer exists`,
    fix: "Restore the volume, or make a new claim from a backup.",
  };
}

/** Why a claim stays Pending; undefined: it is only waiting for its pod's node, or was made just now. */
function unbound(cluster: Cluster, claim: VolumeClaim, isUsed: boolean): Why | undefined {
  const events = cluster.eventsOf("PersistentVolumeClaim", nameOf(claim));
  const failed = events.find(({ type, reason }) => type === "Warning" && /Failed/.test(reason));
  const named = claim.spec?.volumeName;
  const all = cluster.list("persistentvolumes");
  if (named !== undefined && named !== "" && cluster.sees("persistentvolumes")) {
    const volume = all.find((one) => nameOf(one) === named);
    return volume === undefined
      ? { cause: `persistentvolume "${named}" not found`, fix: "Create it, or correct volumeName." }
      : mismatch(claim, [volume]);
  }
  const wanted = claim.spec?.storageClassName ?? defaultClass(cluster);
  const storageClass = cluster.list("storageclasses").find((one) => nameOf(one) === wanted);
  const isStatic =
    wanted === "" ||
    storageClass === undefined ||
    /no-provisioner/.test(storageClass.provisioner ?? "");
  if (!isStatic) return dynamic(storageClass, failed, events, isUsed);
  const candidates = mismatch(claim, all);
  const hasVolumes = all.some(({ spec }) => spec?.storageClassName === wanted);
  if (wanted === undefined && cluster.sees("storageclasses"))
    return {
      cause: "no persistent volumes available for this claim and no storage class is set",
      fix: "Set storageClassName, mark a StorageClass as default, or create a matching volume.",
      ...(candidates !== undefined && { seen: candidates.cause }),
    };
  if (storageClass === undefined && wanted !== "" && !hasVolumes && cluster.sees("storageclasses"))
    return {
      cause: `storageclass.storage.k8s.io "${wanted}" not found${candidates?.isClassOnly === true ? `: ${candidates.cause}` : ""}`,
      fix: `Create StorageClass ${wanted}, or make the claim again with one of: ${cluster.list("storageclasses").map(nameOf).join(", ") || "(none)"}.`,
    };
  if (candidates !== undefined) return candidates;
  return failed === undefined
    ? { cause: `FailedBinding: no persistent volume of class "${wanted}" is available` }
    : { cause: `${failed.reason}: ${failed.message}` };
}

function defaultClass(cluster: Cluster): string | undefined {
  return cluster
    .list("storageclasses")
    .filter(
      ({ metadata }) =>
        metadata?.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true",
    )
    .map(nameOf)[0];
}

function dynamic(
  storageClass: { provisioner?: string; volumeBindingMode?: string },
  failed: SeenEvent | undefined,
  events: readonly SeenEvent[],
  isUsed: boolean,
): Why | undefined {
  if (failed !== undefined)
    return {
      cause: `${failed.reason}: ${cut(failed.message, 260)}`,
      seen: `Seen ×${failed.count}.`,
    };
  const { provisioner = "", volumeBindingMode } = storageClass;
  const waits = events.find(({ reason }) => reason === "ExternalProvisioning");
  if (waits !== undefined && waits.count > 3)
    return {
      cause: `ExternalProvisioning: provisioner ${provisioner} creates no volume`,
      seen: `${waits.message} (×${waits.count}).`,
      fix: `Check that the controller of ${provisioner} runs.`,
    };
  if (volumeBindingMode === "WaitForFirstConsumer" || !isUsed) return undefined;
  return {
    cause: `no volume was made by provisioner ${provisioner}`,
    fix: `Check that the controller of ${provisioner} runs.`,
  };
}

/** What the nearest volume lacks. `isClassOnly`: nothing but the class. */
function mismatch(
  claim: VolumeClaim,
  all: readonly PersistentVolume[],
): (Why & { isClassOnly: boolean }) | undefined {
  const judged = all
    .map((volume) => ({ volume, lacks: lacksOf(claim, volume) }))
    .filter(({ lacks }) => lacks.length > 0)
    .toSorted((a, b) => a.lacks.length - b.lacks.length);
  const [nearest] = judged;
  if (nearest === undefined) return undefined;
  const { volume, lacks } = nearest;
  return {
    cause: `FailedBinding: PersistentVolume ${nameOf(volume)} does not match: ${lacks.map(({ text }) => text).join("; ")}`,
    fix: "Correct the claim or the volume: class, access mode, size, selector and mode have to match.",
    isClassOnly: lacks.every(({ kind }) => kind === "class"),
  };
}

function lacksOf(claim: VolumeClaim, volume: PersistentVolume): { kind: string; text: string }[] {
  const { spec = {} } = claim;
  const offered = volume.spec ?? {};
  const lacks: { kind: string; text: string }[] = [];
  const lack = (kind: string, text: string) => lacks.push({ kind, text });
  const taken = offered.claimRef;
  const isOurs =
    taken?.name === claim.metadata?.name &&
    taken?.namespace === claim.metadata?.namespace &&
    (taken?.uid === undefined ||
      claim.metadata?.uid === undefined ||
      taken.uid === claim.metadata.uid);
  if (taken !== null && taken !== undefined && !isOurs)
    lack(
      "claim",
      `volume is already bound to claim ${taken.namespace}/${taken.name}${volume.status?.phase === "Released" ? " (Released, still has its claimRef)" : ""}`,
    );
  if ((offered.storageClassName ?? "") !== (spec.storageClassName ?? ""))
    lack(
      "class",
      `storage class ${classOf(spec.storageClassName)} is asked for, the volume has "${offered.storageClassName ?? ""}"`,
    );
  const modes = (spec.accessModes ?? []).filter(
    (mode) => !(offered.accessModes ?? []).includes(mode),
  );
  if (modes.length > 0)
    lack(
      "mode",
      `access mode ${modes.join(", ")} is asked for, the volume has ${(offered.accessModes ?? []).join(", ")}`,
    );
  const [size, has] = [spec.resources?.requests?.["storage"], offered.capacity?.["storage"]];
  if (quantity(size) > quantity(has))
    lack("capacity", `capacity ${size} is asked for, the volume has ${has}`);
  const labels = volume.metadata?.labels ?? {};
  if (spec.selector && !selects(spec.selector, labels))
    lack(
      "selector",
      `selector ${showLabels(spec.selector.matchLabels ?? {})} is asked for, the volume has labels ${showLabels(labels) || "(none)"}`,
    );
  if ((spec.volumeMode ?? "Filesystem") !== (offered.volumeMode ?? "Filesystem"))
    lack(
      "volumeMode",
      `volume mode ${spec.volumeMode} is asked for, the volume has ${offered.volumeMode}`,
    );
  return lacks;
}

const MOUNT_REASONS =
  /^(FailedMount|FailedAttachVolume|FailedMapVolume|VolumeResizeFailed|FileSystemResizeFailed)$/;

/** Volumes that the kubelet could not mount. Missing config maps and secrets are told elsewhere. */
function unmounted(cluster: Cluster, pod: Pod, workload: { key: string }): Problem[] {
  if (pod.status?.phase !== "Pending" || (pod.spec?.nodeName ?? "") === "") return [];
  const events = cluster
    .eventsOf("Pod", nameOf(pod))
    .filter(
      ({ reason, message }) =>
        MOUNT_REASONS.test(reason) && !/(?:secret|configmap) (?:"|references)/.test(message),
    );
  // The kubelet sums up what it waits for; the reason is in the event of the volume.
  const event =
    events.find(({ message }) => !/timed out waiting|context deadline/.test(message)) ?? events[0];
  if (event === undefined) return [];
  const waited = cluster.now - timeOf(event.first);
  if (/timed out/.test(event.message) && waited < PATIENCE_MS) return [];
  return [
    {
      id: `${event.reason} ${/Multi-Attach/.exec(event.message)?.[0] ?? event.message.replaceAll(nameOf(pod), "")}`,
      cause: `${event.reason}: ${event.message}`,
      evidence: `On node ${pod.spec?.nodeName}, seen ×${event.count}.`,
      fix: fixOf(event.message),
      since: event.first || null,
      weight: /timed out/.test(event.message) ? 60 : 84,
      ...(/timed out/.test(event.message) && { isGeneral: true as const }),
      restsOn: [
        workload.key,
        ...(pod.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) =>
          claim?.claimName === undefined
            ? []
            : [cluster.key("PersistentVolumeClaim", claim.claimName)],
        ),
      ],
    },
  ];
}

function fixOf(message: string): string | undefined {
  if (/Multi-Attach/.test(message))
    return "A ReadWriteOnce volume is used on one node at a time: let the old pod go (strategy Recreate), or use ReadWriteMany.";
  if (/permission denied|access denied/i.test(message))
    return "Check the export's or share's permissions for the nodes.";
  if (/hostPath type check failed/.test(message))
    return "Create the path on the node, or correct hostPath and its type.";
  return undefined;
}
