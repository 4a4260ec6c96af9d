import { NOBODY } from "../src/app/cli/examine.ts";
import { lookAtTools } from "../src/app/cli/look-at-tools.ts";
import { conclude, type Conclusion } from "../src/checks/conclude.ts";
import { matching } from "../src/checks/match.ts";
import { planOf } from "../src/checks/plan.ts";
import { subjectOfText } from "../src/checks/subject.ts";
import { loadConfig } from "../src/config/config.ts";
import { createNetwork } from "../src/net/dial.ts";
import { createEncoder } from "../src/security/encoder.ts";
import { readArguments } from "../src/tools/arguments.ts";
import { createDispatcher } from "../src/tools/dispatch.ts";
import { createExec } from "../src/tools/process.ts";

/** `node lab/checks.ts "<question>"` prints what the checks of the skills say to it without a model, as JSON. */
export interface Looked {
  skills: string[];
  statements: Conclusion["statements"];
  /** Until the first finding; undefined: there was none. */
  firstMs: number | undefined;
  allMs: number;
}

const CALL_MS = 30_000;

async function lookInto(question: string): Promise<Looked> {
  const config = await loadConfig(process.env);
  const network = createNetwork({ allow: [], local: true });
  const encoder = createEncoder(config.secrets);
  for await (const looked of lookAtTools(config, async function* ({ toolset }) {
    const { tools } = toolset;
    const exec = createExec({ encoder });
    const dispatcher = createDispatcher({ tools, host: config.host, exec, network, encoder });
    const checked = toolset.skills.flatMap(({ name, description, checks }) =>
      checks === undefined ? [] : [{ name, description, checks }],
    );
    const skills = matching(checked, { text: question });
    const began = performance.now();
    let firstMs: number | undefined;
    const results = await Promise.all(
      planOf(skills, subjectOfText(question)).map(
        async ({ tool: name, args: typed, askedBy }, at) => {
          const tool = tools.find((each) => each.name === name);
          const read = tool === undefined ? undefined : readArguments(tool, typed);
          if (read?.ok !== true) return [];
          const signal = AbortSignal.timeout(CALL_MS);
          const prepared = await dispatcher.prepare(name, read.args, signal).catch(() => undefined);
          // Such as a look at a machine that is not this one.
          if (prepared === undefined) return [];
          const { outcome, findings, gaps } = await dispatcher.run(name, prepared.args, {
            ...NOBODY,
            startedAt: Date.now(),
            signal,
          });
          if (findings.length > 0) firstMs ??= performance.now() - began;
          return askedBy.map(({ skill, check }) => ({
            skill,
            result: { check, ref: `T${at + 1}`, ok: outcome === "ok", findings, gaps },
          }));
        },
      ),
    );
    const { statements } = conclude(
      skills.map(({ name, checks: { rules } }) => ({
        rules,
        results: results.flat().flatMap(({ skill, result }) => (skill === name ? [result] : [])),
      })),
    );
    const allMs = performance.now() - began;
    yield { skills: skills.map(({ name }) => name), statements, firstMs, allMs };
  }))
    return looked;
  throw new Error("The checks ended without an answer.");
}

const looked = await lookInto(process.argv.slice(2).join(" "));
process.stdout.write(JSON.stringify(looked), () => process.exit());
