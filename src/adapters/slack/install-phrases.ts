/** What somebody who installs the app in a workspace reads in their browser. */

import { INSTALL_PATH } from "./scopes.ts";

const AGAIN = `Begin again at ${INSTALL_PATH}.`;

export const NOT_READY = "Watchkeeper is still starting. Try again in a moment.";
export const OTHER_BROWSER = `Nothing was installed: this installation did not begin in this browser. ${AGAIN}`;
export const TOO_LATE = `Nothing was installed: more than ten minutes have passed. ${AGAIN}`;
export const USED = `This installation was finished or given up before. ${AGAIN}`;

/** Enterprise Grid. */
export const ORG_WIDE =
  "Nothing was installed: Watchkeeper can't be installed for a whole Enterprise Grid organization. Install it in each of its workspaces, one at a time.";

export function cancelled(error: string): string {
  const why = /^[a-z_]{1,50}$/.test(error) ? ` (${error})` : "";
  return `Nothing was installed: Slack says that it was cancelled${why}. ${AGAIN}`;
}

export function notWelcome(name: string, team: string): string {
  return `Nothing was installed: this Watchkeeper doesn't serve the workspace ${name} (${team}). Whoever runs it can add ${team} to SLACK_WORKSPACES.`;
}

export function installed(name: string): string {
  return `Watchkeeper is installed in ${name}. In a channel there: /invite @watchkeeper, then @watchkeeper help.`;
}

export function installedLater(name: string, why: string): string {
  return `Watchkeeper is installed in ${name} and not connected yet: ${why} It tries again every minute.`;
}

export function failed(why: string): string {
  return `Nothing was installed. ${why} ${AGAIN}`.replace("  ", " ");
}
