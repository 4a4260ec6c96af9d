import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { folderWith } from "../../skills/folder.ts";

/** Runs git as a test does: with its own name, and no configuration of whoever runs it. */
function git(cwd: string, ...args: string[]): string {
  const env = {
    PATH: process.env["PATH"],
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_AUTHOR_NAME: "Ana",
    GIT_AUTHOR_EMAIL: "ana@example.com",
    GIT_COMMITTER_NAME: "Ana",
    GIT_COMMITTER_EMAIL: "ana@example.com",
  };
  return execFileSync("git", args, { cwd, env, encoding: "utf8" }).trim();
}

/** git's own server of repositories, behind one of ours. */
function serve(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? "/", "http://localhost");
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  request.pipe(backend.stdin);
  const parts: Buffer[] = [];
  backend.stdout.on("data", (part: Buffer) => void parts.push(part));
  backend.on("close", () => {
    const all = Buffer.concat(parts);
    const end = all.indexOf("\r\n\r\n");
    const head = all.subarray(0, end).toString().split("\r\n");
    for (const line of head) {
      const [name = "", value = ""] = line.split(/: (.*)/s);
      if (name === "Status") response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.end(all.subarray(end + 4));
  });
}

/** A repository of skills, served over plain HTTP; `hangs`: the server takes requests and never answers. */
export async function gitServer(files: Record<string, string>, { hangs = false } = {}) {
  const root = await folderWith(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`ops-skills/${path}`, text])),
  );
  const repository = join(root, "ops-skills");
  git(repository, "init", "--quiet", "--initial-branch=main");
  const commit = () => {
    git(repository, "add", "--all");
    git(repository, "commit", "--quiet", "--message=Skills");
    return git(repository, "rev-parse", "HEAD");
  };
  const first = commit();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (!hangs) serve(root, request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}/ops-skills/.git`,
    repository,
    first,
    asked,
    git: (...args: string[]) => git(repository, ...args),
    /** Commits another text of a file. */
    async change(path: string, text: string) {
      await writeFile(join(repository, path), text);
      return commit();
    },
  };
}
