import { execFileSync } from "node:child_process";
import { argv } from "node:process";

/**
 * Says which dependencies were younger than a week when they came into the lockfile: what is taken over by somebody else is mostly
 * found out within days. It looks at the last commit that changed the lockfile, and goes by that commit's time, so that it says
 * the same whenever it is asked. Where nobody can be asked (no history, no registry) it says so and lets the commit pass.
 */

/** A week. */
const LEAST_MS = 7 * 86_400_000;
const ASK_MS = 20_000;
const LOCKFILE = "package-lock.json";

/** Of the lockfile: what each folder below `node_modules` holds. */
export interface Lock {
  packages: Readonly<Record<string, { version?: string; link?: boolean; name?: string }>>;
}

/** `name@version` of what one lockfile has and the other had not. */
export function added(before: Lock, after: Lock): string[] {
  const held = ({ packages }: Lock) =>
    Object.entries(packages).flatMap(([path, { version, link, name }]) => {
      const at = path.lastIndexOf("node_modules/");
      if (at < 0 || link === true || version === undefined) return [];
      return `${name ?? path.slice(at + "node_modules/".length)}@${version}`;
    });
  const known = new Set(held(before));
  return [...new Set(held(after))].filter((each) => !known.has(each)).toSorted();
}

interface Judged {
  young: string[];
  /** Of these nobody knows when they were published. */
  unknown: string[];
}

/** `publishedAt`: ms since 1970, of `name@version`; undefined: the registry does not say. */
export function judge(
  packages: readonly string[],
  committedAt: number,
  publishedAt: (name: string) => number | undefined,
): Judged {
  const judged: Judged = { young: [], unknown: [] };
  for (const each of packages) {
    const at = publishedAt(each);
    if (at === undefined) judged.unknown.push(each);
    else if (committedAt - at < LEAST_MS) judged.young.push(each);
  }
  return judged;
}

/** After so many failures in a row the registry is away. */
const MOST_FAILURES = 2;

/** Asks npm's registry, and nothing more once it is away. */
function createRegistry(): (asked: string) => number | undefined {
  let failures = 0;
  return (asked) => {
    if (failures >= MOST_FAILURES) return undefined;
    const at = asked.lastIndexOf("@");
    const words = ["view", asked.slice(0, at), "time", "--json", "--fetch-retries=0"];
    try {
      const said = execFileSync("npm", words, {
        encoding: "utf8",
        timeout: ASK_MS,
        stdio: ["ignore", "pipe", "ignore"],
      });
      failures = 0;
      const times: Record<string, string> = JSON.parse(said);
      const time = Date.parse(times[asked.slice(at + 1)] ?? "");
      return Number.isNaN(time) ? undefined : time;
    } catch {
      failures += 1;
      return undefined;
    }
  };
}

/** Undefined where git does not know it, as in a copy without the whole history. */
function git(...args: string[]): string | undefined {
  try {
    return execFileSync("git", args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch {
    return undefined;
  }
}

function main(): number {
  const [commit, seconds] =
    git("log", "-1", "--format=%H %ct", "--", LOCKFILE)?.trim().split(" ") ?? [];
  const before = git("show", `${commit}^:${LOCKFILE}`);
  const after = git("show", `${commit}:${LOCKFILE}`);
  if (before === undefined || after === undefined) {
    console.log(`Not looked at: git has no two states of ${LOCKFILE} here.`);
    return 0;
  }
  const packages = added(JSON.parse(before), JSON.parse(after));
  const { young, unknown } = judge(packages, Number(seconds) * 1_000, createRegistry());
  if (unknown.length > 0)
    console.log(
      `Not looked at, as the registry does not say when they were published: ${unknown.join(", ")}`,
    );
  if (young.length > 0)
    console.log(
      `Younger than a week when they came into ${LOCKFILE}: ${young.join(", ")}. Take an older version, or wait.`,
    );
  console.log(
    `${packages.length} came with the last change of ${LOCKFILE}, ${young.length} too young.`,
  );
  return young.length === 0 ? 0 : 1;
}

if (import.meta.filename === argv[1]) process.exitCode = main();
