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

/** The tool that the command `approvals` runs. */
export const APPROVAL_LIST = "approval_list";

/**
 * How people are answered whose own call went well, instead of with its output. `text`: by its text, whose links can be
 * followed. `did`: by what it did to an incident, in a word; the incident's card shows the rest.
 */
export type AnsweredBy = { kind: "text" } | { kind: "card"; did: string };

/** The name by which a model says nothing where people write to each other: no tool of people's, and never run. */
export const STAY_SILENT = "stay_silent";

export const STAY_SILENT_SPEC: ToolSpec = {
  name: STAY_SILENT,
  description:
    "Says nothing and ends your turn, when the newest lines are people talking to each other and need nothing of you. Call it alone, first, without text. Never when somebody mentioned you or asked you something.",
  schema: { type: "object", properties: {}, additionalProperties: false },
};
