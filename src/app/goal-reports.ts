import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A folder for the reports of goals. */
export interface GoalReports {
  /** Whoever looks at the folder sees all of it or nothing. @throws what the file system says */
  write(name: string, text: string): Promise<void>;
}

export function createGoalReports(folder: string): GoalReports {
  return {
    async write(name, text) {
      const path = join(folder, name);
      const aside = join(folder, `.${name}.${process.pid}`);
      try {
        // One that was left behind, or put there, is never written through.
        await rm(aside, { force: true });
        await writeFile(aside, text, { flag: "wx" });
        await rename(aside, path);
      } catch (error) {
        await rm(aside, { force: true });
        throw error;
      }
    },
  };
}
