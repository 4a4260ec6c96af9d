import type { JsonObject } from "./entry.ts";

export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the arguments, draft 2020-12. */
  schema: JsonObject;
}

/** The name by which a model calls a tool that its requests do not describe: such a call is that tool's own in every way. */
export const USE_TOOL = "use_tool";

export const USE_TOOL_SPEC: ToolSpec = {
  name: USE_TOOL,
  description:
    "Calls a tool that find_tools told you of. The call is that tool's own: the same rules, cards and results.",
  schema: {
    type: "object",
    properties: {
      tool: { type: "string", description: "The tool's name" },
      arguments: {
        type: "object",
        description: "Its arguments, by the schema that find_tools gave",
      },
    },
    required: ["tool", "arguments"],
    additionalProperties: false,
  },
};

/** The tool that `approvals` runs: its result is said as an answer, whose links can be followed, and not shown as output. */
export const APPROVAL_LIST = "approval_list";

/** What the tools that record an incident did, in a word. The incident's card shows the record. */
export const RECORDED: Readonly<Record<string, string>> = {
  incident_open: "Opened",
  incident_update: "Updated",
  incident_resolve: "Resolved",
};

/** The name by which a model says nothing where people write to each other: no tool of people's, and never run. */
export const STAY_SILENT = "stay_silent";

export const STAY_SILENT_SPEC: ToolSpec = {
  name: STAY_SILENT,
  description:
    "Says nothing and ends your turn, when the newest lines are people talking to each other and need nothing of you. Call it alone, first, without text. Never when somebody mentioned you or asked you something.",
  schema: { type: "object", properties: {}, additionalProperties: false },
};
