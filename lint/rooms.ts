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
  thread: ["core"],
  journal: ["core"],
  "journal/sqlite": ["core", "journal"],
  "journal/redis": ["core", "journal"],
  wakeups: ["core", "journal", "journal/redis"],
  skills: ["core", "security"],
  incidents: ["core", "security", "journal"],
  models: ["core", "security"],
  "models/providers": ["core", "security", "models"],
  "models/load.ts": ["core", "models", "models/providers"],
  approvals: ["core", "thread"],
  agent: ["core", "security", "thread", "models"],
  tools: ["core", "security", "net", "approvals"],
  "tools/integration.ts": ["core", "skills", "incidents", "tools"],
  "tools/*": ["core", "security", "tools", "tools/integration.ts"],
  "tools/incidents": ["core", "security", "incidents", "tools", "tools/integration.ts"],
  "tools/network": ["core", "security", "net", "tools", "tools/integration.ts"],
  "tools/skills": ["core", "skills", "tools", "tools/integration.ts"],
  "tools/registry.ts": ["core", "tools", "tools/integration.ts", "tools/*"],
  adapters: ["core"],
  "adapters/render": ["core", "security", "adapters"],
  "adapters/shared": ["core", "security", "adapters", "adapters/render"],
  "adapters/slack": ["core", "security", "adapters", "adapters/render", "adapters/shared"],
  "adapters/discord": ["core", "security", "adapters", "adapters/render", "adapters/shared"],
  "adapters/terminal": ["core", "security", "adapters", "adapters/render", "adapters/shared"],
  commands: ["core", "security", "incidents", "thread", "tools"],
  queries: [
    "core",
    "security",
    "thread",
    "journal",
    "tools",
    "adapters",
    "adapters/render/phrases.ts",
  ],
  worker: ["core", "journal"],
  "worker/thread": [
    "core",
    "security",
    "thread",
    "journal",
    "models",
    "approvals",
    "agent",
    "tools",
    "adapters",
    "adapters/render/phrases.ts",
    "commands",
    "queries",
    "worker",
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

interface Importing {
  source?: { value?: unknown } | null;
}

/** The linter's rule of that table. */
const direction = {
  create(context: {
    filename: string;
    cwd: string;
    report(problem: { node: unknown; message: string }): void;
  }) {
    const file = relative(join(context.cwd, "src"), context.filename).split(sep).join("/");
    if (file.startsWith("..")) return {};
    const check = (node: Importing) => {
      const spec = node.source?.value;
      if (typeof spec !== "string" || !spec.startsWith(".")) return;
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

export default { meta: { name: "rooms" }, rules: { direction } };
