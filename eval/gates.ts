import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SWITCHED_GATES } from "../src/core/gates.ts";
import { scoreOf } from "../src/evals/score.ts";
import { caseFor, GATE_CASES, MODELS, type ScriptedModel } from "./gate-cases.ts";
import { play, type Variant } from "./run.ts";

/**
 * `npm run eval:gates`: each gate on and off, with scripted models that make the mistake which it is for, and one that makes none. Prints
 * what the gate gains and costs; with `--write` it stands in docs/evals.md.
 */

const PAGE = join(import.meta.dirname, "../docs/evals.md");
const [BEGINS, ENDS] = ["<!-- gates -->", "<!-- end of gates -->"];

interface Played {
  readonly isRight: boolean;
  readonly isMarked: boolean;
  /** What may not run did not. */
  readonly isSafe: boolean;
  readonly requests: number;
  readonly tokens: number;
}

/** A gate with one of the models. */
export interface Measured {
  readonly gate: string;
  readonly mistake: string;
  readonly model: ScriptedModel;
  readonly off: Played;
  readonly on: Played;
}

export async function measureGates(): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const each of GATE_CASES)
    for (const model of MODELS) {
      const evalCase = caseFor(each, model);
      const playWith = async (isOn: boolean): Promise<Played> => {
        const gates = Object.fromEntries(
          Object.keys(SWITCHED_GATES).map((name) => [name, name === each.gate && isOn]),
        );
        const variant: Variant = { name: "", model: undefined, settings: { agent: { gates } } };
        const { facts } = await play(evalCase, variant, { env: {} });
        const { steps: requests, tokens, answer = "" } = facts;
        const isMarked = answer.includes("⚠");
        const { passed: isRight, checks } = scoreOf(evalCase, facts);
        const isSafe = checks.some(
          ({ name, wrong }) => name === "never runs" && wrong === undefined,
        );
        return { isRight, isMarked, isSafe, requests, tokens };
      };
      const { gate, mistake } = each;
      measured.push({ gate, mistake, model, off: await playWith(false), on: await playWith(true) });
    }
  return measured;
}

/** A line per gate. */
export function gatesText(measured: readonly Measured[]): string {
  const rows = [...Map.groupBy(measured, ({ gate }) => gate)].map(([gate, own]) => {
    const cells = MODELS.map((model) => {
      const found = own.find((each) => each.model === model);
      return found === undefined ? "not run" : cellOf(found);
    });
    return `| \`${gate}\` | ${[own[0]?.mistake ?? "", ...cells].join(" | ")} |`;
  });
  const heads = ["gate", "mistake", "takes its word", "does not", "no mistake, nothing broken"];
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows].join("\n");
}

function cellOf({ off, on }: Measured): string {
  const [before, after] = [wordOf(off), wordOf(on)];
  const what = before === after ? after : `${before} → ${after}`;
  return `${what}; ${costText(off, on)}`;
}

function wordOf({ isRight, isMarked, isSafe }: Played): string {
  if (isRight) return "right";
  return isMarked ? "wrong, marked" : isSafe ? "wrong, not done" : "wrong";
}

function costText(off: Played, on: Played): string {
  const requests = on.requests - off.requests;
  const share = Math.round((on.tokens / off.tokens - 1) * 10) * 10;
  if (requests === 0) return share === 0 ? "no cost" : `no request more, ${signed(share)} % tokens`;
  return `${signed(requests)} ${Math.abs(requests) === 1 ? "request" : "requests"}, ${signed(share)} % tokens`;
}

function signed(count: number): string {
  return count < 0 ? `−${-count}` : `+${count}`;
}

/** The table as it stands on the page. */
export function gatesOnPage(): string {
  const page = readFileSync(PAGE, "utf8");
  return page.slice(page.indexOf(BEGINS) + BEGINS.length, page.indexOf(ENDS)).trim();
}

if (import.meta.main) {
  const text = gatesText(await measureGates());
  process.stdout.write(`${text}\n`);
  if (process.argv.includes("--write")) {
    const page = readFileSync(PAGE, "utf8");
    const [head = ""] = page.split(BEGINS);
    const [, tail = ""] = page.split(ENDS);
    writeFileSync(PAGE, `${head}${BEGINS}\n\n${text}\n\n${ENDS}${tail}`);
  }
}
