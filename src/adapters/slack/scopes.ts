/** Where a workspace's administrator begins to install the app. */
export const INSTALL_PATH = "/slack/install";

/** Scopes of the bot token, all of which slack-manifest.yaml asks for; docs/slack.md says what each is for. */
export const SCOPES = [
  "app_mentions:read",
  "channels:history",
  "channels:read",
  "chat:write",
  "commands",
  "files:read",
  "files:write",
  "groups:history",
  "groups:read",
  "im:history",
  "im:read",
  "mpim:history",
  "mpim:read",
  "reactions:read",
  "reactions:write",
  "usergroups:read",
  "users:read",
];
