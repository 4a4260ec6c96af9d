import type { Logger } from "pino";
import { type AttachedFile, createFileReader, type ReadFiles } from "../shared/inbound-files.ts";
import type { ReceivedMessage } from "./payloads.ts";

export function attachedFile({
  filename,
  content_type,
  size,
  url,
}: ReceivedMessage["attachments"][number]): AttachedFile {
  return { name: filename, type: content_type, size, url };
}

/** Downloads from Discord's own hosts and, for another server, from that one's; without the token. */
export function createDiscordFiles(apiUrl: string | undefined, log: Logger): ReadFiles {
  const origins = new Set(["https://cdn.discordapp.com", "https://media.discordapp.net"]);
  if (apiUrl !== undefined) origins.add(new URL(apiUrl).origin);
  return createFileReader({ origins, log });
}
