import type { LabelName } from "./label-names.ts";

/** Labels that show that two alerts have one cause, the most telling first. Groups in old journals stand by this order. */
export const ALERT_PLACES = [
  "service",
  "kube_service",
  "app",
  "deployment",
  "namespace",
  "kube_namespace",
  "node",
  "instance",
  "host",
  "cluster",
] as const satisfies readonly LabelName[];

type Labels = Readonly<Record<string, string>>;

/** The most telling label that all of them have alike, such as `service=checkout`; undefined: none is. */
export function sharedPlace([first, ...others]: readonly { readonly labels: Labels }[]):
  | string
  | undefined {
  const label = ALERT_PLACES.find(
    (each) =>
      first?.labels[each] !== undefined &&
      others.every(({ labels }) => labels[each] === first.labels[each]),
  );
  return label && `${label}=${first?.labels[label] ?? ""}`;
}
