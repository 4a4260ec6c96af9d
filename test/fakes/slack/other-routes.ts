import type { IncomingMessage, ServerResponse } from "node:http";
import { readBlocks } from "./chat.ts";
import { announceChange, takeAway } from "./posting.ts";
import { argumentsOf, bodyOf, formOf } from "./requests.ts";
import type { Data } from "./types.ts";
import { Refusal, shownMessage, type World } from "./world.ts";

/** https://docs.slack.dev/interactivity/handling-user-interaction: a response URL is good five times. */
const MAX_RESPONSES = 5;

export type OtherRoutes = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void>;

function end(response: ServerResponse, status: number, text: string, type = "text/plain"): void {
  response.writeHead(status, { "content-type": type });
  response.end(text);
}

/** What is not the Web API: where files go up and come down, and the addresses for answering an interaction. */
export function createOtherRoutes(world: World, botToken: string): OtherRoutes {
  async function upload(id: string, request: IncomingMessage, response: ServerResponse) {
    const target = world.uploads.get(id);
    const body = await bodyOf(request);
    if (target === undefined || target.content !== undefined) return end(response, 404, "gone");
    const isForm = request.headers["content-type"]?.startsWith("multipart/form-data") === true;
    target.content = new Uint8Array(body);
    if (isForm) {
      for (const [, value] of await formOf(request, body)) {
        if (typeof value !== "string") target.content = new Uint8Array(await value.arrayBuffer());
      }
    }
    end(response, 200, `OK - ${target.content.byteLength}`);
  }

  /** Without the right token there is no error: Slack leads to a page to sign in on, with status 200. */
  function download(id: string, request: IncomingMessage, response: ServerResponse): void {
    const found = world.uploads.get(id);
    const isAllowed =
      request.headers.authorization === `Bearer ${botToken}` &&
      world.settings.scopes.includes("files:read");
    if (!isAllowed) {
      response.writeHead(302, { location: `${world.origin}/?redir=%2Ffiles-pri` });
      response.end();
    } else if (found?.content === undefined) {
      end(response, 404, "no such file");
    } else {
      response.writeHead(200, { "content-type": found.mimetype });
      response.end(found.content);
    }
  }

  function respond(secret: string, args: Data): void {
    const url = world.responseUrls.get(secret);
    if (url === undefined) throw new Refusal("no_service");
    url.uses += 1;
    if (url.uses > MAX_RESPONSES) throw new Refusal("used_url");
    const { ephemeral, message } = url;
    const text = typeof args["text"] === "string" ? args["text"] : "";
    const blocks = args["blocks"] === undefined ? undefined : readBlocks(world, args["blocks"]);
    if (args["delete_original"] === true) {
      if (ephemeral !== undefined) world.ephemerals.splice(world.ephemerals.indexOf(ephemeral), 1);
      else if (message !== undefined) takeAway(world, message);
      return;
    }
    if (text === "" && (blocks ?? []).length === 0) throw new Refusal("no_text");
    if (args["replace_original"] === true) {
      if (ephemeral !== undefined) Object.assign(ephemeral, { text, blocks: blocks ?? [] });
      else if (message !== undefined) {
        const previous = shownMessage(world, message);
        Object.assign(message, { text, blocks: blocks ?? [] });
        announceChange(world, message, previous);
      }
      return;
    }
    const { channel, user } = url;
    const thread = typeof args["thread_ts"] === "string" ? args["thread_ts"] : undefined;
    const ts = world.nextTs();
    world.ephemerals.push({ ts, channel, thread_ts: thread, user, text, blocks: blocks ?? [] });
  }

  return async (path, request, response) => {
    const [, place = "", ...rest] = path.split("/");
    if (place === "upload") return upload(rest.at(-1) ?? "", request, response);
    if (place === "files-pri")
      return download((rest[0] ?? "").split("-")[1] ?? "", request, response);
    if (place !== "actions") {
      return end(
        response,
        path === "/" ? 200 : 404,
        "<!DOCTYPE html><title>Sign in</title>",
        "text/html",
      );
    }
    try {
      const args = await argumentsOf(request, await bodyOf(request));
      respond(rest[0] ?? "", args ?? {});
      end(response, 200, "ok");
    } catch (problem) {
      if (!(problem instanceof Refusal)) throw problem;
      end(response, 404, problem.error);
    }
  };
}
