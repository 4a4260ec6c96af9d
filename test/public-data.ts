import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** A folder of data that others published. A test that reads it also passes without it. */
const FOLDER = process.env["PUBLIC_DATA"];

/** One value per line of an NDJSON file, `.gz` or not; none where no folder is named. */
export function publicRecords(path: string): unknown[] {
  if (FOLDER === undefined) return [];
  const bytes = readFileSync(join(FOLDER, path));
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}
