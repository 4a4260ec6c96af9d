import type { Tool } from "../tool.ts";
import { createAnnotate, createAnnotations, createRemove } from "./annotations.ts";
import type { Instances } from "./boards.ts";
import { createPanel } from "./panel.ts";
import { createPanels, createSearch } from "./reads.ts";

/** Every tool of Grafana, for these servers. */
export function createGrafanaTools(instances: Instances): readonly Tool[] {
  return [
    createSearch(instances),
    createPanels(instances),
    createPanel(instances),
    createAnnotations(instances),
    createAnnotate(instances),
    createRemove(instances),
  ];
}
