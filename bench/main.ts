import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { appendFigures, bytesFigure, type Figure, resumeFigure } from "./journal.ts";
import { startFigures } from "./start.ts";
import { votesFigure } from "./votes.ts";

/** Prints every figure of docs/benchmarks.md. Peers are installed on the first run. */
if (!existsSync(join(import.meta.dirname, "node_modules"))) {
  process.stderr.write("Installing the peers …\n");
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: import.meta.dirname,
    stdio: "inherit",
  });
}

const parts: (() => Promise<Figure | Figure[]>)[] = [
  () => appendFigures("memory"),
  () => appendFigures("file"),
  bytesFigure,
  () => resumeFigure("memory", "0.3 ms"),
  () => resumeFigure("file", "3 ms"),
  votesFigure,
  startFigures,
];
for (const part of parts) {
  for (const { name, value } of [await part()].flat())
    process.stdout.write(`${name.padEnd(75)} ${value}\n`);
}
