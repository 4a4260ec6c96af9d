import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as z from "zod";
import type { Effect, JsonObject, Preview } from "../../core/entry.ts";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json.ts";
import { capText } from "../../core/text.ts";
import { cleanText } from "../../security/sanitize.ts";
import type { Tool, ToolContext, ToolOutput } from "../tool.ts";
import type { Forms, Granted } from "./forms.ts";
import { inputOf } from "./input.ts";
import { hintOf, toolName } from "./names.ts";
import { outputOf } from "./result.ts";
import type { McpServer } from "./servers.ts";
import { Cut } from "./session.ts";

/** How old a server's word on its own tools may be for a read. Before a change it is asked again. */
const READ_AGE_MS = 60_000;
/** Of a description; models read all of them in each request. */
const MAX_DESCRIPTION = 2_000;

/** The argument that says on which machine the server is a program. */
const HOST = {
  host: {
    type: "string",
    pattern: "^[0-9A-Za-z_][0-9A-Za-z_.-]{0,62}$",
    description: "The machine, as results name it; left out: that of the thread's last call",
  },
};

/** What of a form makes a tool. */
interface Made {
  hash: string;
  input: Tool<JsonObject>["input"];
  description: string;
}

/**
 * A tool of a server as one of ours: always in its accepted form, and only while the server still has that form.
 * @throws BotError INPUT_INVALID when it cannot be one
 */
export function toolOf(granted: Granted, forms: Forms): Tool<JsonObject> {
  const { server, tool } = granted;
  const name = toolName(server.name, tool);
  const grant = server.settings.tools[tool];
  if (name === undefined || grant === undefined)
    throw new BotError("INPUT_INVALID", "its name cannot be one of a tool here");
  const { effect, kinds } = grant;
  const timeoutMs = server.settings.timeoutSeconds * 1_000;
  const maxAgeMs = effect === "read" ? READ_AGE_MS : 0;
  let made = makeFrom(granted, forms);

  /** Another form may have been accepted, which cannot be used. */
  function latest(): Made {
    const hash = forms.accepted(granted)?.hash;
    if (hash !== made.hash) made = makeFrom(granted, forms);
    return made;
  }

  return {
    name,
    get description() {
      return latest().description;
    },
    get input() {
      return latest().input;
    },
    effect,
    timeoutMs,
    title: () => `Call ${cleanText(tool)} of ${server.name}`,
    ...(kinds && { kinds }),
    endpoints: server.endpoints,
    ...(server.isProgram && { hostBound: true }),
    resource: () => `mcp ${server.name}`,
    ...(effect !== "read" && {
      precheck: async (_args: JsonObject, ctx: ToolContext) =>
        forms.checkSame(granted, ctx.signal, maxAgeMs),
    }),
    preview: async () => previewOf(granted, forms),
    async run(args, ctx) {
      const { host: _host, ...own } = args;
      const given = server.isProgram ? own : args;
      await forms.checkSame(granted, ctx.signal, maxAgeMs);
      return ask(granted, given, { ctx, effect, timeoutMs });
    },
  };
}

function makeFrom(granted: Granted, forms: Forms): Made {
  const { server, tool } = granted;
  const accepted = forms.accepted(granted);
  if (accepted === undefined) throw new BotError("INPUT_INVALID", "its form is not known");
  const { form, hash } = accepted;
  const schema = isJsonObject(form["inputSchema"]) ? form["inputSchema"] : {};
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  if (server.isProgram && Object.hasOwn(properties, "host")) {
    const text =
      "its argument host cannot be told from the machine that the program runs on; reach the server by its url";
    throw new BotError("INPUT_INVALID", text);
  }
  const whole = server.isProgram ? { ...schema, properties: { ...properties, ...HOST } } : schema;
  const said = typeof form["description"] === "string" ? cleanText(form["description"]) : "";
  const description = capText(said || tool, MAX_DESCRIPTION);
  return { hash, input: inputOf(whole), description: `[${server.name}] ${description}` };
}

async function ask(
  { server, tool }: Granted,
  args: JsonObject,
  { ctx, effect, timeoutMs }: { ctx: ToolContext; effect: Effect; timeoutMs: number },
): Promise<ToolOutput> {
  try {
    const { signal } = ctx;
    // The call's own time is up before.
    const answer = await server.session.call(tool, args, { signal, timeoutMs: timeoutMs + 5_000 });
    learn(server, ctx);
    return await outputOf(answer, ctx.encoder);
  } catch (error) {
    learn(server, ctx);
    if (ctx.signal.aborted) throw error;
    return whatItMeans(error, server.name, effect);
  }
}

/** A server can say again what was sent to it. */
function learn(server: McpServer, { encoder }: ToolContext): void {
  for (const secret of server.secrets()) encoder.learn(secret);
}

/** What the server refused is a result; a connection that broke under a change leaves open whether it happened. */
function whatItMeans(error: unknown, server: string, effect: Effect): ToolOutput {
  const cut = effect === "read" ? "CONNECTION_FAILED" : "ABORTED";
  const because = (code: "CONNECTION_FAILED" | "ABORTED" | "NOT_AVAILABLE", text: string) =>
    new BotError(code, `${server}: ${text}.`, { cause: error });
  if (isBotError(error)) throw isBotError(error, "ABORTED") ? because(cut, error.message) : error;
  if (error instanceof McpError)
    return { text: `${server} refused: ${error.message}`, failed: true };
  if (error instanceof Cut)
    throw because(cut, `the connection ended before the answer. ${error.message}`);
  if (error instanceof StreamableHTTPError) {
    const { code = 500 } = error;
    if (code === 401 || code === 403)
      throw because("NOT_AVAILABLE", `it does not take the credentials (${code})`);
    // Nothing was done: a read may ask once more, in a session of its own.
    if (code === 404 && effect === "read")
      throw because("CONNECTION_FAILED", "it ended the session");
    if (code >= 400 && code < 500)
      throw because("NOT_AVAILABLE", `it refused the request (${code})`);
    throw because(cut, `it answered ${code}`);
  }
  if (error instanceof z.ZodError) throw because(cut, "its answer is not what a tool's may be");
  throw because(cut, messageOf(error));
}

function previewOf({ server, tool }: Granted, forms: Forms): Preview {
  const accepted = forms.accepted({ server, tool });
  const hint = accepted && hintOf(accepted.form);
  return {
    lines: [
      { label: "MCP server", value: `${server.name}: ${server.identity}` },
      { label: "Its tool", value: cleanText(tool) },
      {
        label: "It calls that",
        value:
          hint === undefined ? "nothing: it gives no hint" : `${hint} (its own word, not checked)`,
      },
      { label: "Preview", value: "none: the server offers none" },
    ],
    blastRadius: "Not known: what the call changes is up to the server.",
    undo: "Not known: the server offers none.",
  };
}
