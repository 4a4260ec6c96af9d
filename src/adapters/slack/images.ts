import { setTimeout as delay } from "node:timers/promises";
import { BotError } from "../../core/errors.ts";
import type { ShownImage } from "../shared/view.ts";
import type { Api } from "./api.ts";
import type { Place } from "./place.ts";
import { escapeText, type SlackMessage } from "./encode.ts";

/** Slack looks at a file for some moments after it came; until then a block that shows it is refused (slack-github-action issue 413). */
const WAITS_MS = [0, 250, 500, 1_000, 2_000, 2_000];

/**
 * Uploads images, which then belong to the bot alone, and makes the message that shows them, each with its words for whoever
 * cannot see it.
 * @throws as `Api.ask`; BotError PLATFORM_UNREACHABLE when Slack does not finish with one in time
 */
export async function slackImages(api: Api, images: readonly ShownImage[]): Promise<SlackMessage> {
  const ids = await Promise.all(images.map((image) => upload(api, image)));
  return {
    text: escapeText(images.map(({ alt }) => alt).join("\n")),
    blocks: images.map(({ alt }, at) => ({
      type: "image",
      slack_file: { id: ids[at] ?? "" },
      alt_text: alt,
    })),
  };
}

/** Sends a file into a thread, for everyone in it. @throws as `Api.ask` */
export async function sendFile(
  api: Api,
  { channel, root }: Place,
  { name, bytes, alt }: { name: string; bytes: Uint8Array; alt: string },
): Promise<void> {
  await api.ask("files.completeUploadExternal", (client) =>
    client.filesUploadV2({
      channel_id: channel,
      thread_ts: root,
      file: Buffer.from(bytes),
      filename: name,
      title: name,
      alt_text: alt,
    }),
  );
}

async function upload(api: Api, { name, bytes }: ShownImage): Promise<string> {
  const uploaded = await api.ask("files.getUploadURLExternal", (client) =>
    client.filesUploadV2({ file: Buffer.from(bytes), filename: name, title: name }),
  );
  const [{ files: [{ id = "" } = {}] = [] } = {}] = uploaded.files;
  for (const waitMs of WAITS_MS) {
    if (waitMs > 0) await delay(waitMs);
    const { file } = await api.ask("files.info", (client) => client.files.info({ file: id }));
    if ((file?.mimetype ?? "") !== "") return id;
  }
  throw new BotError("PLATFORM_UNREACHABLE", "Slack did not finish with an image in time.");
}
