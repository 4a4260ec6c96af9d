import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

/** What `npm pack` makes, unpacked, and started as people start it who installed it. */

const ROOT = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "wk-package-"));
const [checkout, installed] = [join(folder, "checkout"), join(folder, "package")];

const LEFT_OUT = /(?:^|\/)(?:node_modules|dist|data|\.git)$/;

beforeAll(() => {
  // A copy, so that what is built does not take the place of the sources for the tests beside this one.
  cpSync(ROOT, checkout, { recursive: true, filter: (name) => !LEFT_OUT.test(name) });
  symlinkSync(join(ROOT, "node_modules"), join(checkout, "node_modules"));
  const packed = execFileSync("npm", ["pack", "--silent"], { cwd: checkout, encoding: "utf8" });
  execFileSync("tar", ["xf", join(checkout, packed.trim()), "-C", folder]);
  symlinkSync(join(ROOT, "node_modules"), join(installed, "node_modules"));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The PATH without what npm adds for its scripts: the first `node` there is the machine's own, however old. */
const PATH = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((each) => !each.includes("node_modules"))
  .join(delimiter);

async function run(program: string, args: readonly string[]): Promise<string> {
  const env = { PATH, DATA_DIR: join(folder, "data") };
  const child = spawn("node", [join(program, "bin/watchkeeper.js"), ...args], { env, cwd: folder });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => (said += String(chunk)));
  child.stdin.end();
  const [code] = await once(child, "close");
  return `${String(code)}\n${said}`;
}

test("the machine's Node, however old, starts the package with one that can", async () => {
  expect(await run(installed, ["--version"])).toMatch(/^0\nwatchkeeper \S+, Node\.js v?24\./);
  expect(await run(installed, ["ask", "run disk_usage"])).toMatch(/^0\n[^]*disk_usage/);
  expect(await run(installed, ["ask"])).toMatch(/^2\n[^]*npx watchkeeper ask/);
});

test("what ships beside the sources is found, and threads run what was built", async () => {
  const said = await run(installed, ["doctor"]);
  expect(said).toMatch(/^ok +skills +.*incident-response/m);
  expect(said).toContain("https://api.slack.com/apps?new_app=1&manifest_json=");
  writeFileSync(join(folder, "some.log"), "one\nanother\n");
  writeFileSync(join(folder, "watchkeeper.yaml"), `logs: { roots: [${folder}] }`);
  const search = `run read_log path=${join(folder, "some.log")} grep=^an`;
  expect(await run(installed, ["ask", search])).toContain("another");
  const built = readdirSync(join(installed, "dist")).map((name) =>
    readFileSync(join(installed, "dist", name), "utf8"),
  );
  expect(built.filter((code) => /\.ts",\s*import\.meta\.url/.test(code))).toEqual([]);
  const prepared: object = JSON.parse(readFileSync(join(installed, "dist/skills.json"), "utf8"));
  expect(Object.keys(prepared)).toHaveLength(readdirSync(join(installed, "skills")).length);
});

test("a checkout runs what was built until a source is newer", async () => {
  const main = join(checkout, "dist/main.js");
  writeFileSync(main, `console.log("built");${readFileSync(main, "utf8")}`);
  expect(await run(checkout, ["--version"])).toMatch(/^0\n[^]*built/);
  writeFileSync(join(checkout, "src/newer.ts"), "");
  const said = await run(checkout, ["--version"]);
  expect(said).toMatch(/^0\nwatchkeeper/);
  expect(said).not.toContain("built");
});
