import { join } from "node:path";
import { expect, test } from "vitest";
import { loadSkills } from "../../src/skills/load.ts";
import { HOUSEKEEPING } from "../../src/thread/housekeeping.ts";
import { createTools } from "../../src/tools/registry.ts";

/** What looks at the systems or changes them, of the tools that need no server: a new tool is here, or it is housekeeping. */
const ABOUT_SYSTEMS = [
  "http_check",
  "tcp_check",
  "dns_lookup",
  "host_overview",
  "host_processes",
  "host_ports",
  "disk_usage",
  "read_log",
  "search_host_logs",
  "service_status",
  "restart_service",
  "run_command",
  "kill_process",
  // Of an earlier call's output.
  "read_artifact",
  "freeze",
  "unfreeze",
  "run_skill_script",
  "what_changed",
];

test("every tool that is about this program is housekeeping, and none that is about the systems", async () => {
  const folder = join(import.meta.dirname, "../../skills");
  const { skills } = await loadSkills([folder], (text) => text);
  const own = { "skills.folders": ["/srv/skills"], "skills.proposals": true };
  const names = (await createTools(own, { skills })).map(({ name }) => name);
  expect(names.filter((name) => !HOUSEKEEPING.test(name))).toEqual(ABOUT_SYSTEMS);
});
