import type { Obj } from "./resources.ts";
import { type Answer, badRequest } from "./status.ts";

export const LOGS_KEY = (namespace: string, pod: string, container: string, previous: boolean) =>
  `${namespace}/${pod}/${container}${previous ? "/previous" : ""}`;

/** What a kubelet gives, by way of the API server. `pod`: the one that is asked about. */
export function logOf(url: URL, pod: Obj, logs: ReadonlyMap<string, string>): Answer {
  const { name, namespace } = pod["metadata"];
  const names: string[] = [...(pod["spec"].initContainers ?? []), ...pod["spec"].containers].map(
    (each: Obj) => each["name"],
  );
  const container =
    url.searchParams.get("container") ?? (names.length === 1 ? names[0] : undefined);
  if (container === undefined)
    return badRequest(
      `a container name must be specified for pod ${name}, choose one of: [${names.join(" ")}]`,
    );
  if (!names.includes(container))
    return badRequest(`container ${container} is not valid for pod ${name}`);
  const previous = url.searchParams.get("previous") === "true";
  const text = logs.get(LOGS_KEY(namespace, name, container, previous));
  if (text === undefined)
    return badRequest(
      previous
        ? `previous terminated container "${container}" in pod "${name}" not found`
        : `container "${container}" in pod "${name}" is waiting to start: ContainerCreating`,
    );
  const since = url.searchParams.get("sinceTime") ?? "";
  const lines = text.split("\n").filter((line) => line !== "" && line >= since);
  const tail = Number(url.searchParams.get("tailLines") ?? lines.length);
  const limit = Number(url.searchParams.get("limitBytes") ?? Number.POSITIVE_INFINITY);
  const stamped = url.searchParams.get("timestamps") === "true";
  const shownLines = lines.slice(-tail).map((line) => (stamped ? line : line.replace(/^\S+ /, "")));
  const body = Buffer.from(shownLines.map((line) => `${line}\n`).join("")).subarray(0, limit);
  return { status: 200, body: body.toString(), type: "text/plain" };
}
