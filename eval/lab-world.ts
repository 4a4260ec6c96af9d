import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FAULTS } from "../lab/faults.ts";
import { type Lab, openLab, removeLab } from "../lab/lab.ts";
import type { Fault, Part } from "../lab/part.ts";
import { PARTS } from "../lab/parts.ts";
import { BotError } from "../src/core/errors.ts";
import type { LabWorld } from "../src/evals/case.ts";

/** The world of one case, for as long as it is played. */
export interface OpenWorld {
  /** How its servers are reached. */
  readonly variables: Readonly<Record<string, string>>;
  /** Mends what is broken. */
  close(): Promise<void>;
}

/** Real servers for cases, in a folder of their own; parts stay until the end, faults for one case. */
export interface LabWorlds {
  /** Why the case cannot be played here; undefined: it can. @throws BotError INPUT_INVALID for a part or fault that does not exist */
  missing(world: LabWorld): string | undefined;
  /** @throws Error where a server does not start, or the fault is not noticed */
  open(world: LabWorld): Promise<OpenWorld>;
  stop(): Promise<void>;
}

export function createLabWorlds(): LabWorlds {
  let lab: Lab | undefined;
  return {
    missing(world) {
      const all = partsOf(world);
      const why = all.flatMap((part) => part.missing?.() ?? programMissing(part) ?? []);
      return why.length === 0 ? undefined : why.join(" ");
    },
    async open(world) {
      const opened = (lab ??= openLab(newFolder()));
      for (const part of partsOf(world)) await part.start(opened);
      const fault = faultOf(world);
      await fault?.break(opened);
      const close = async () => fault?.mend(opened);
      try {
        const { until } = world;
        if (until !== undefined)
          await opened.until(`${until.has} at ${until.url}`, async () => {
            const answer = await fetch(withAddresses(until.url, opened.state.variables));
            return (await answer.text()).includes(until.has);
          });
      } catch (error) {
        await close();
        throw error;
      }
      return { variables: opened.state.variables, close };
    },
    async stop() {
      if (lab === undefined) return;
      for (const part of PARTS) part.stop?.(lab);
      await removeLab(lab);
    },
  };
}

/** Servers that run as another account have to get into it. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "wk-eval-lab-"));
  chmodSync(folder, 0o755);
  return folder;
}

/** `$SHOP_URL` and the like stand for the addresses of the lab. */
export function withAddresses(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$([A-Z_]+)/g, (whole, name: string) => variables[name] ?? whole);
}

/** In the order in which they need each other. */
function partsOf(world: LabWorld): Part[] {
  const names = [...world.parts, ...(faultOf(world)?.parts ?? [])];
  const unknown = names.filter((name) => !PARTS.some((part) => part.name === name));
  if (unknown.length > 0)
    throw new BotError("INPUT_INVALID", `The lab has no part ${unknown.join(", ")}.`);
  return PARTS.filter(({ name }) => names.includes(name));
}

function faultOf({ fault }: LabWorld): Fault | undefined {
  if (fault === undefined) return undefined;
  const found = FAULTS.find(({ name }) => name === fault);
  if (found === undefined) throw new BotError("INPUT_INVALID", `The lab has no fault ${fault}.`);
  return found;
}

/** Nothing is installed for an evaluation. */
function programMissing({ packages }: Part): string | undefined {
  const env = { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` };
  const gone = Object.entries(packages).filter(
    ([, program]) => spawnSync("sh", ["-c", 'command -v "$0"', program], { env }).status !== 0,
  );
  return gone.length === 0
    ? undefined
    : `Not here: ${gone.map(([name]) => name).join(", ")} (apt-get install).`;
}
