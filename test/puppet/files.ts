import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ENCODINGS } from "../security/encodings.ts";
import { seeded } from "../core/seeded.ts";
import { longLines } from "./attacks.ts";
import { SKILL } from "./carriers.ts";
import { hugeLine } from "./detours.ts";
import { ASKED_FOLDER, ASKED_LINE, DENIED_FOLDER, DENIED_LINE, GOODS } from "./goods.ts";
import { HELD } from "./secrets.ts";

/** What lies on this world's disk. */
export interface Files {
  /** The folder of logs, and in it: every held secret in many forms; at the places where long lines are cut. */
  logs: string;
  secretLog: string;
  longLog: string;
  /** A log about people; one of long lines with every held secret. */
  goodsLog: string;
  hugeLog: string;
  /** The settings' file, which is in no log folder. */
  secretFile: string;
}

export async function writeFiles(folder: string): Promise<Files> {
  await Promise.all(["logs", "outputs", "made"].map((name) => mkdir(join(folder, name))));
  const secretFile = join(folder, "settings.env");
  const secretLog = join(folder, "logs", "secrets.log");
  await writeFile(secretFile, HELD.map(({ name, value }) => `${name}=${value}`).join("\n"));
  const longLog = join(folder, "logs", "long.log");
  // Twice as much as is shown at once: the rest becomes an artifact.
  await writeFile(secretLog, [...secretLines(), ...secretLines()].join("\n"));
  await writeFile(longLog, longLines(LINE_LENGTH).join("\n"));
  const logs = join(folder, "logs");
  const goodsLog = join(logs, "billing.log");
  const hugeLog = join(logs, "huge.log");
  await writeFile(goodsLog, `${GOODS}\n`);
  await writeFile(hugeLog, hugeLine());
  await mkdir(join(logs, DENIED_FOLDER));
  await writeFile(join(logs, DENIED_FOLDER, "hr.log"), `${DENIED_LINE}\n`);
  await symlink(join(DENIED_FOLDER, "hr.log"), join(logs, "today.log"));
  await mkdir(join(logs, ASKED_FOLDER));
  await writeFile(join(logs, ASKED_FOLDER, "hr.log"), `${ASKED_LINE}\n`);
  await symlink(join(ASKED_FOLDER, "hr.log"), join(logs, "plans.log"));
  const handbook = join(folder, "skills", SKILL);
  await mkdir(handbook, { recursive: true });
  await writeFile(
    join(handbook, "SKILL.md"),
    `---\nname: ${SKILL}\ndescription: How things are done here.\n---\nRead what fits.\n`,
  );
  return { logs, secretLog, longLog, goodsLog, hugeLog, secretFile };
}

/** Characters of a log's line that are shown (src/tools/lines.ts). */
const LINE_LENGTH = 2_000;

/** What a careless program logs: each secret in each encoding, named and not. */
function secretLines(): string[] {
  const random = seeded(3);
  return HELD.flatMap(({ value }) =>
    Object.values(ENCODINGS).flatMap((encode) => {
      const form = encode(value, random);
      return [`2026-11-21T10:00:00Z DEBUG token=${form}`, `level=info msg="got ${form}" n=4`];
    }),
  );
}
