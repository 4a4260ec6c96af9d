import { createHash } from "node:crypto";
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  realpath,
  rename,
  rm,
  writeFile,
  stat,
} from "node:fs/promises";
import { join, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import type { LiveTools } from "../integration.ts";
import type { Exec } from "../process.ts";
import type { ExecResult } from "../tool.ts";

/** A folder of skills in a git repository, at one commit for ever. */
export interface GitSkills {
  readonly url: string;
  /** 40 hexadecimal digits. */
  readonly commit: string;
  /** The folder in the repository; undefined: all of it. */
  readonly path?: string | undefined;
  /** What the log and `doctor` call it. */
  readonly name?: string | undefined;
}

interface Options {
  /** Where the copies are kept. */
  dataDir: string;
  exec: Exec;
  /** How other machines are reached, as git reads it. */
  env?: Readonly<Record<string, string>>;
  /** All authorities that are trusted, in one file's text; undefined: the system's. */
  authorities?: () => Promise<string>;
  /** Protocols that git may speak. */
  protocols?: readonly string[];
  /** For everything that one copy takes. */
  timeoutMs?: number;
  maxBytes?: number;
  /** How long after a failure it is tried again. */
  againMs?: number;
}

type Stoppable = Options & { stopped: AbortSignal };

/** What the repositories gave, and what they did not. */
export interface GitSource extends LiveTools {
  /** The folders of skills that can be used now, in the order of the list. */
  readonly folders: Iterable<string>;
  /** Resolves when nothing is being fetched. */
  idle(): Promise<void>;
}

const PROTOCOLS = ["https", "ssh"];
const TIMEOUT_MS = 60_000;
const AGAIN_MS = 5 * 60_000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 10_000;
/** What is being fetched is measured this often. */
const MEASURE_MS = 50;
/** A process that was killed left its unfinished copy behind. */
const STALE_MS = 60 * 60_000;
const UNFINISHED = ".unfinished-";

/** What nothing outside of the list may change. */
const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "credential.helper=",
  "fetch.fsckObjects=true",
  "fetch.recurseSubmodules=false",
  "submodule.recurse=false",
  "protocol.allow=never",
];
const ENVIRONMENT = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_SSH_COMMAND: "ssh -oBatchMode=yes -oConnectTimeout=20",
};

/**
 * Keeps a copy of each of these commits in `dataDir`, fetched with the installed git once: a copy that is there is complete, and is
 * never replaced by anything newer. The first `refresh` waits for what is missing; the later ones try it again in the background.
 * Never throws: what cannot be fetched is a problem.
 */
export function openGitSkills(wanted: readonly GitSkills[], options: Options): GitSource {
  const { againMs = AGAIN_MS } = options;
  const stopping = new AbortController();
  const stoppable = { ...options, stopped: stopping.signal };
  const found = new Map<GitSkills, string>();
  const failed = new Map<GitSkills, { why: string; at: number }>();
  const fetching = new Map<string, Promise<string>>();

  /** Two entries of one commit have one copy. */
  function copyOf(each: GitSkills): Promise<string> {
    const key = `${each.url} ${each.commit}`;
    const copy =
      fetching.get(key) ?? readyCopy(each, stoppable).finally(() => fetching.delete(key));
    fetching.set(key, copy);
    return copy;
  }

  async function look(each: GitSkills): Promise<void> {
    try {
      found.set(each, await insideOf(await copyOf(each), each.path));
      failed.delete(each);
    } catch (error) {
      failed.set(each, { why: messageOf(error), at: performance.now() });
    }
  }

  const lookAtAll = async (due: readonly GitSkills[]) => void (await Promise.all(due.map(look)));
  let isFirst = true;
  let busy = Promise.resolve();
  let seen = 0;
  return {
    subject: "skills.git",
    tools: [],
    secrets: [],
    get problems() {
      return [...failed].map(([each, { why }]) => `${nameOf(each)}: ${why}`);
    },
    folders: {
      *[Symbol.iterator]() {
        for (const each of wanted) {
          const folder = found.get(each);
          if (folder !== undefined) yield folder;
        }
      },
    },
    idle: () => busy,
    async refresh() {
      const due = wanted.filter((each) => {
        const last = failed.get(each);
        return !found.has(each) && (last === undefined || performance.now() - last.at >= againMs);
      });
      if (isFirst) {
        isFirst = false;
        await removeStale(join(options.dataDir, "skills-git"));
        await lookAtAll(due);
      } else if (due.length > 0 && fetching.size === 0) {
        busy = lookAtAll(due);
      }
      const isOther = found.size !== seen;
      seen = found.size;
      return isOther;
    },
    async close() {
      stopping.abort();
      await busy;
    },
  };
}

function nameOf({ name, url, commit }: GitSkills): string {
  return name ?? `${url} at ${commit.slice(0, 12)}`;
}

/** Where the copy of a commit is, or will be. A skill at the root has the repository's name. */
function placeOf({ url, commit }: GitSkills, dataDir: string) {
  const hash = createHash("sha256").update(`${url} ${commit}`).digest("hex");
  const name = /([\w.-]+?)(?:\.git)?\/*$/.exec(url)?.[1]?.replace(/^\.+/, "") ?? "";
  const all = join(dataDir, "skills-git");
  return { all, folder: join(all, hash), inner: name === "" ? "skills" : name };
}

async function readyCopy(wanted: GitSkills, options: Stoppable): Promise<string> {
  const { all, folder, inner } = placeOf(wanted, options.dataDir);
  const copy = join(folder, inner);
  if (await isFolder(copy)) return copy;
  await mkdir(all, { recursive: true, mode: 0o700 });
  const unfinished = await mkdtemp(join(all, UNFINISHED));
  try {
    await fetchInto(join(unfinished, inner), wanted, options);
    await rename(unfinished, folder).catch(async (error: unknown) => {
      // Another process of ours was faster.
      if (!(await isFolder(copy))) throw error;
    });
    return copy;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Fetches the commit and nothing else of the repository, and leaves its files without git's own. */
async function fetchInto(
  folder: string,
  { url, commit }: GitSkills,
  { exec, stopped, authorities, ...limits }: Stoppable,
): Promise<void> {
  const { protocols = PROTOCOLS, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = limits;
  await mkdir(folder);
  const over = new AbortController();
  const signal = AbortSignal.any([stopped, over.signal, AbortSignal.timeout(timeoutMs)]);
  const allowed = protocols.map((name) => `protocol.${name}.allow=always`);
  const settings = [...SETTINGS, ...allowed].flatMap((each) => ["-c", each]);
  const env: Record<string, string> = {
    ...ENVIRONMENT,
    ...limits.env,
    GIT_ALLOW_PROTOCOL: protocols.join(":"),
  };
  if (authorities !== undefined) {
    // Beside the copy, and gone with what is unfinished of it.
    env["GIT_SSL_CAINFO"] = `${folder}.authorities.pem`;
    await writeFile(env["GIT_SSL_CAINFO"], await authorities());
  }
  const git = async (...args: string[]) => {
    const argv = ["git", ...settings, ...args];
    const ended = await exec(argv, { cwd: folder, env, signal, maxBytes: 4 * 1024 * 1024 });
    if (ended.exitCode !== 0) throw new BotError("NOT_AVAILABLE", whyOf(ended, args[0] ?? ""));
    if (ended.droppedBytes > 0) throw tooLarge(maxBytes);
    return ended.stdout.trim();
  };
  const measured = endWhenLarger(folder, maxBytes, over);
  try {
    await git("init", "--quiet", "--template=");
    await git("fetch", "--quiet", "--depth=1", "--no-tags", url, commit);
    checkSize(await git("ls-tree", "-r", "-l", "-z", commit), maxBytes);
    await git("checkout", "--quiet", "--detach", commit);
    const head = await git("rev-parse", "HEAD");
    if (head !== commit)
      throw new BotError("NOT_AVAILABLE", `${commit} is not a commit: it leads to ${head}.`);
  } catch (error) {
    if (over.signal.aborted) throw tooLarge(maxBytes);
    if (isBotError(error, "COMMAND_UNKNOWN"))
      throw new BotError("NOT_AVAILABLE", "git is not installed here.", { cause: error });
    throw error;
  } finally {
    await measured.stop();
  }
  await rm(join(folder, ".git"), { recursive: true, force: true });
  await rm(`${folder}.authorities.pem`, { force: true });
}

/** What git said first; its usual advice is about a working tree that nobody has. */
function whyOf({ stderr, exitCode, signal }: ExecResult, step: string): string {
  const line = stderr.split("\n").find((each) => /^(?:fatal|error): /.test(each));
  const said = (line ?? stderr.split("\n")[0] ?? "").slice(0, 300);
  const how = signal === undefined ? `ended with ${exitCode}` : `was ended by ${signal}`;
  return `git ${step} ${how}${said === "" ? "." : `: ${said}`}`;
}

function tooLarge(maxBytes: number): BotError {
  return new BotError("NOT_AVAILABLE", `It is larger than ${maxBytes} bytes.`);
}

/** `list`: of `git ls-tree -r -l -z`. Packed data may be much smaller than what it unpacks to. */
function checkSize(list: string, maxBytes: number): void {
  const files = list.split("\0").filter((line) => line !== "");
  if (files.length > MAX_FILES)
    throw new BotError("NOT_AVAILABLE", `It has more than ${MAX_FILES} files.`);
  const sizes = files.map((line) => Number(/^\d+ \w+ \w+ +(\d+)\t/.exec(line)?.[1] ?? 0));
  if (sizes.reduce((sum, each) => sum + each, 0) > maxBytes) throw tooLarge(maxBytes);
}

/** Aborts once the folder holds more than that. */
function endWhenLarger(folder: string, maxBytes: number, over: AbortController) {
  const ended = new AbortController();
  const watch = async () => {
    while (!ended.signal.aborted && !over.signal.aborted) {
      if ((await bytesIn(folder)) > maxBytes) over.abort();
      await delay(MEASURE_MS, undefined, { signal: ended.signal }).catch(() => {});
    }
  };
  const watching = watch();
  return {
    stop: async () => {
      ended.abort();
      await watching;
    },
  };
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    bytes += await lstat(join(entry.parentPath, entry.name)).then(
      ({ size }) => size,
      () => 0,
    );
  }
  return bytes;
}

/** The folder `path` of a copy. @throws BotError PATH_REFUSED */
async function insideOf(copy: string, path: string | undefined): Promise<string> {
  if (path === undefined) return copy;
  const [root, folder] = [await realpath(copy), await realpath(join(copy, path)).catch(() => "")];
  if (folder !== root && !folder.startsWith(`${root}${sep}`))
    throw new BotError("PATH_REFUSED", `It has no folder ${path} of its own.`);
  if (!(await isFolder(folder))) throw new BotError("PATH_REFUSED", `${path} is not a folder.`);
  return folder;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
}

async function removeStale(all: string): Promise<void> {
  const names = await readdir(all).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(UNFINISHED))) {
    const info = await stat(join(all, name)).catch(() => undefined);
    if (info !== undefined && Date.now() - info.mtimeMs > STALE_MS)
      await rm(join(all, name), { recursive: true, force: true }).catch(() => {});
  }
}
