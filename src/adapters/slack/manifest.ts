import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";

const MANIFEST = join(import.meta.dirname, "../../../slack-manifest.yaml");

/** Slack's page that creates the app, filled in. */
export async function manifestLink(): Promise<string> {
  const query = new URLSearchParams({
    new_app: "1",
    manifest_json: JSON.stringify(parse(await readFile(MANIFEST, "utf8"))),
  });
  return `https://api.slack.com/apps?${query.toString()}`;
}
