import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Figure } from "./journal.ts";

/**
 * `npm run bench`: every figure of docs/benchmarks.md but the cores' and the chat's; `npm run bench -- start alerts`: those of
 * these parts. `npm run bench -- core [name …]`: our agent core beside others'. `peer <name>`, `scale-of …` and `alerts-load …` are what these start. `chat`: the chat path beside bolt's, and its trials. Peers
 * are installed when first needed and when their lockfile is newer. `tools`: figures of single tools. `histories`: ten thousand
 * threads that are condensed. `goals`: a goal of thirty tasks that is killed at a hundred points.
 */
const [what, ...names] = process.argv.slice(2);
if (what === "peer") {
  const { printFigures } = await import("./core.ts");
  await printFigures(names[0] ?? "");
} else if (what === "scale-of") {
  const { measureScale } = await import("./scale.ts");
  const [kind = "", part = "", path = ""] = names;
  process.stdout.write(JSON.stringify(await measureScale(kind, part, path)));
} else if (what === "alerts-load") {
  const { loadAlerts } = await import("./alerts.ts");
  const [port, count] = names.map(Number);
  process.stdout.write(JSON.stringify(await loadAlerts(port ?? 0, count ?? 0)));
} else if (what === "chat") {
  const { printChat } = await import("./chat.ts");
  process.exitCode = await printChat(names);
} else if (what === "tools") {
  const { logFigures, readLarge } = await import("./tools.ts");
  const { diagnoseFigures } = await import("./diagnose.ts");
  const [file] = names;
  if (file === undefined) print([...(await diagnoseFigures()), ...(await logFigures())]);
  else process.stdout.write(JSON.stringify(await readLarge(file)));
} else if (what === "histories") {
  const { historyFigures } = await import("./condense.ts");
  print(historyFigures());
} else if (what === "goals") {
  const { goalFigures } = await import("./goals.ts");
  print(await goalFigures());
} else if (what === "core") {
  installPeers();
  const { printComparison } = await import("./core.ts");
  await printComparison(names);
} else await printOwn(process.argv.slice(2));

function installPeers(): void {
  const time = (file: string) => {
    const path = join(import.meta.dirname, file);
    return existsSync(path) ? statSync(path).mtimeMs : 0;
  };
  if (time("node_modules/.package-lock.json") >= time("package-lock.json")) return;
  process.stderr.write("Installing the peers …\n");
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: import.meta.dirname,
    stdio: "inherit",
  });
}

async function printOwn(wanted: readonly string[]): Promise<void> {
  const { appendFigures, bytesFigure, resumeFigure } = await import("./journal.ts");
  const { startFigures } = await import("./start.ts");
  const { votesFigure } = await import("./votes.ts");
  const { scaleFigures } = await import("./scale.ts");
  const { longFigures } = await import("./long.ts");
  const { condenseFigures } = await import("./condense.ts");
  const { alertsFigures } = await import("./alerts.ts");
  const { memoryFigures } = await import("./memory.ts");
  const { firstLookFigures } = await import("./first-look.ts");
  const { busFigure } = await import("./events.ts");
  const parts: Record<string, () => Promise<Figure | Figure[]>> = {
    append: async () => [...(await appendFigures("memory")), ...(await appendFigures("file"))],
    bytes: bytesFigure,
    resume: async () => [
      await resumeFigure("memory", "0.3 ms"),
      await resumeFigure("file", "3 ms"),
    ],
    votes: votesFigure,
    start: async () => {
      installPeers();
      return startFigures();
    },
    long: async () => [...(await longFigures()), ...(await condenseFigures())],
    scale: scaleFigures,
    alerts: alertsFigures,
    memory: memoryFigures,
    "first-look": firstLookFigures,
    events: async () => busFigure(),
  };
  const all = Object.keys(parts);
  const unknown = wanted.find((name) => !Object.hasOwn(parts, name));
  if (unknown !== undefined)
    throw new Error(
      `There is no bench ${unknown}. There are ${all.join(", ")}, core, chat and tools.`,
    );
  for (const name of wanted.length === 0 ? all : wanted)
    print([(await parts[name]?.()) ?? []].flat());
}

function print(figures: readonly Figure[]): void {
  for (const { name, value } of figures) process.stdout.write(`${name.padEnd(75)} ${value}\n`);
}
