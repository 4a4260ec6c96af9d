import type { IncomingMessage, ServerResponse } from "node:http";
import type { World } from "./world.ts";

/** Serves what people attached, and without the right token what Slack does then: it leads to a page to sign in on, with status 200. */
export function serveFile(
  world: World,
  botToken: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { pathname } = new URL(request.url ?? "", "http://localhost");
  const [, place, name = ""] = pathname.split("/");
  if (place !== "files-pri") {
    response.writeHead(pathname === "/" ? 200 : 404, { "content-type": "text/html" });
    response.end("<!DOCTYPE html><title>Sign in</title>");
    return;
  }
  const isAllowed =
    request.headers.authorization === `Bearer ${botToken}` &&
    world.settings.scopes.includes("files:read");
  const found = world.uploads.get(name.split("-")[1] ?? "");
  if (!isAllowed) {
    response.writeHead(302, { location: `${world.origin}/?redir=%2Ffiles-pri` });
    response.end();
  } else if (found === undefined) {
    response.writeHead(404).end("no such file");
  } else {
    response.writeHead(200, { "content-type": found.mimetype });
    response.end(found.content);
  }
}
