import type { Tool } from "../tool.ts";
import { createChange } from "./change.ts";
import { createDiagnose } from "./diagnose.ts";
import type { Endpoints } from "./engine.ts";
import { createReads } from "./reads.ts";

/** Every tool of containers. */
export function createTools(endpoints: Endpoints): readonly Tool[] {
  return [
    createDiagnose(endpoints),
    ...createReads(endpoints),
    createChange(endpoints, "restart"),
    createChange(endpoints, "stop"),
    createChange(endpoints, "start"),
  ];
}
