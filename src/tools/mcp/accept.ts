import * as z from "zod";
import { estimateTokens } from "../../core/block.ts";
import type { Json, JsonObject } from "../../core/entry.ts";
import { BotError, messageOf } from "../../core/errors.ts";
import type { Gap } from "../../core/finding.ts";
import { noSuch } from "../../core/suggest.ts";
import { counted } from "../../core/text.ts";
import { cleanText, exactText } from "../../security/sanitize.ts";
import { formHash } from "../../team/tool-forms.ts";
import { toolSpec } from "../input-schema.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import type { Forms, Granted } from "./forms.ts";
import { mismatch } from "./names.ts";
import type { McpServer } from "./servers.ts";
import { outputOf } from "./result.ts";

/** The tools about the servers themselves. */

const LOOK_MS = 40_000;
/** More of them crowd a model's request. */
const MANY_TOOLS = 30;

const pinned = z.string().optional().meta({ internal: true });

/** `mcp accept`: what is other is on the card, and what was on the card is accepted. */
export function createAccept(servers: readonly McpServer[], forms: Forms): Tool {
  const input = z.strictObject({
    server: z.string().meta({ examples: servers.slice(0, 1).map(({ name }) => name) }),
    tool: z
      .string()
      .describe("As the server calls it.")
      .meta({ examples: ["list_issues"] }),
    before: pinned,
    after: pinned,
  });
  type Input = z.infer<typeof input>;

  function grantedOf({ server: name, tool }: Input): Granted {
    const server = servers.find((each) => each.name === name);
    if (server === undefined) {
      const known = servers.map((each) => each.name);
      throw new BotError("INPUT_INVALID", noSuch("server", name, known));
    }
    if (server.settings.tools[tool] === undefined) {
      const known = Object.keys(server.settings.tools);
      throw new BotError("INPUT_INVALID", noSuch("tool", tool, known));
    }
    return { server, tool };
  }

  async function formOf(given: Input, { signal }: ToolContext): Promise<JsonObject> {
    const granted = grantedOf(given);
    const form = await forms.current(granted, signal, 0);
    if (form === undefined)
      throw new BotError("PRECHECK_FAILED", `${given.server} has no tool ${given.tool}.`);
    if (given.after !== undefined && formHash(form) !== given.after)
      throw new BotError("PRECHECK_FAILED", "The server changed the tool once more meanwhile.");
    if (forms.accepted(granted)?.hash === formHash(form))
      throw new BotError(
        "PRECHECK_FAILED",
        `${given.tool} is as it was accepted; nothing is to do.`,
      );
    return form;
  }

  return defineTool({
    name: "mcp_accept",
    summary: "lets a tool of an MCP server be used again after the server changed it",
    description:
      "Accepts the form that a tool of an MCP server has by now, after the server changed it. The card shows what is other.",
    input,
    effect: "write",
    title: ({ server, tool }) => `Accept the new form of ${tool} of ${server}`,
    timeoutMs: LOOK_MS,
    resource: ({ server, tool }) => `mcp form ${server} ${tool}`,
    async pin(given, ctx) {
      const form = await formOf(given, ctx);
      const before = forms.accepted(grantedOf(given))?.hash;
      return { ...given, ...(before !== undefined && { before }), after: formHash(form) };
    },
    precheck: async (given, ctx) => void (await formOf(given, ctx)),
    async preview(given, ctx) {
      const form = await formOf(given, ctx);
      const granted = grantedOf(given);
      const effect = granted.server.settings.tools[given.tool]?.effect ?? "destructive";
      return {
        lines: [
          { label: "MCP server", value: `${granted.server.name}: ${granted.server.identity}` },
          { label: "Granted", value: effect },
          ...differences(forms.accepted(granted)?.form ?? {}, form).map((value) => ({
            label: "Other",
            value,
          })),
        ],
        blastRadius:
          "The bot may call the tool in this form, with the effect that the configuration grants.",
        undo: "Take the tool out of watchkeeper.yaml; the form before can only be accepted when the server has it again.",
      };
    },
    async run(given, ctx) {
      const form = await formOf(given, ctx);
      const { account = "", name = "" } = ctx.asker ?? {};
      await forms.accept(grantedOf(given), { form, by: { account, name }, replaces: given.before });
      const text = `${given.tool} of ${given.server} is used in its new form from now on. Models are told of it from their next run on.`;
      return { text };
    },
  });
}

const MAX_LINES = 30;

/** What of a form is other, a line for each place; nothing of it is left out. */
function differences(before: JsonObject, after: JsonObject): string[] {
  const [was, is] = [flat(before), flat(after)];
  const places = [...new Set([...was.keys(), ...is.keys()])];
  const lines = places.flatMap((place) => {
    const [old, now] = [was.get(place), is.get(place)];
    if (old === now) return [];
    return [`${exactText(place)}: ${shown(old)} → ${shown(now)}`];
  });
  const more = lines.length - MAX_LINES;
  if (more <= 0) return lines;
  return [
    ...lines.slice(0, MAX_LINES),
    `and ${counted(more, "more place")}: ${lines.slice(MAX_LINES).join("; ")}`,
  ];
}

function shown(text: string | undefined): string {
  return text === undefined ? "(nothing)" : exactText(text);
}

/** Each text, number and truth value by its path. */
function flat(value: Json, path = ""): Map<string, string> {
  if (typeof value !== "object" || value === null) return new Map([[path, JSON.stringify(value)]]);
  const inner = Array.isArray(value)
    ? value.map((each, at) => [String(at), each] as const)
    : Object.entries(value);
  return new Map(
    inner.flatMap(([key, each]) => [...flat(each, path === "" ? key : `${path}.${key}`)]),
  );
}

/** `mcp_status`: one identity call for each server, and what there is to know of its tools. */
export function createStatus(
  servers: readonly McpServer[],
  tools: () => readonly Tool[],
  forms: Forms,
): Tool {
  const names = servers.map(({ name }) => name);
  return defineTool({
    name: "mcp_status",
    summary: "tries the MCP servers, and shows their tools, what these may do and what they cost",
    description:
      "Tries the MCP servers that the configuration names: whether they answer, which of their tools are on, which changed, what all of them cost a model's request.",
    input: z.strictObject({
      server: z.enum(names).optional().describe("Which one. Not given: all."),
    }),
    effect: "read",
    doing: () => "Trying the MCP servers",
    timeoutMs: LOOK_MS,
    async run({ server: only }, ctx) {
      const looked = servers.filter(({ name }) => only === undefined || name === only);
      const seen = await Promise.all(
        looked.map((each) => look(each, { tools: tools(), forms, ctx })),
      );
      const failed = seen.some(({ gap }) => gap !== undefined);
      const gaps = seen.flatMap(({ gap }) => (gap === undefined ? [] : [gap]));
      return {
        text: seen.flatMap(({ lines }) => lines).join("\n"),
        gaps,
        ...(failed && { failed }),
      };
    },
  });
}

interface LookParts {
  tools: readonly Tool[];
  forms: Forms;
  ctx: ToolContext;
}

async function look(
  server: McpServer,
  { tools, forms, ctx }: LookParts,
): Promise<{ lines: string[]; gap?: Gap }> {
  const { name, settings, session, identity } = server;
  try {
    const { title, tools: listed } = await session.list(ctx.signal);
    const grants = Object.entries(settings.tools);
    const own = tools.filter(({ description }) => description.startsWith(`[${name}] `));
    const tokens = own.reduce(
      (sum, tool) => sum + estimateTokens(JSON.stringify(toolSpec(tool))),
      0,
    );
    const notes = grants.flatMap(([tool, { effect }]) => {
      const form = listed.get(tool);
      if (form === undefined) return [`${tool}: the server has no such tool`];
      const isOther = forms.accepted({ server, tool })?.hash !== formHash(form);
      const changed = isOther
        ? `${tool}: changed since it was accepted; \`mcp accept ${name} ${tool}\``
        : undefined;
      const doubt = mismatch(form, effect);
      return [changed, doubt && `${tool}: ${doubt}`].filter((note) => note !== undefined);
    });
    const checked = await check(server, ctx);
    const login = await server.loginState?.();
    const off = [...listed.keys()].filter((tool) => settings.tools[tool] === undefined);
    const crowd =
      own.length > MANY_TOOLS ? [`more than ${MANY_TOOLS} tools: name fewer of them`] : [];
    const first = [
      `${name}: ${cleanText(title)} answers; ${own.length} of ${counted(listed.size, "tool")} on, about ${tokens} tokens`,
      ...(login === undefined ? [] : [login]),
      ...checked,
      ...crowd,
      ...notes,
    ].join("; ");
    const offText =
      off.length === 0 ? [] : [`  off: ${off.slice(0, 60).map(exactText).join(", ")}`];
    return { lines: [first, `  ${identity}`, ...offText] };
  } catch (error) {
    const why = messageOf(error);
    const gap = {
      what: `the MCP server ${name}`,
      why,
      help: "check its address or program, and its credentials",
    };
    return { lines: [`${name}: ${why}`], gap };
  }
}

/** Servers list their tools with a wrong key too: one call shows whether it is right. */
async function check(
  { settings, session }: McpServer,
  { signal, encoder }: ToolContext,
): Promise<string[]> {
  const { check: named, tools, timeoutSeconds } = settings;
  if (named === undefined) return [];
  if (tools[named.tool]?.effect !== "read")
    throw new BotError(
      "NOT_AVAILABLE",
      `check names ${named.tool}, which is not granted as a read`,
    );
  const timeoutMs = timeoutSeconds * 1_000;
  const { text, failed } = await outputOf(
    await session.call(named.tool, named.arguments, { signal, timeoutMs }),
    encoder,
  );
  if (failed === true)
    throw new BotError("NOT_AVAILABLE", `${named.tool} failed: ${text.slice(0, 200)}`);
  return [`${named.tool} works`];
}
