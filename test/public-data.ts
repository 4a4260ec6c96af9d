import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** Where data that others published lies beside a checkout; a test that reads it also passes without it. */
const FOLDER = join(import.meta.dirname, "../../shared/data");

/** One value per line of an NDJSON file, `.gz` or not; none where the data is not there. */
export function publicRecords(path: string): unknown[] {
  const file = join(FOLDER, path);
  if (!existsSync(file)) return [];
  const bytes = readFileSync(file);
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}
