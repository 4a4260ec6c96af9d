import type { JsonObject } from "./entry.ts";

export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the arguments, draft 2020-12. */
  schema: JsonObject;
}
