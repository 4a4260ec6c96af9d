import type { Backoff } from "../../core/backoff.ts";
import { messageOf } from "../../core/errors.ts";
import { STAY_SILENT, USE_TOOL } from "../../core/tool-spec.ts";
import { FIND_TOOLS } from "../../core/tool-spec.ts";
import type { LiveTools, ToolParts } from "../integration.ts";
import type { Tool } from "../tool.ts";
import { createAccept, createStatus } from "./accept.ts";
import { createForms, type Granted } from "./forms.ts";
import { createServer } from "./servers.ts";
import type { ServerSettings } from "./settings.ts";
import { toolOf } from "./tools.ts";

/** Left out: those that people are used to. */
export interface McpTimes {
  /** How long a start waits for servers whose tools it does not know yet, and how soon they are asked again, in ms. */
  seeMs?: number;
  /** How long a server is left alone whose connection failed. */
  waits?(): Backoff;
}

const RESERVED = [FIND_TOOLS, USE_TOOL, STAY_SILENT];

/** What became of a granted tool in the form with this hash. */
interface Made {
  hash: string;
  tool: Tool | undefined;
  problem: string | undefined;
}

/** The tools that the configuration turns on, in their accepted forms, and those about the servers. */
export function openMcp(
  named: Readonly<Record<string, ServerSettings>>,
  parts: ToolParts,
  { seeMs, waits }: McpTimes = {},
): LiveTools {
  const servers = Object.entries(named).map(([name, settings]) =>
    createServer(name, settings, { ...parts, waits }),
  );
  const grants = servers.flatMap((server) =>
    Object.keys(server.settings.tools).map((tool): Granted => ({ server, tool })),
  );
  const forms = createForms(servers, parts, seeMs);
  const made = new Map<Granted, Made>();
  let offered: readonly Tool[] = [];
  let doubles: readonly string[] = [];
  const own = [createStatus(servers, () => offered, forms), createAccept(servers, forms)];

  function make(granted: Granted, hash: string): Made {
    try {
      return { hash, tool: toolOf(granted, forms), problem: undefined };
    } catch (error) {
      const problem = `${granted.server.name}: ${granted.tool} cannot be offered: ${messageOf(error)}`;
      return { hash, tool: undefined, problem };
    }
  }

  return {
    subject: "mcp",
    get tools() {
      return [...offered, ...own];
    },
    get problems() {
      const unfit = [...made.values()].flatMap(({ problem }) => problem ?? []);
      return [...forms.problems(), ...unfit, ...doubles];
    },
    get secrets() {
      return servers.flatMap((server) => server.secrets());
    },
    async refresh(others) {
      await forms.look();
      for (const granted of grants) {
        const hash = forms.accepted(granted)?.hash;
        if (hash !== undefined && made.get(granted)?.hash !== hash)
          made.set(granted, make(granted, hash));
      }
      const names = new Set([...others, ...own].map(({ name }) => name).concat(RESERVED));
      const [before, next, twice] = [offered, [] as Tool[], [] as string[]];
      for (const tool of grants.flatMap((granted) => made.get(granted)?.tool ?? [])) {
        if (names.has(tool.name)) twice.push(`${tool.name}: another tool has this name`);
        else next.push(tool);
        names.add(tool.name);
      }
      [offered, doubles] = [next, twice];
      return (
        offered.length !== before.length || offered.some((tool, index) => tool !== before[index])
      );
    },
    async close() {
      await Promise.all(servers.map(async ({ session }) => session.close()));
    },
  };
}
