import type { IncomingMessage, ServerResponse } from "node:http";
import * as z from "zod";
import type { Methods } from "./method.ts";
import { bodyOf } from "./requests.ts";
import { invalid, Refusal, type World } from "./world.ts";

/** Files that the app brings: an address for each, the bytes, the end of it, and some moments until Slack knows what it is. */

const files = z.array(z.strictObject({ id: z.string(), title: z.string().optional() })).min(1);

export function uploadMethods(world: World): Methods {
  return {
    "files.getUploadURLExternal": {
      scopes: ["files:write"],
      run(args) {
        const name = args.need("filename");
        const length = Number(args.need("length"));
        if (!Number.isInteger(length) || length < 1) throw invalid("invalid length");
        const id = world.nextId("F00");
        world.incoming.set(id, { name, length, bytes: undefined, looks: undefined });
        return { upload_url: `${world.origin}/upload/v1/${id}`, file_id: id };
      },
    },
    "files.completeUploadExternal": {
      scopes: ["files:write"],
      run(args) {
        const read = files.safeParse(args.json("files", "invalid_arguments"));
        if (!read.success) throw invalid("files");
        for (const { id } of read.data) {
          const file = world.incoming.get(id);
          if (file?.bytes === undefined) throw new Refusal("file_not_found");
          file.looks = 0;
          // Shared where the app says, for everyone there.
          const channel = args.text("channel_id");
          if (channel === undefined) continue;
          const place = world.channels.get(channel);
          if (place === undefined) throw new Refusal("channel_not_found");
          if (!place.members.has(world.bot.id)) throw new Refusal("not_in_channel");
          const { name, bytes } = file;
          world.shared.push({ channel, thread: args.text("thread_ts"), name, bytes });
        }
        return { files: read.data };
      },
    },
    "files.info": {
      scopes: ["files:read"],
      run(args) {
        const file = world.incoming.get(args.need("file"));
        if (file?.looks === undefined) throw new Refusal("file_not_found");
        file.looks += 1;
        return { file: { id: args.need("file"), mimetype: isReady(file) ? "image/png" : "" } };
      },
    },
  };
}

/** It takes Slack a moment. */
function isReady({ looks = 0 }: { looks: number | undefined }): boolean {
  return looks >= 2;
}

/** The ids of files that blocks show and that Slack does not know yet, or not as images. */
export function unreadyFiles(world: World, blocks: unknown): string[] {
  const images = z
    .array(z.looseObject({ slack_file: z.looseObject({ id: z.string() }).optional() }))
    .parse(blocks);
  return images.flatMap(({ slack_file: shown }) => {
    const file = shown && world.incoming.get(shown.id);
    return shown === undefined || (file !== undefined && isReady(file)) ? [] : [shown.id];
  });
}

/** Takes the bytes, at the address that was given out for them. */
export async function takeUpload(
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname } = new URL(request.url ?? "", "http://localhost");
  const file = world.incoming.get(pathname.split("/").at(-1) ?? "");
  const body = await bodyOf(request);
  const type = request.headers["content-type"] ?? "";
  const bytes = type.startsWith("multipart/") ? await firstFile(body, type) : body;
  if (file === undefined || bytes.length !== file.length) {
    response.writeHead(400).end("bad upload");
    return;
  }
  file.bytes = bytes;
  response.writeHead(200).end(`OK - ${bytes.length}`);
}

async function firstFile(body: Buffer, type: string): Promise<Uint8Array> {
  const form = await new Response(body, { headers: { "content-type": type } }).formData();
  const [file] = [...form.values()].filter((value) => typeof value !== "string");
  return new Uint8Array((await file?.arrayBuffer()) ?? new ArrayBuffer(0));
}
