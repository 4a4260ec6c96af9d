import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { counted } from "../src/core/text.ts";
import { FAULTS } from "./faults.ts";
import { type Lab, openLab, removeLab } from "./lab.ts";
import { installParts, PARTS } from "./parts.ts";
import { tryChecks, tryFault } from "./try.ts";

/** `npm run lab`: real servers on loopback, and what can go wrong with them. */

const USAGE = `npm run lab                    starts what can be started here, and says how it is reached
npm run lab -- start <part…>   starts these parts: ${PARTS.map(({ name }) => name).join(", ")}
npm run lab -- faults          lists what can be broken
npm run lab -- break <fault>   breaks it
npm run lab -- mend <fault>    mends it
npm run lab -- try <fault…>     breaks it, asks the bot without a model what is wrong, and mends it; none given: each
npm run lab -- checks <fault…>  asks the skills' checks about it without a model, before it and with it; none given: each
npm run lab -- stop            ends everything and takes the lab away
`;

async function start(lab: Lab, names: readonly string[]): Promise<void> {
  const wanted = PARTS.filter(({ name }) => names.length === 0 || names.includes(name));
  const unknown = names.filter((name) => !PARTS.some((part) => part.name === name));
  if (unknown.length > 0) throw new Error(`There is no part ${unknown.join(", ")}.\n${USAGE}`);
  const here = wanted.filter((part) => {
    const why = part.missing?.();
    if (why !== undefined) console.log(`${part.name}: not here; ${why}`);
    return why === undefined;
  });
  installParts(here);
  for (const part of here) {
    await part.start(lab);
    lab.save();
    console.log(`${part.name}: runs`);
  }
  const file = join(lab.folder, "env");
  const lines = Object.entries(lab.state.variables).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, lines.join(""));
  console.log(`\n${lines.join("")}\nTo let the bot see it: set -a; . ${file}; set +a; npm start`);
}

async function stop(lab: Lab): Promise<void> {
  for (const name of lab.state.broken) await FAULTS.find((fault) => fault.name === name)?.mend(lab);
  for (const part of PARTS) part.stop?.(lab);
  await removeLab(lab);
}

async function tryAll(lab: Lab, names: readonly string[]): Promise<void> {
  const wanted = FAULTS.filter(({ name }) => names.length === 0 || names.includes(name));
  let [named, tried] = [0, 0];
  const ratios: number[] = [];
  for (const fault of wanted) {
    const trial = await tryFault(lab, fault);
    if (trial === undefined) {
      console.log(`- ${fault.name}: no tool names it yet`);
      continue;
    }
    tried += 1;
    if (trial.isNamed) {
      named += 1;
      ratios.push(trial.raw.tokens / trial.tokens);
    }
    const { isNamed, seconds, tokens, raw, answer } = trial;
    console.log(
      `${isNamed ? "✓" : "✗"} ${fault.name}: ${seconds} s, 1 call, ${tokens} tokens; in a shell ${counted(raw.commands, "command")}, ${raw.tokens} tokens (${(raw.tokens / tokens).toFixed(1)}×)`,
    );
    if (!isNamed || names.length > 0) console.log(answer);
  }
  console.log(
    `${named} of ${tried} named, ${wanted.length} tried; median ${median(ratios).toFixed(1)}× fewer tokens than in a shell`,
  );
}

async function checkAll(lab: Lab, names: readonly string[]): Promise<void> {
  const wanted = FAULTS.filter(({ name }) => names.length === 0 || names.includes(name));
  const times: number[] = [];
  let [named, wrong] = [0, 0];
  for (const fault of wanted) {
    const { isNamed, isFirst, looked, before, seconds } = await tryChecks(lab, fault);
    if (isNamed) named += 1;
    wrong += before.causes.length;
    if (looked.firstMs !== undefined) times.push(looked.firstMs);
    const place = isFirst ? "named first" : isNamed ? "named" : "NOT named";
    console.log(
      `${isNamed ? "✓" : "✗"} ${fault.name}: ${place} after ${seconds} s, by ${looked.skills.join(", ")}; first finding in ${Math.round(looked.firstMs ?? Number.NaN)} ms, all in ${Math.round(looked.allMs)} ms`,
    );
    for (const text of before.causes) console.log(`    said before it: ${text}`);
    for (const text of looked.causes) console.log(`    ${text}`);
    if (!isNamed) console.log(looked.text);
  }
  console.log(
    `${named} of ${wanted.length} named without a model; ${wrong} said of what was well; first finding: median ${Math.round(median(times))} ms, slowest ${Math.round(Math.max(...times))} ms`,
  );
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

async function change(lab: Lab, way: "break" | "mend", name: string | undefined): Promise<void> {
  const fault = FAULTS.find((each) => each.name === name);
  if (fault === undefined)
    throw new Error(`There is no fault ${name ?? ""}. \`npm run lab -- faults\` lists them.`);
  await fault[way](lab);
  const others = lab.state.broken.filter((each) => each !== fault.name);
  lab.state.broken = way === "break" ? [...others, fault.name] : others;
  lab.save();
  console.log(way === "break" ? `broken: ${fault.about}` : `mended: ${fault.name}`);
}

const [command = "start", ...words] = process.argv.slice(2);
const lab = openLab();
try {
  if (command === "start") await start(lab, words);
  else if (command === "break" || command === "mend") await change(lab, command, words[0]);
  else if (command === "try") await tryAll(lab, words);
  else if (command === "checks") await checkAll(lab, words);
  else if (command === "stop") await stop(lab);
  else if (command === "faults")
    for (const { name, about } of FAULTS)
      console.log(`${lab.state.broken.includes(name) ? "✗" : " "} ${name.padEnd(24)} ${about}`);
  else console.log(USAGE);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
// Clients of servers that a fault stopped may hold the process.
process.exit();
