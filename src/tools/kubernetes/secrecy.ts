import type { Json, JsonObject } from "../../core/entry.ts";
import { formatBytes } from "../../core/text.ts";
import { isObject, listAt, mapAt, objectAt, textAt } from "./objects.ts";

/** What of an object nobody gets to see, taken out as soon as it arrives. */

/** `kubectl apply` keeps the whole object in it, a Secret's values too. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * The object as the tools see it: without the values of a Secret, of which names and sizes stay, without the annotation that
 * repeats the object, and without the server's notes on who set which field. `kind`: what it was asked for as; items of a list
 * do not say.
 */
export function cleaned(object: JsonObject, kind = textAt(object, "kind")): JsonObject {
  const metadata = { ...objectAt(object, "metadata") };
  delete metadata["managedFields"];
  if (isObject(metadata["annotations"])) {
    const annotations = { ...metadata["annotations"] };
    delete annotations[LAST_APPLIED];
    metadata["annotations"] = annotations;
  }
  const rest = isObject(object["metadata"]) ? { ...object, metadata } : object;
  return kind === "Secret" ? withoutValues(rest) : rest;
}

function withoutValues(secret: JsonObject): JsonObject {
  const { data, stringData, ...rest } = secret;
  const metadata = { ...objectAt(rest, "metadata") };
  // Tools that make Secrets keep values, or hashes of them, in annotations.
  delete metadata["annotations"];
  const sizes = [
    ...Object.entries(mapAt(data)).map(
      ([key, value]) => [key, Buffer.byteLength(value, "base64")] as const,
    ),
    ...Object.entries(mapAt(stringData)).map(
      ([key, value]) => [key, Buffer.byteLength(value)] as const,
    ),
  ].map(([key, bytes]) => [key, `(hidden, ${formatBytes(bytes)})`]);
  return { ...rest, metadata, data: Object.fromEntries(sizes) };
}

const SECRET_NAME = /pass|pwd|secret|token|credential|api_?key|access_?key|private|auth|dsn/i;

/** What a container's variable is set to, in words: references by name, values of telling names hidden. */
export function envText(variable: JsonObject): string {
  const name = textAt(variable, "name");
  const from = objectAt(variable, "valueFrom");
  const [source = ""] = Object.keys(from);
  if (source === "secretKeyRef" || source === "configMapKeyRef") {
    const what = source === "secretKeyRef" ? "secret" : "configmap";
    return `${name} ← ${what} ${textAt(from, source, "name")}, key ${textAt(from, source, "key")}`;
  }
  if (source === "fieldRef") return `${name} ← ${textAt(from, source, "fieldPath")}`;
  if (source === "resourceFieldRef") return `${name} ← ${textAt(from, source, "resource")}`;
  return `${name}=${shownValue(name, textAt(variable, "value"))}`;
}

function shownValue(name: string, value: string): string {
  if (value === "" || !SECRET_NAME.test(name)) return value;
  return `(hidden, ${value.length} characters)`;
}

/** A pod's or a workload's object with the values of telling variables hidden, for showing it whole. */
export function withoutSecretEnv(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutSecretEnv);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isEnv = key === "env" && listAt(inner).length > 0;
      return [key, isEnv ? listAt(inner).map(hiddenVariable) : withoutSecretEnv(inner)];
    }),
  );
}

function hiddenVariable(variable: JsonObject): JsonObject {
  const { value } = variable;
  if (typeof value !== "string") return variable;
  return { ...variable, value: shownValue(textAt(variable, "name"), value) };
}
