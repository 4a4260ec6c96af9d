import type { ActionCard } from "../shown.ts";
import { clip } from "./clip.ts";
import { briefArgs } from "./phrases.ts";

/** Nothing of ours in a title or label is longer. */
export const MAX_NAME = 64;
/** Slack's header, with the question mark. */
const MAX_TITLE = 150;

/** `Restart nginx on web-1` */
export function titleOf({ tool, host, preview: { title } }: ActionCard): string {
  const said = title ?? `Run ${clip(tool, MAX_NAME)}`;
  const where = host === undefined || said.endsWith(` on ${host}`) ? "" : onHost(host);
  const room = MAX_TITLE - where.length - 1;
  return `${said.length <= room ? said : clip(said.slice(0, room - 1), room - 2)}${where}`;
}

export function onHost(host: string | undefined): string {
  return host === undefined ? "" : ` on ${clip(host, MAX_NAME)}`;
}

/** What a person would type, in a shell or here. It says each argument that was asked for, but for the machine. */
export function commandOf({ tool, args, preview: { command, filled = [] } }: ActionCard): string {
  if (command !== undefined) return command;
  const asked = Object.entries(args).filter(([name]) => name !== "host" && !filled.includes(name));
  const words = briefArgs(Object.fromEntries(asked));
  return words === "" ? tool : `${tool} ${words}`;
}
