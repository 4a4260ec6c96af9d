import * as z from "zod";
import { noSuch } from "../../core/suggest.ts";
import type { Tool } from "../tool.ts";
import { refused } from "../refusal.ts";
import { defineChange, fromBefore } from "./change-tool.ts";
import { type Clusters, namespaceArgument } from "./cluster-tool.ts";
import { builtIn, type Kind } from "./kinds.ts";
import { nameOf, namespaceOf, textAt, uidOf } from "./objects.ts";
import { ROLLED_OUT, statusText } from "./rollout.ts";
import { replacing } from "./surroundings.ts";
import {
  containersOf,
  findWorkload,
  refText,
  type Workload,
  workloadArgument,
} from "./workloads.ts";

const KINDS: readonly Kind[] = [...ROLLED_OUT, builtIn("cronjobs")];

function imageOf(workload: Workload, container: string | undefined): string {
  const own = containersOf(workload).find((each) => textAt(each, "name") === container);
  return textAt(own, "image");
}

export function createSetImage(clusters: Clusters): Tool {
  return defineChange(clusters, {
    name: "kubernetes_set_image",
    summary: "sets the image of a workload's container",
    description:
      "Sets the image of a container in a deployment, stateful set, daemon set or cron job, which rolls it out.",
    effect: "write",
    title: (input) =>
      `Set the image of ${input.container ?? "the container"} in ${input.workload} of ${input.namespace}${fromBefore(input, "image")} to ${input.image}`,
    shape: {
      workload: workloadArgument,
      namespace: namespaceArgument,
      container: z.string().max(63).optional().describe("Not needed where there is one"),
      image: z
        .string()
        .max(500)
        .regex(/^[\w][\w.:/@-]*$/, "expected an image such as registry.example.com/web:1.4.2"),
    },
    find: ({ workload, namespace }, api) => findWorkload(api, workload, namespace, KINDS),
    async settle({ input, workload }) {
      const names = containersOf(workload).map((each) => textAt(each, "name"));
      const container = input.container ?? names[0] ?? "";
      if (input.container === undefined && names.length > 1)
        throw refused(
          `${refText(workload)} has several containers: ${names.join(", ")}. Name one.`,
        );
      if (!names.includes(container)) throw refused(noSuch("container", container, names));
      return { workload: refText(workload), container };
    },
    values: async ({ input, workload }) => ({ image: imageOf(workload, input.container) }),
    async check({ input, workload }) {
      if (imageOf(workload, input.container) === input.image)
        throw refused(`${refText(workload)} has the image ${input.image} already.`);
    },
    async request({ input, workload: { kind, object } }) {
      const template = {
        spec: { containers: [{ name: input.container ?? "", image: input.image }] },
      };
      const spec = kind.kind === "CronJob" ? { jobTemplate: { spec: { template } } } : { template };
      const place = { kind, namespace: namespaceOf(object), name: nameOf(object) };
      return {
        place,
        write: {
          method: "PATCH",
          type: "strategic",
          body: { metadata: { uid: uidOf(object) }, spec },
        },
      };
    },
    blast: async ({ workload }) =>
      workload.kind.kind === "CronJob"
        ? "Its next jobs run the new image; what runs now is left alone."
        : replacing(workload),
    async verify({ input, workload }) {
      if (workload === undefined)
        return { verdict: "unknown", evidence: `${input.workload} is not there any more.` };
      const image = imageOf(workload, input.container);
      const state = workload.kind.kind === "CronJob" ? "" : ` ${statusText(workload)}`;
      return {
        verdict: image === input.image ? "done" : "not done",
        evidence: `Its image is ${image}.${state}`,
      };
    },
    undoText: ({ before }) => `Sets the image back to ${JSON.stringify(before?.values["image"])}.`,
    undo: ({ image }, before) => ({ args: { image: before["image"] ?? "" }, values: { image } }),
  });
}
