import { isAbsolute } from "node:path";
import { phraseProblem } from "../say.ts";
import { expressionProblem, patternProblem } from "./answer.ts";
import { alwaysGiven, fieldFor } from "./arguments.ts";
import { requestProblems } from "./request.ts";
import { type Argument, type PackTool, type Work } from "./schema.ts";
import { holesIn, templateProblem } from "../../core/templates.ts";

/** What is wrong with a tool that has a pack tool's form, by the place it stands at below the tool. */
export type Problem = readonly [path: readonly PropertyKey[], text: string];

/** Filled in by the program, so no argument may have these names. */
const OWN_NAMES = ["host", "captured", "pinned"];

export function* toolProblems(tool: PackTool): Iterable<Problem> {
  const { args, effect, capture, precheck, preview, verify, undo } = tool;
  for (const [name, argument] of Object.entries(args)) {
    const text = argumentProblem(name, argument);
    if (text !== undefined) yield [["args", name], text];
  }
  const names = Object.keys(args);
  const captured = Object.keys(capture?.values ?? {}).map((name) => `captured.${name}`);
  const known = [...names, ...captured];
  const always = new Set([...alwaysGiven(args), ...captured]);

  yield* workProblems(tool, known, always);
  if (tool.http === undefined && tool.run === undefined)
    yield [[], "expected http or run: what it does"];
  if (typeof tool.pick === "string") yield* expression(["pick"], tool.pick, known);
  else if (tool.pick !== undefined)
    yield* problem(["pick", "lines"], patternProblem(tool.pick.lines));
  for (const [at, phrase] of tool.say.entries())
    yield* problem(["say", at], phraseProblem(phrase, names, alwaysGiven(args), args));
  for (const [path, text] of textsOf(tool)) yield* problem(path, templateProblem(text, known));

  const looks = { precheck, capture, verify, ...(hasWork(preview) && { preview }) };
  for (const [part, look] of Object.entries(looks)) {
    if (look === undefined) continue;
    const own = part === "capture" ? names : known;
    yield* under([part], workProblems(look, own, new Set(own.filter((name) => always.has(name)))));
    if (!hasWork(look)) yield [[part], "expected http or run: where to look"];
    const { http } = look;
    if (http !== undefined && http.get === undefined && http.head === undefined)
      yield [[part, "http"], "only looks, so it takes get or head"];
  }
  for (const [part, look] of Object.entries({ precheck, verify }))
    if (look !== undefined) yield* expression([part, "condition"], look.condition, known);
  for (const [name, text] of Object.entries(capture?.values ?? {}))
    yield* expression(["capture", "values", name], text, names);
  if (typeof preview?.pick === "string")
    yield* expression(["preview", "pick"], preview.pick, known);
  for (const part of ["args", "expects"] as const)
    for (const [name, value] of Object.entries(undo?.[part] ?? {}))
      if (typeof value === "string")
        yield* problem(["undo", part, name], templateProblem(value, known));

  if (effect !== "read") return;
  for (const part of ["precheck", "capture", "preview", "verify", "undo"] as const)
    if (tool[part] !== undefined)
      yield [
        [part],
        "a read changes nothing, so there is nothing to check or take back; leave it out",
      ];
}

function argumentProblem(name: string, argument: Argument): string | undefined {
  const { type, values, pattern, min, max, default: preset, example } = argument;
  if (OWN_NAMES.includes(name)) return "the program fills this name in itself; choose another";
  if ((type === "enum") !== (values !== undefined))
    return type === "enum" ? "an enum needs values" : "values belong to type: enum";
  if (pattern !== undefined && type !== "string") return "a pattern belongs to type: string";
  const wrong = pattern === undefined ? undefined : patternProblem(pattern);
  if (wrong !== undefined) return `pattern ${wrong}`;
  if ((min ?? max) !== undefined && type !== "integer" && type !== "number")
    return "min and max belong to integers and numbers";
  const bare = fieldFor({ ...argument, default: undefined, optional: false });
  if (preset !== undefined && !bare.safeParse(preset).success)
    return "its default is no value that it takes";
  if (example !== undefined && !bare.safeParse(example).success)
    return "its example is no value that it takes";
  return undefined;
}

export function hasWork(part: Work | undefined): boolean {
  return part?.http !== undefined || part?.run !== undefined;
}

function* workProblems(
  { http, run }: Work,
  known: readonly string[],
  always: ReadonlySet<string>,
): Iterable<Problem> {
  if (http !== undefined && run !== undefined) yield [["run"], "expected http or run, not both"];
  if (http !== undefined) yield* under(["http"], requestProblems(http, known, always));
  const [program = "", ...rest] = run?.argv ?? [];
  if (run !== undefined) {
    if (program === "" || program.startsWith("-") || holesIn(program).length > 0)
      yield [
        ["run"],
        "begins with a program, by its name or absolute path; no argument chooses it",
      ];
    else if (program.includes("/") && !isAbsolute(program))
      yield [["run"], `${program} is a relative path; give an absolute one`];
    else if (/\s/.test(program))
      yield [["run"], "there is no shell: each argument is an item of its own"];
  }
  for (const [at, item] of rest.entries())
    yield* problem(["run", at + 1], templateProblem(item, known));
  const script = scriptIn([program, ...rest]);
  if (script !== undefined && holesIn(script.text).length > 0)
    yield [
      ["run", script.at],
      'would read the value as a part of the program; hand it over as an item of its own, such as [sh, -c, \'ls -- "$1"\', sh, "{{name}}"]',
    ];
}

const INTERPRETER = /(?:^|\/)(?:(?:ba|da|z|k|a)?sh|busybox|python[\d.]*|perl|ruby|node|php)$/;

/** The text that an interpreter takes for a program: what follows its `-c` or `-e`. */
function scriptIn(argv: readonly string[]): { text: string; at: number } | undefined {
  const from = argv.findIndex((item) => INTERPRETER.test(item));
  const option = argv.findIndex((item, at) => at > from && /^-[a-z]*[ce]$/i.test(item));
  const text = from === -1 || option === -1 ? undefined : argv[option + 1];
  return text === undefined ? undefined : { text, at: option + 1 };
}

/** Texts with holes, for people and locks. */
function textsOf({ resource, precheck, preview }: PackTool): [string[], string][] {
  const found: [string[], string | undefined][] = [
    [["resource"], resource],
    [["precheck", "otherwise"], precheck?.otherwise],
    [["preview", "text"], preview?.text],
    [["preview", "blastRadius"], preview?.blastRadius],
  ];
  return found.filter((each): each is [string[], string] => each[1] !== undefined);
}

function* expression(
  path: readonly PropertyKey[],
  text: string,
  known: readonly string[],
): Iterable<Problem> {
  yield* problem(path, expressionProblem(text, known));
}

function* problem(path: readonly PropertyKey[], text: string | undefined): Iterable<Problem> {
  if (text !== undefined) yield [path, text];
}

function* under(path: readonly PropertyKey[], found: Iterable<Problem>): Iterable<Problem> {
  for (const [inner, text] of found) yield [[...path, ...inner], text];
}

/** Of one pack beside the others: what `undo` names is there, and refuses once the world is another. */
export function undoProblem(
  { undo }: PackTool,
  argumentsOf: (tool: string) => readonly string[] | undefined,
  target: PackTool | undefined,
): string | undefined {
  if (undo === undefined) return undefined;
  const names = argumentsOf(undo.tool);
  if (names === undefined) return `there is no tool ${undo.tool}`;
  const strange = Object.keys(undo.args).find((name) => !names.includes(name));
  if (strange !== undefined) return `${undo.tool} takes no ${strange}`;
  const captured = Object.keys(target?.capture?.values ?? {}).toSorted();
  const expected = Object.keys(undo.expects).toSorted();
  if (target !== undefined && captured.join() !== expected.join())
    return `expects takes what ${undo.tool} captures, as it is after this call: ${captured.join(", ") || "nothing"}`;
  if (target !== undefined && captured.length === 0 && target.precheck === undefined)
    return `nothing refuses ${undo.tool} once the world is another; give it a capture or a precheck`;
  return undefined;
}
