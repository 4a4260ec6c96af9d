import type { FakeKind } from "./resources.ts";
import { type Answer, UNKNOWN_PATH } from "./status.ts";

/** Which kinds there are, as the API server tells it. */

export function discovery(
  [root, group, short, ...rest]: string[],
  kinds: readonly FakeKind[],
  old: boolean,
): Answer | undefined {
  if (root === "version")
    return {
      status: 200,
      body: { major: "1", minor: old ? "20" : "34", gitVersion: old ? "v1.20.2" : "v1.34.1" },
    };
  if (root === "api" && group === "v1" && short === undefined) {
    const eviction = {
      name: "pods/eviction",
      singularName: "",
      namespaced: true,
      group: "policy",
      version: old ? "v1beta1" : "v1",
      kind: "Eviction",
      verbs: ["create"],
    };
    return {
      status: 200,
      body: {
        kind: "APIResourceList",
        groupVersion: "v1",
        resources: [...kinds.filter((each) => each.group === "").map(resourceOf), eviction],
      },
    };
  }
  if (root === "apis" && group === undefined) {
    const groups = [...new Set(kinds.map((each) => each.group).filter((name) => name !== ""))].map(
      (name) => {
        const version = kinds.find((each) => each.group === name)?.versions[0];
        return { name, preferredVersion: { groupVersion: `${name}/${version}`, version } };
      },
    );
    return { status: 200, body: { kind: "APIGroupList", apiVersion: "v1", groups } };
  }
  if (root === "apis" && short !== undefined && rest.length === 0) {
    const own = kinds.filter((each) => each.group === group && each.versions.includes(short));
    return own.length === 0
      ? UNKNOWN_PATH
      : {
          status: 200,
          body: {
            kind: "APIResourceList",
            groupVersion: `${group}/${short}`,
            resources: own.map(resourceOf),
          },
        };
  }
  return undefined;
}

function resourceOf({ plural, kind, namespaced }: FakeKind): object {
  return {
    name: plural,
    singularName: "",
    namespaced,
    kind,
    verbs: ["get", "list", "patch", "delete"],
    shortNames: kind === "Widget" ? ["wd"] : [],
  };
}
