import { dirname, join, relative, sep } from "node:path";

/**
 * The rooms of `src/` from the ground up, each with what its files may import besides its own: whole rooms, or single files.
 * A room is a folder; a folder or file within it is a room of its own where it has a line here, or where `room/*` has one for all
 * its folders. Each may name only what stands above it, so there are no circles. Types and `import()` count too.
 */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  security: ["core"],
  net: ["core"],
  events: ["core"],
  thread: ["core"],
  journal: ["core"],
  "journal/*": ["core", "journal"],
  "journal/stores.ts": ["core", "journal", "journal/*"],
  wakeups: ["core", "journal", "journal/redis"],
  checks: ["core"],
  skills: ["core", "security", "checks"],
  team: ["core", "journal"],
  incidents: ["core", "journal"],
  memory: ["core", "events/bus.ts", "journal"],
  handoff: ["core", "thread", "incidents"],
  alerts: ["core"],
  "alerts/sources": ["core", "alerts"],
  "alerts/messages": ["core", "alerts", "alerts/sources"],
  charts: ["core"],
  models: ["core", "security", "net/fetch.ts"],
  "models/providers": ["core", "models"],
  "models/load.ts": ["core", "models", "models/providers"],
  evals: ["core", "thread", "models"],
  approvals: ["core", "thread"],
  agent: ["core", "security", "thread", "models"],
  tools: ["core", "security", "net", "events/bus.ts", "approvals"],
  "tools/integration.ts": [
    "core",
    "net",
    "skills",
    "incidents",
    "team",
    "memory",
    "handoff",
    "tools",
  ],
  "tools/*": ["core", "security", "tools", "tools/integration.ts"],
  "tools/costs": ["core", "tools", "tools/integration.ts"],
  "tools/feedback": ["core", "team", "tools", "tools/integration.ts"],
  "tools/freeze": ["core", "team", "tools", "tools/integration.ts"],
  "tools/logs": ["core", "security", "tools", "tools/integration.ts"],
  "tools/host": ["core", "security", "tools", "tools/integration.ts", "tools/logs"],
  "tools/changes": ["core", "tools", "tools/host", "tools/integration.ts"],
  "tools/incidents": ["core", "incidents", "charts", "tools", "tools/integration.ts"],
  "tools/handoff": ["core", "incidents", "handoff", "tools", "tools/integration.ts"],
  "tools/memory": ["core", "skills", "memory", "tools", "tools/integration.ts"],
  "tools/mysql": ["core", "net", "tools", "tools/integration.ts"],
  "tools/mcp": ["core", "security", "net", "team", "tools", "tools/integration.ts"],
  "tools/network": ["core", "security", "net", "tools", "tools/integration.ts"],
  "tools/packs": ["core", "security", "tools", "tools/integration.ts", "tools/host"],
  "tools/postgres": ["core", "net", "tools", "tools/integration.ts"],
  "tools/prometheus": ["core", "security", "charts", "tools", "tools/integration.ts"],
  "tools/grafana": ["core", "tools", "tools/prometheus", "tools/integration.ts"],
  "tools/redis": ["core", "net", "tools", "tools/integration.ts"],
  "tools/ssh": ["core", "tools", "tools/host", "tools/integration.ts"],
  "tools/skills": ["core", "checks", "skills", "tools", "tools/host", "tools/integration.ts"],
  "tools/registry.ts": ["core", "tools", "tools/integration.ts", "tools/*"],
  adapters: ["core"],
  "adapters/render": ["core", "security", "adapters"],
  "adapters/shared": [
    "core",
    "security",
    "net/agent.ts",
    "net/dispatcher.ts",
    "net/fetch.ts",
    "net/proxy.ts",
    "adapters",
    "adapters/render",
  ],
  "adapters/*": ["core", "security", "adapters", "adapters/render", "adapters/shared"],
  "adapters/platforms.ts": ["core", "adapters", "adapters/*"],
  commands: ["core", "incidents", "models/load.ts", "thread", "tools"],
  queries: [
    "core",
    "security",
    "thread",
    "journal",
    "tools",
    "adapters",
    "adapters/render/phrases.ts",
  ],
  worker: ["core", "events/bus.ts", "journal", "wakeups"],
  "worker/thread": [
    "core",
    "security",
    "thread",
    "journal",
    "models",
    "approvals",
    "agent",
    "team",
    "incidents",
    "memory",
    "tools",
    "adapters",
    "adapters/render/phrases.ts",
    "commands",
    "queries",
    "worker",
  ],
  "incidents/updates-handler.ts": ["core", "journal", "worker", "incidents"],
  "handoff/digest-handler.ts": ["core", "journal", "worker", "handoff"],
  "alerts/handler.ts": ["core", "journal", "worker", "alerts"],
  "alerts/keeper.ts": ["core", "journal", "alerts"],
  "alerts/webhooks.ts": ["core", "journal", "alerts", "alerts/handler.ts", "alerts/keeper.ts"],
  "alerts/bot-posts.ts": [
    "core",
    "journal",
    "adapters",
    "alerts",
    "alerts/messages",
    "alerts/handler.ts",
  ],
};

/** Whom the table says nothing of: they join the rooms and may import any. */
const TOP = new Set(["app", "config", "main.ts"]);

/** The room of a file below `src/`, such as `adapters/slack`; undefined where the table has none. */
function roomOf(path: string): string | undefined {
  const [first = "", second = "", ...rest] = path.split("/");
  const isInFolder = rest.length > 0 && anyFolder(first) in ROOMS;
  const folder = `${first}/${second}`;
  if (path in ROOMS) return path;
  return folder in ROOMS || isInFolder ? folder : first in ROOMS ? first : undefined;
}

const anyFolder = (path: string) => `${path.split("/")[0]}/*`;

/** Why the file may not import the other, or undefined. Paths are below `src/`. */
export function whyNotImported(from: string, to: string): string | undefined {
  const [first = ""] = from.split("/");
  if (TOP.has(first)) return undefined;
  const [here, there] = [roomOf(from), roomOf(to)];
  if (here === undefined)
    return `${from} is in no room that lint/rooms.ts knows; give it a line there.`;
  const imports = ROOMS[here] ?? ROOMS[anyFolder(here)] ?? [];
  const names = [to, there ?? "", ...(there?.includes("/") === true ? [anyFolder(there)] : [])];
  if (here === there || names.some((name) => imports.includes(name))) return undefined;
  return `${here} imports ${imports.join(", ") || "nothing of ours"}, not ${to} (lint/rooms.ts).`;
}

const NETWORK = ["net/"];

/** What these modules have that reaches nothing. */
const HARMLESS = new Set(["isIP", "parentPort", "workerData"]);

/** Who may import the modules that reach out of the process: files, or folders with a slash. Types and what is harmless are free to all. */
const WAYS_OUT: Readonly<Record<string, readonly string[]>> = {
  "node:net": NETWORK,
  "node:dns": NETWORK,
  "node:dns/promises": NETWORK,
  "node:tls": NETWORK,
  "node:https": NETWORK,
  "node:http2": NETWORK,
  "node:dgram": NETWORK,
  undici: NETWORK,
  // The one server of the program.
  "node:http": [...NETWORK, "app/http.ts"],
  "node:child_process": ["tools/process.ts"],
  // What a thread that is started otherwise is given of the process's may be secrets.
  "node:worker_threads": ["core/bare-thread.ts"],
  // By these any of the above can be had, or a process begun.
  "node:module": ["core/kept-code.ts"],
  "node:cluster": [],
  "node:inspector": [],
  getBuiltinModule: [],
  // Of a name other than these: who may import `net/fetch.ts` is in the table above.
  fetch: NETWORK,
  WebSocket: ["net/dispatcher.ts"],
  EventSource: [],
};

/** Why the file may not use the module, or the global such as `fetch`, or undefined. The path is below `src/`. */
export function whyNoWayOut(from: string, module: string): string | undefined {
  const users = Object.hasOwn(WAYS_OUT, module) ? WAYS_OUT[module] : undefined;
  if (
    users === undefined ||
    users.some((one) => from === one || (one.endsWith("/") && from.startsWith(one)))
  )
    return undefined;
  return `Only ${users.join(", ") || "nobody"} may use ${module}: tools have ctx.http, ctx.dial, ctx.resolve and ctx.exec, which have the rules (lint/rooms.ts).`;
}

interface Source {
  value?: unknown;
  /** Of a template. */
  quasis?: readonly { value: { cooked?: string | null } }[];
}

interface Importing {
  source?: Source | null;
  importKind?: string;
  exportKind?: string;
  specifiers?: readonly { importKind?: string; imported?: { name?: string } }[];
}

/** It takes types only, or what reaches nothing. */
function isHarmless({ importKind, exportKind, specifiers = [] }: Importing): boolean {
  if (importKind === "type" || exportKind === "type") return true;
  const taken = specifiers.filter(
    ({ importKind: kind, imported }) => kind !== "type" && !HARMLESS.has(imported?.name ?? ""),
  );
  return specifiers.length > 0 && taken.length === 0;
}

/** What is imported; undefined where that is known only when it runs. */
function specOf({ source }: Importing): string | undefined {
  const [quasi, ...more] = source?.quasis ?? [];
  const spec = more.length > 0 ? undefined : (quasi?.value.cooked ?? source?.value);
  return typeof spec === "string" ? spec : undefined;
}

interface Named {
  type?: string;
  name?: string;
  value?: unknown;
}

/** As it is written, or as a string in brackets. */
function nameOf({ name, value }: Named): string {
  return name ?? String(value);
}

const GLOBALS = new Set(["globalThis", "global", "self"]);

/** The linter's rule of the ways out. */
const waysOut = {
  create(context: Context) {
    const file = fileIn(context);
    if (file === undefined) return {};
    const check = (node: unknown, module: string) => {
      const message = whyNoWayOut(file, module);
      if (message !== undefined) context.report({ node, message });
    };
    const checkImport = (node: Importing) => {
      const spec = specOf(node);
      if (spec === undefined || isHarmless(node)) return;
      check(node, Object.hasOwn(WAYS_OUT, `node:${spec}`) ? `node:${spec}` : spec);
    };
    const checkCallee = (node: { callee: Named }) => {
      if (node.callee.type === "Identifier") check(node, nameOf(node.callee));
    };
    return {
      ImportDeclaration: checkImport,
      ExportNamedDeclaration: checkImport,
      ExportAllDeclaration: checkImport,
      ImportExpression(node: Importing) {
        if (specOf(node) !== undefined) checkImport(node);
        else if (file.startsWith("tools/")) {
          const message = "A tool names what it imports, so that its ways out are seen.";
          context.report({ node, message });
        }
      },
      CallExpression: checkCallee,
      NewExpression: checkCallee,
      MemberExpression(node: { object: Named; property: Named }) {
        const name = nameOf(node.property);
        if (GLOBALS.has(node.object.name ?? "") || name === "getBuiltinModule") check(node, name);
      },
      // Under another name.
      VariableDeclarator(node: { id: { properties?: readonly { key?: Named }[] }; init?: Named }) {
        const { id, init } = node;
        if (init?.type === "Identifier") check(node, nameOf(init));
        for (const { key } of id.properties ?? [])
          if (key !== undefined && (GLOBALS.has(init?.name ?? "") || init?.name === "process"))
            check(node, nameOf(key));
      },
    };
  },
};

interface Context {
  filename: string;
  cwd: string;
  report(problem: { node: unknown; message: string }): void;
}

/** The file's path below `src/`, or undefined for one elsewhere. */
function fileIn({ cwd, filename }: Context): string | undefined {
  const file = relative(join(cwd, "src"), filename).split(sep).join("/");
  return file.startsWith("..") ? undefined : file;
}

/** The linter's rule of that table. */
const direction = {
  create(context: Context) {
    const file = fileIn(context);
    if (file === undefined) return {};
    const check = (node: Importing) => {
      const spec = specOf(node);
      if (spec === undefined || !spec.startsWith(".")) return;
      const message = whyNotImported(file, join(dirname(file), spec).split(sep).join("/"));
      if (message !== undefined) context.report({ node, message });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
      TSImportType: check,
    };
  },
};

export default { meta: { name: "rooms" }, rules: { direction, "ways-out": waysOut } };
