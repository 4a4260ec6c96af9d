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

/** The tool by which a model keeps a plan: no tool of people's, and nothing of it happens outside the thread. */
/** Keeps an answer as a case of an evaluation. */
export const SAVE_EVAL = "save_eval";

export const UPDATE_PLAN = "update_plan";

export const UPDATE_PLAN_SPEC: ToolSpec = {
  name: UPDATE_PLAN,
  description:
    "Keeps your plan for work of five steps or more; people see it while you work. Call it with the whole plan: before you begin, whenever a step is done, and when what you find changes the way. Each step says what shows that it is done, a step comes after those it needs, and the last one checks the outcome. For ten steps or more put parts below a step (parent). One step is in progress at a time. If a step fails, plan another way, or say what people have to do. Not for a question that one or two checks answer.",
  schema: {
    type: "object",
    properties: {
      tasks: {
        type: "array",
        minItems: 1,
        maxItems: 50,
        items: {
          type: "object",
          properties: {
            id: { type: "string", description: "Its number, such as 2 or 2.1" },
            content: { type: "string", description: "What is done, in a few words" },
            criterion: { type: "string", description: "What shows that it is done" },
            status: { type: "string", enum: ["pending", "in_progress", "completed"] },
            parent: {
              type: "string",
              description: "The id of the step above that it is a part of",
            },
          },
          required: ["content", "status"],
          additionalProperties: false,
        },
      },
    },
    required: ["tasks"],
    additionalProperties: false,
  },
};

/** The tool by which a model asks for a helper: a run of its own, whose report is the call's result. */
export const DELEGATE = "delegate";

/** The tool by which a model asks people a question. */
export const ASK_USER = "ask_user";

/** The tool that finds those which requests do not describe. */
export const FIND_TOOLS = "find_tools";

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
