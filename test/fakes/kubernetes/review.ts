import type { FakeKind } from "./resources.ts";
import { type Access, type Answer, UNKNOWN_RESOURCE } from "./status.ts";

/** What somebody may do themselves. */
export function review(
  { body, user, method }: { body: string; user: string; method: string },
  plural: string,
  { kinds, may }: { kinds: readonly FakeKind[]; may: (access: Access) => boolean },
): Answer {
  if (method !== "POST") return UNKNOWN_RESOURCE;
  const { spec } = JSON.parse(body);
  if (plural === "selfsubjectaccessreviews") {
    const {
      verb,
      group = "",
      resource: name,
      subresource = "",
      namespace = "",
    } = spec.resourceAttributes;
    const kind = kinds.find((each) => each.plural === name && each.group === group);
    const allowed =
      kind !== undefined && may({ user, verb, kind, namespace, name: "", subresource });
    return {
      status: 201,
      body: {
        kind: "SelfSubjectAccessReview",
        apiVersion: "authorization.k8s.io/v1",
        metadata: { creationTimestamp: null },
        spec,
        status: { allowed },
      },
    };
  }
  const verbs = ["get", "list", "patch", "delete"];
  const resourceRules = kinds.flatMap((kind) => {
    const own = verbs.filter((verb) =>
      may({ user, verb, kind, namespace: spec.namespace, name: "", subresource: "" }),
    );
    return own.length === 0
      ? []
      : [{ verbs: own, apiGroups: [kind.group], resources: [kind.plural] }];
  });
  return {
    status: 201,
    body: {
      kind: "SelfSubjectRulesReview",
      apiVersion: "authorization.k8s.io/v1",
      spec,
      status: { resourceRules, nonResourceRules: [], incomplete: false },
    },
  };
}
