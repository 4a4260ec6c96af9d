import { spawn, type ChildProcess } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Entry, JsonObject } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { commandLine } from "../../src/tools/arguments.ts";
import { argumentNames } from "../../src/tools/input-schema.ts";
import { createTools } from "../../src/tools/registry.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { openHost } from "../fakes/host.ts";
import { until } from "../until.ts";
import type { Platform } from "./surface.ts";

/** What a person sees of a form that they have opened, and sent with changes. */
export interface Sent {
  /** The form's fields as they were when it came up; `{}` holds them all as JSON. */
  fields: Record<string, string>;
  /** What they were told is wrong. */
  errors: string;
}

export interface EditingPlatform extends Platform {
  /** Bob opens the edit form of the action whose card says `on`, writes `changes` over what stands there, and sends it. */
  edit(
    key: JournalKey,
    { action, on }: { action: string; on: string },
    changes: Record<string, string>,
  ): Promise<Sent>;
  /** Corrects the form that was refused and sends it once more. */
  correct(key: JournalKey, changes: Record<string, string>): Promise<Sent>;
}

type Case = [
  tool: string,
  args: JsonObject,
  change: [field: string, text: string],
  becomes: JsonObject,
];

/** Each tool that an approval may be asked for, with an edit of one argument. */
const CASES = (pid: number): Case[] => [
  [
    "run_command",
    { argv: ["/bin/echo", "one two", "-n"] },
    ["argv", "/bin/echo\nthree four"],
    { argv: ["/bin/echo", "three four"] },
  ],
  ["kill_process", { pid }, ["signal", "KILL"], { pid, signal: "KILL" }],
  ["restart_service", { name: "nginx" }, ["name", "redis"], { name: "redis" }],
  [
    "http_check",
    { url: "http://127.0.0.1:1/" },
    ["followRedirects", "false"],
    { followRedirects: false },
  ],
  ["tcp_check", { host: "127.0.0.1", port: 1 }, ["port", "2"], { port: 2 }],
  ["dns_lookup", { name: "localhost" }, ["type", "MX"], { type: "MX" }],
  ["host_processes", { name: "nginx" }, ["limit", "5"], { limit: 5 }],
  ["what_changed", { service: "web" }, ["since", "2h"], { since: "2h" }],
  ["disk_usage", { path: "/" }, ["path", "/tmp"], { path: "/tmp" }],
  ["read_log", { path: "/var/log/a.log" }, ["lines", "7"], { lines: 7 }],
  ["search_host_logs", { unit: "nginx" }, ["pattern", "x y"], { pattern: "x y" }],
  ["service_status", { name: "nginx" }, ["name", "redis"], { name: "redis" }],
  ["read_artifact", { id: "abc" }, ["grep", "x y"], { grep: "x y" }],
  ["thread_search", { text: "web" }, ["limit", "3"], { limit: 3 }],
  ["incident_open", { title: "web is down" }, ["severity", "sev2"], { severity: "sev2" }],
  ["incident_update", { id: "inc-1", note: "n" }, ["note", "other"], { note: "other" }],
  ["incident_resolve", { id: "inc-1" }, ["cause", "a cause"], { cause: "a cause" }],
  ["incident_search", { text: "web" }, ["limit", "3"], { limit: 3 }],
  ["incident_get", { id: "inc-1" }, ["id", "inc-2"], { id: "inc-2" }],
  ["mirror", { to: "slack:T1:C1" }, ["to", "slack:T1:C2"], { to: "slack:T1:C2" }],
  ["cost_per_day", {}, ["days", "3"], { days: 3 }],
  ["freeze", { what: "prod", until: "2h" }, ["what", "staging"], { what: "staging" }],
  ["unfreeze", { what: "prod" }, ["what", "staging"], { what: "staging" }],
  ["incident_stats", { period: "today" }, ["period", "yesterday"], { period: "yesterday" }],
  ["incident_postmortem", { id: "inc-1" }, ["id", "inc-2"], { id: "inc-2" }],
  ["handoff", { period: "today" }, ["period", "yesterday"], { period: "yesterday" }],
  ["remember", { text: "web-2 drains" }, ["text", "web-3 drains"], { text: "web-3 drains" }],
  ["forget", { id: "m-k3qa7xw2ab" }, ["id", "m-k3qa7xw2ac"], { id: "m-k3qa7xw2ac" }],
  ["notes", { text: "web" }, ["limit", "3"], { limit: 3 }],
  ["recall", { text: "web" }, ["text", "disk"], { text: "disk" }],
];

/** Questions never get a card, others have no argument but the machine; tools for skills are there only with skills. */
const NEVER_EDITED = new Set([
  "approval_list",
  "ask_user",
  "feedback_list",
  "freeze_list",
  "host_overview",
  "host_ports",
  "unmirror",
  "whoami",
]);

/** What only this tool's card says: an action's id may also stand in a digest. */
function markOf(tool: string): string {
  return `the card of ${tool}`;
}

/** The tool as it is, on a machine where what it needs is there. */
function asIfThere(tool: Tool): Tool {
  const { unavailable: _unavailable, precheck: _precheck, pin, ...rest } = tool;
  // Nothing is remembered here that it could look up.
  const isPinned = pin !== undefined && tool.name !== "forget";
  const preview = {
    lines: [{ label: "Of", value: markOf(tool.name) }],
    blastRadius: "None.",
    undo: "None.",
  };
  return { ...rest, ...(isPinned && { pin }), preview: async () => preview };
}

const A1 = { action: "a1", on: markOf("run_command") };

/** Every tool's arguments can be edited on this surface, in a form of its own fields that refuses mistakes itself. */
export function editFormContract(name: string, open: () => Promise<EditingPlatform>): void {
  describe(`the edit form on ${name}`, () => {
    let platform: EditingPlatform;
    let journal: Journal;
    let victim: ChildProcess;
    let tools: Tool[];
    const ends: (() => Promise<void>)[] = [];

    beforeEach(async () => {
      platform = await open();
      tools = (await createTools()).map(asIfThere);
      journal = openMemoryJournal();
      victim = spawn("sleep", ["60"], { stdio: "ignore" });
    });
    afterEach(async () => {
      for (const end of ends.splice(0).toReversed()) await end();
      await platform.end();
      await journal.close();
      victim.kill("SIGKILL");
    });

    async function start(): Promise<void> {
      const connection = platform.connect();
      const approvals = { rules: [{ match: { tool: "*" }, decide: "ask" as const }] };
      const host = await openHost(connection.adapter, { journal, tools, approvals });
      await connection.start(host);
      ends.push(async () => {
        await host.stop();
        await connection.stop();
      });
    }
    const proposals = async (key: JournalKey, action: string) =>
      (await journal.read(key)).filter(
        (entry): entry is Entry<"action_proposed"> =>
          entry.kind === "action_proposed" && entry.action === action,
      );
    async function revision(key: JournalKey, action: string, wanted: number) {
      let found: Entry<"action_proposed"> | undefined;
      await until(async () => {
        found = (await proposals(key, action)).find((each) => each.revision === wanted);
        return found !== undefined;
      });
      if (found === undefined) throw new Error(`no revision ${wanted} of ${action}`);
      return found;
    }

    test("works for every tool that may ask, shows what a person may set, and nothing else", async () => {
      await start();
      const cases = CASES(victim.pid ?? 0);
      expect(cases.map(([tool]) => tool).toSorted()).toEqual(
        tools.flatMap((tool) => (NEVER_EDITED.has(tool.name) ? [] : [tool.name])).toSorted(),
      );
      let key: JournalKey | undefined;
      for (const [index, [tool, args, [field, text], becomes]] of cases.entries()) {
        const action = `a${index + 1}`;
        const asked = commandLine(tool, args);
        if (key === undefined) key = await platform.begin("ana", asked);
        else await platform.write(key, "ana", asked);
        const first = await revision(key, action, 1);
        const { fields, errors } = await platform.edit(
          key,
          { action, on: markOf(tool) },
          { [field]: text },
        );
        expect([tool, errors]).toEqual([tool, ""]);
        const found = tools.find((each) => each.name === tool);
        const names = found === undefined ? [] : argumentNames(found);
        const offered = Object.hasOwn(fields, "{}")
          ? Object.keys(JSON.parse(fields["{}"] ?? "{}"))
          : Object.keys(fields);
        // A form of JSON holds what is given; a form of fields every argument.
        if (Object.hasOwn(fields, "{}")) {
          expect([tool, offered.filter((each) => !names.includes(each))]).toEqual([tool, []]);
        } else expect([tool, offered.toSorted()]).toEqual([tool, names.toSorted()]);
        const second = await revision(key, action, 2);
        expect({ tool, args: second.args }).toMatchObject({ tool, args: becomes });
        expect(second.digest).not.toBe(first.digest);
      }
    }, 60_000);

    test("says what is wrong before anything is sent, keeps what was written, and takes it corrected", async () => {
      await start();
      const key = await platform.begin("ana", 'run run_command argv=\'["/bin/echo","x"]\'');
      await revision(key, "a1", 1);
      const refused = await platform.edit(key, A1, {
        argv: "-n\nkept as typed",
        timeoutSeconds: "90",
      });
      expect(refused.errors).toMatch(/start with a program/);
      const edits = async () =>
        (await journal.read(key)).filter(
          (entry) => entry.kind === "click" && entry.choice.kind === "edit",
        );
      expect(await edits()).toEqual([]);
      const { fields, errors } = await platform.correct(key, {
        argv: "/bin/echo\nkept as typed",
      });
      // The terminal asks again only from the mistake on.
      expect([undefined, "90"]).toContain(fields["timeoutSeconds"]);
      expect([undefined, "-n\nkept as typed"]).toContain(fields["argv"]);
      expect(errors).toBe("");
      expect((await revision(key, "a1", 2)).args).toMatchObject({
        argv: ["/bin/echo", "kept as typed"],
        timeoutSeconds: 90,
      });
    });

    test("sent as it was is refused, and so is what cannot be done", async () => {
      await start();
      const key = await platform.begin("ana", 'run run_command argv=\'["/bin/echo","x"]\'');
      await revision(key, "a1", 1);
      expect((await platform.edit(key, A1, {})).errors).toMatch(/Nothing was changed/);
      const { errors } = await platform.edit(key, A1, { argv: "no-such-program-anywhere" });
      expect(errors).toMatch(/no executable file/);
      expect(await proposals(key, "a1")).toHaveLength(1);
    });
  });
}
