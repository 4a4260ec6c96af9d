import * as z from "zod";
import type { Tool } from "../tool.ts";
import type { Api } from "./client.ts";
import { type Clusters, defineRead, namespaceArgument, objectName } from "./cluster-tool.ts";
import { cell, firstLines } from "./format.ts";
import { kindArgument } from "./get.ts";
import type { Kind } from "./kinds.ts";
import { listAt, objectAt, textAt, textsAt } from "./objects.ts";

function review(kind: string, plural: string): Kind {
  return {
    kind,
    plural,
    group: "authorization.k8s.io",
    versions: ["v1"],
    namespaced: false,
    names: [],
  };
}

const SELF_ACCESS = review("SelfSubjectAccessReview", "selfsubjectaccessreviews");
const SELF_RULES = review("SelfSubjectRulesReview", "selfsubjectrulesreviews");

interface Question {
  verb: string;
  kind: Kind;
  subresource?: string | undefined;
  namespace?: string | undefined;
  name?: string | undefined;
}

interface Verdict {
  allowed: boolean;
  /** The authorizer's own words, often none. */
  reason: string;
}

/** Whether this program may do that. */
async function mayI(
  api: Api,
  { verb, kind, subresource, namespace, name }: Question,
): Promise<Verdict> {
  const resourceAttributes = {
    verb,
    group: kind.group,
    resource: kind.plural,
    ...(subresource !== undefined && { subresource }),
    ...(kind.namespaced && namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  };
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: SELF_ACCESS.kind,
    spec: { resourceAttributes },
  };
  const { status } = await api.write({ kind: SELF_ACCESS }, { method: "POST", body });
  return { allowed: objectAt(status)["allowed"] === true, reason: textAt(status, "reason") };
}

const MAX_RULES = 60;

/** `kubectl auth can-i`. */
export function createAccess(clusters: Clusters): Tool {
  return defineRead(clusters, {
    name: "kubernetes_access",
    summary: "tells what the bot may do in a cluster (`kubectl auth can-i`)",
    description:
      "Whether this bot may do something in the cluster, or without verb and kind all that it may do in a namespace.",
    shape: {
      verb: z
        .string()
        .max(30)
        .regex(/^[a-z*]+$/, "expected a verb such as get or patch")
        .optional(),
      kind: kindArgument.optional(),
      subresource: z
        .string()
        .max(30)
        .regex(/^[a-z]+$/, "expected a subresource such as log")
        .optional(),
      name: objectName.optional(),
      namespace: namespaceArgument.optional(),
    },
    doing: () => "Looking at what I may do in the cluster",
    async run({ verb, kind: written, subresource, name, namespace }, api) {
      if (verb === undefined || written === undefined)
        return { text: await allRules(api, namespace) };
      const kind = await api.kind(written);
      const { allowed, reason } = await mayI(api, { verb, kind, subresource, namespace, name });
      const resource = `${kind.plural}${kind.group === "" ? "" : `.${kind.group}`}${subresource === undefined ? "" : `/${subresource}`}`;
      const where = kind.namespaced
        ? namespace === undefined
          ? " in all namespaces"
          : ` in namespace ${namespace}`
        : "";
      const why = reason === "" ? "" : ` (${cell(reason)})`;
      return {
        text: `${allowed ? "Yes" : "No"}: ${verb} ${resource}${name === undefined ? "" : ` ${name}`}${where}${why}`,
      };
    },
  });
}

async function allRules(api: Api, given: string | undefined): Promise<string> {
  const namespace = given ?? (api.namespace || "default");
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: SELF_RULES.kind,
    spec: { namespace },
  };
  const { status } = await api.write({ kind: SELF_RULES }, { method: "POST", body });
  const lines = listAt(status, "resourceRules").map((rule) => {
    const groups = textsAt(rule, "apiGroups").filter((group) => group !== "");
    const suffix = groups.length === 0 ? "" : ` (${groups.join(", ")})`;
    const names = textsAt(rule, "resourceNames");
    const only = names.length === 0 ? "" : ` named ${names.join(", ")}`;
    return `${textsAt(rule, "verbs").join(",")}: ${textsAt(rule, "resources").join(", ")}${suffix}${only}`;
  });
  const isPart =
    objectAt(status)["incomplete"] === true ? " (the server could not tell all of it)" : "";
  return [
    `May in namespace ${namespace}${isPart}:`,
    ...firstLines([...new Set(lines)], MAX_RULES, "rules"),
  ].join("\n");
}
