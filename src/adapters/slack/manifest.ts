import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { shipped } from "../../core/installation.ts";

/** Slack's page that creates the app, filled in. */
export async function manifestLink(): Promise<string> {
  const query = new URLSearchParams({
    new_app: "1",
    manifest_json: JSON.stringify(parse(await readFile(shipped("slack-manifest.yaml"), "utf8"))),
  });
  return `https://api.slack.com/apps?${query.toString()}`;
}
