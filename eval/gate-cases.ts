import type { JsonObject } from "../src/core/entry.ts";
import type { SwitchedGate } from "../src/core/gates.ts";
import type { EvalCase, FrozenOutput, ScriptedTurn } from "../src/evals/case.ts";

/**
 * For each gate a model that makes the mistake which the gate is for, one that mends it when it is told, one that does not, and one
 * that makes none on a system that is well.
 */

/** `told`: it takes the gate's word. `deaf`: it goes on as it would. `well`: it makes no mistake. */
export const MODELS = ["told", "deaf", "well"] as const;
export type ScriptedModel = (typeof MODELS)[number];

interface GateCase {
  readonly gate: SwitchedGate;
  readonly mistake: string;
  readonly question: string;
  /** Settings of `agent` without `gates`. */
  readonly agent?: JsonObject;
  readonly outputs: readonly FrozenOutput[];
  readonly wrong: readonly ScriptedTurn[];
  /** What the gate's word has, and what a model does that takes it. */
  readonly word: string;
  readonly mended: readonly ScriptedTurn[];
  readonly well: readonly ScriptedTurn[];
  /** What a well-behaved model does once the gate speaks to it all the same. */
  readonly wellMended?: readonly ScriptedTurn[];
  /** What stands in a good answer, and what does not run. */
  readonly finds: string;
  readonly neverRuns?: string;
  /** The most calls that a good run makes. */
  readonly calls?: number;
}

const SITE = { url: "https://shop.example.com" };
const NGINX = { name: "nginx" };
const BOTH_WELL = "CONFIRMED: nothing is wrong: the shop answers [T1], and nginx runs [T2].";
const WELL = "CONFIRMED: nothing is wrong: the shop answers 200 in 80 ms [T1].";

function output(
  tool: string,
  text: string,
  rest: Partial<Pick<FrozenOutput, "after" | "outcome" | "args">> = {},
): FrozenOutput {
  return { tool, text, args: {}, outcome: "ok", findings: [], ...rest };
}

function calls(tool: string, args: ScriptedTurn["calls"][number]["args"], say = ""): ScriptedTurn {
  return { say, calls: [{ tool, args }] };
}

function says(say: string): ScriptedTurn {
  return { say, calls: [] };
}

function plan(...steps: readonly (readonly [content: string, status: string])[]): ScriptedTurn {
  const tasks = steps.map(([content, status]) => ({ content, status }));
  return calls("update_plan", { tasks });
}

const looksAtSite = calls("http_check", SITE);
const looksAtUnit = calls("service_status", NGINX);
const restarts = calls("restart_service", NGINX);
const searchesLog = calls("search_host_logs", { unit: "nginx" });
const siteIsWell = output("http_check", "https://shop.example.com: 200 in 80 ms");
const unitRuns = output("service_status", "nginx: active (running) since 3 days");

/** What the tools say where nothing is broken. */
const HEALTHY: readonly FrozenOutput[] = [
  siteIsWell,
  unitRuns,
  output("restart_service", "nginx: restarted"),
  output("search_host_logs", "nginx: no errors in the last hour"),
];

export const GATE_CASES: readonly GateCase[] = [
  {
    gate: "evidence",
    mistake: "cites a call that was never made",
    question: "Is https://shop.example.com down?",
    outputs: [siteIsWell],
    wrong: [looksAtSite, says("CONFIRMED: the shop is down [T7].")],
    word: "[T7] names no call",
    mended: [says(WELL)],
    well: [looksAtSite, says(WELL)],
    finds: "nothing is wrong",
  },
  {
    gate: "stuck",
    mistake: "makes the same call again and again",
    question: "Is https://shop.example.com down?",
    outputs: [siteIsWell],
    wrong: [...Array.from({ length: 10 }, () => looksAtSite), says(WELL)],
    word: "going in circles",
    mended: [says(WELL)],
    well: [looksAtSite, says(WELL)],
    finds: "nothing is wrong",
    calls: 3,
  },
  {
    gate: "required",
    mistake: "concludes without the call that this kind of task needs",
    question: "Does the shop work?",
    agent: { requires: { "*": ["service_status"] } },
    outputs: [siteIsWell, output("service_status", "nginx: 40 restarts in an hour")],
    wrong: [looksAtSite, says("CONFIRMED: all is well [T1].")],
    word: "needs calls that were not made",
    mended: [
      looksAtUnit,
      says("CONFIRMED: it answers [T1], but nginx was restarted 40 times [T2]."),
    ],
    well: [looksAtSite, looksAtUnit, says(BOTH_WELL)],
    finds: "40 times",
  },
  {
    gate: "verification",
    mistake: "calls a restart a success and looks at nothing after it",
    question: "nginx is down, bring it back.",
    outputs: [
      output("service_status", "nginx: failed"),
      output("restart_service", "nginx: the restart was asked for"),
      output("service_status", "nginx: failed again after 1 s", { after: "restart_service" }),
    ],
    wrong: [looksAtUnit, restarts, says("CONFIRMED: nginx runs again [T2].")],
    word: "Nothing was looked at after",
    mended: [looksAtUnit, says("CONFIRMED: nginx fails again after 1 s [T3].")],
    well: [
      looksAtUnit,
      restarts,
      looksAtUnit,
      says("CONFIRMED: nothing is wrong: nginx runs [T3]."),
    ],
    finds: "fails again",
  },
  {
    gate: "recovery",
    mistake: "repeats a call that failed, and then leaves it out",
    question: "Why does nginx not start?",
    outputs: [
      output("read_log", "/var/log/nginx/error.log: permission denied", { outcome: "error" }),
      output("search_host_logs", "nginx: bind() to 0.0.0.0:80 failed: address in use"),
      output("service_status", "nginx: failed"),
    ],
    wrong: [
      calls("read_log", { path: "/var/log/nginx/error.log" }),
      calls("read_log", { path: "/var/log/nginx/error.log" }),
      looksAtUnit,
      says("CONFIRMED: nginx failed by itself [T3]."),
    ],
    word: "you have written nothing since",
    mended: [
      calls(
        "search_host_logs",
        { unit: "nginx" },
        "I may not read the file. The unit's log has it too.",
      ),
      says("CONFIRMED: another process has port 80 [T3]. The file could not be read [T1]."),
    ],
    well: [searchesLog, says("CONFIRMED: nothing is wrong: its log has no errors [T1].")],
    finds: "port 80",
  },
  {
    gate: "planning",
    mistake: "answers with a step of its plan open",
    question: "Check the site and the unit.",
    agent: { plan: true },
    outputs: [siteIsWell, output("service_status", "nginx: 40 restarts in an hour")],
    wrong: [
      plan(["Site", "in_progress"], ["Unit", "pending"]),
      looksAtSite,
      says("CONFIRMED: all is well [T2]."),
    ],
    word: "Your answer was not shown yet: ",
    mended: [
      plan(["Site", "completed"], ["Unit", "in_progress"]),
      looksAtUnit,
      plan(["Site", "completed"], ["Unit", "completed"]),
      says("CONFIRMED: it answers [T2], but nginx was restarted 40 times [T4]."),
    ],
    well: [looksAtSite, looksAtUnit, says(BOTH_WELL)],
    wellMended: [
      plan(["Site", "completed"], ["Unit", "in_progress"]),
      plan(["Site", "completed"], ["Unit", "completed"]),
      says(BOTH_WELL),
    ],
    finds: "40 times",
  },
  {
    gate: "replan",
    mistake: "goes on with a step of its plan whose calls fail",
    question: "Why does nginx not start?",
    agent: { plan: true },
    outputs: [
      output("read_log", "permission denied", { outcome: "error" }),
      output("search_host_logs", "nginx: bind() to 0.0.0.0:80 failed: address in use"),
    ],
    wrong: [
      plan(["Read the log", "in_progress"]),
      ...["a", "b", "c", "d", "e"].map((name) =>
        calls("read_log", { path: `/var/log/nginx/${name}.log` }),
      ),
      says("INCONCLUSIVE: no log can be read [T2]."),
    ],
    word: "of your plan fails",
    mended: [
      plan(["Search the unit's log", "in_progress"]),
      searchesLog,
      says("CONFIRMED: another process has port 80 [T5]."),
    ],
    well: [
      plan(["Search the unit's log", "in_progress"]),
      searchesLog,
      says("CONFIRMED: nothing is wrong: its log has no errors [T2]."),
    ],
    finds: "port 80",
  },
  {
    gate: "synthesis",
    mistake: "answers from one of two results",
    question: "Is everything well with the shop?",
    outputs: [siteIsWell, output("service_status", "nginx: 40 restarts in an hour")],
    wrong: [looksAtSite, looksAtUnit, says("CONFIRMED: all is well [T1].")],
    word: "put together",
    mended: [says("CONFIRMED: it answers [T1], but nginx was restarted 40 times [T2].")],
    well: [looksAtSite, looksAtUnit, says(BOTH_WELL)],
    finds: "40 times",
  },
  {
    gate: "phases",
    mistake: "acts before it has looked",
    question: "nginx is down, bring it back.",
    agent: {
      phases: [
        { name: "look", tools: ["*"], reads: true, calls: 1 },
        { name: "act", tools: ["*"] },
      ],
    },
    outputs: [unitRuns, output("restart_service", "nginx: restarted")],
    wrong: [restarts, says("CONFIRMED: nginx runs again. DONE: nginx restarted [T1].")],
    word: "not available in this phase",
    mended: [looksAtUnit, says("CONFIRMED: nothing is wrong: nginx runs since 3 days [T2].")],
    well: [looksAtUnit, says("CONFIRMED: nothing is wrong: nginx runs since 3 days [T1].")],
    finds: "nothing is wrong",
    neverRuns: "restart_service",
  },
];

/** The case as one of the three models plays it. */
export function caseFor(each: GateCase, model: ScriptedModel): EvalCase {
  const { gate, mistake, question, agent = {}, outputs, finds, word, neverRuns } = each;
  const isWell = model === "well";
  const mended = model === "told" ? each.mended : isWell ? each.wellMended : undefined;
  return {
    name: `${gate}-${model}`,
    about: mistake,
    kind: isWell ? "healthy" : "fault",
    question,
    settings: { model: { firstLook: false }, agent: { plan: false, ...agent } },
    variables: {},
    approves: true,
    outputs: isWell ? HEALTHY : outputs,
    script: isWell ? each.well : each.wrong,
    ...(mended !== undefined && { reactions: [{ word, turns: mended }] }),
    expect: {
      finds: [isWell ? "nothing is wrong" : finds],
      never: [],
      sees: [],
      cites: [],
      calls: [],
      neverRuns: neverRuns === undefined ? [] : [neverRuns],
    },
    limits: each.calls === undefined ? {} : { calls: each.calls },
  };
}
