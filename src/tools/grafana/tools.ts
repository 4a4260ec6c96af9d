import type { Tool } from "../tool.ts";
import { createAnnotate, createAnnotations, createMark, createRemove } from "./annotations.ts";
import type { Instances } from "./boards.ts";
import { createPanel } from "./panel.ts";
import { createPanels, createSearch } from "./reads.ts";

/** Every tool of Grafana, for these servers. */
export function createGrafanaTools(instances: Instances, marksActions: boolean): readonly Tool[] {
  return [
    createSearch(instances),
    createPanels(instances),
    createPanel(instances),
    createAnnotations(instances),
    { ...createAnnotate(instances), ...(marksActions && { mark: createMark(instances) }) },
    createRemove(instances),
  ];
}
