import { existsSync, readdirSync, readFileSync } from "node:fs";
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

/** The JSON files of a folder; none where no folder is named. */
export function publicFiles(folder: string): { name: string; value: unknown }[] {
  if (FOLDER === undefined || !existsSync(join(FOLDER, folder))) return [];
  return readdirSync(join(FOLDER, folder))
    .filter((name) => name.endsWith(".json"))
    .map((name) => ({
      name,
      value: JSON.parse(readFileSync(join(FOLDER, folder, name), "utf8")) as unknown,
    }));
}
