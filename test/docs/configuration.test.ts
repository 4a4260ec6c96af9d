import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { configSchema, loadConfig } from "../../src/config/config.ts";
import { decide } from "../../src/approvals/policy.ts";
import { createEncoder } from "../../src/security/encoder.ts";
import { createDispatcher } from "../../src/tools/dispatch.ts";
import { createTools } from "../../src/tools/registry.ts";
import { VARIABLES } from "../../src/config/variables.ts";
import { noWorld } from "../fakes/tool-context.ts";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "watchkeeper-pages-"));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

describe("the pages on configuration", () => {
  it(".env.example has exactly the variables that are read, with their defaults", async () => {
    const env = parseEnv(await readFile(".env.example", "utf8"));
    expect(env).toEqual(VARIABLES);
    expect(await loadConfig(env, { cwd })).toEqual(await loadConfig({}, { cwd }));
  });

  it("docs/configuration.md has exactly the variables that are read, with their defaults", async () => {
    const rows = await tableRows("## Environment");
    const documented = rows.map(([name = "", value = ""]) => [
      name.replaceAll("`", ""),
      value === "(not set)" ? "" : value.replaceAll("`", ""),
    ]);
    expect(Object.fromEntries(documented)).toEqual(VARIABLES);
  });

  it("docs/configuration.md has exactly the keys of watchkeeper.yaml", async () => {
    const rows = await tableRows("## watchkeeper.yaml");
    const documented = rows.map(([name = ""]) => name.replaceAll("`", ""));
    const known = keysOf(z.toJSONSchema(configSchema, { io: "input" }));
    // A list of objects is documented as itself and by each of its keys.
    expect(documented.toSorted()).toEqual(
      [...known, "approvals.rules", "access.rules", "people"].toSorted(),
    );
  });

  it("the example in docs/configuration.md loads", async () => {
    const page = await readFile("docs/configuration.md", "utf8");
    const yaml = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? "";
    await writeFile(join(cwd, "watchkeeper.yaml"), yaml);
    const config = await loadConfig({}, { cwd });
    expect(config.approvals.rules.map((rule) => rule.decide)).toEqual(["allow", "deny", "ask"]);
    expect(config.network.allow).toHaveLength(2);
    expect(config.logs.roots).toEqual(["/var/log", "/srv/app/logs"]);
    // And means what it says beside each rule.
    const tools = createTools();
    const dispatcher = createDispatcher({
      host: "stage",
      tools,
      ...noWorld,
      encoder: createEncoder([]),
    });
    const decisionOn = (line: string) => {
      const call = { tool: "run_command", args: { argv: line.split(" ") } };
      const effect = dispatcher.effectOf(call.tool, call.args);
      return decide(config.approvals, { ...call, effect });
    };
    expect(decisionOn("systemctl reload nginx").kind).toBe("allow");
    expect(decisionOn("systemctl status nginx").kind).toBe("allow");
    expect(decisionOn("env rm -rf /srv").kind).toBe("deny");
    for (const line of ["systemctl restart nginx", "kill -9 1234", "kubectl delete ns prod"]) {
      expect(decisionOn(line)).toMatchObject({
        kind: "ask",
        quorum: 2,
        requesterMayApprove: false,
      });
    }
  });
});

/** The cells of the first table below a heading, without its head. */
async function tableRows(heading: string): Promise<string[][]> {
  const page = await readFile("docs/configuration.md", "utf8");
  const section = page.slice(page.indexOf(heading)).slice(heading.length).split(/^## /m)[0] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("|"));
  return rows.slice(2).map((row) =>
    row
      .split("|")
      .slice(1)
      .map((cell) => cell.trim()),
  );
}

/** Dotted paths of everything that is no object itself; `args` is one whose keys people choose. */
function keysOf(schema: z.core.JSONSchema.BaseSchema, path = ""): string[] {
  const inner = Array.isArray(schema.items) ? undefined : schema.items;
  if (typeof inner === "object" && inner.properties) return keysOf(inner, `${path}[]`);
  if (!schema.properties) return [path];
  return Object.entries(schema.properties).flatMap(([key, value]) =>
    typeof value === "boolean" ? [] : keysOf(value, path === "" ? key : `${path}.${key}`),
  );
}
