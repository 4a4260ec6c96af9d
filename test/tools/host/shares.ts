import { readFileSync } from "node:fs";
import { approvalPolicy } from "../../../src/config/policy.ts";
import { decidePolicy } from "../../../src/approvals/policy.ts";
import { onlyReads } from "../../../src/tools/host/reading-commands.ts";

/** Command lines of a file: one per line, `#` begins a remark, single quotes hold an argument together. */
export function commandLines(file: string | URL): string[][] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) =>
      [...line.matchAll(/'([^']*)'|(\S+?)(?='|\s|$)/g)].map(
        ([, held, plain]) => held ?? plain ?? "",
      ),
    );
}

/** What the built-in policy makes of command lines. */
export function sharesOf(lines: readonly string[][]): Record<"allow" | "ask" | "deny", number> {
  const shares = { allow: 0, ask: 0, deny: 0 };
  const policy = approvalPolicy.parse({});
  for (const argv of lines) {
    const effect = onlyReads(argv) ? "read" : "destructive";
    shares[decidePolicy(policy, { tool: "run_command", effect, args: { argv } }).kind] += 1;
  }
  return shares;
}

// `node test/tools/host/shares.ts <file>…` reports on any collection.
if (import.meta.main) {
  for (const file of process.argv.slice(2)) {
    const lines = commandLines(file);
    const shares = Object.entries(sharesOf(lines)).map(
      ([kind, count]) => `${kind} ${((100 * count) / lines.length).toFixed(1)} % (${count})`,
    );
    process.stdout.write(`${file}: ${lines.length} command lines: ${shares.join(", ")}\n`);
  }
}
