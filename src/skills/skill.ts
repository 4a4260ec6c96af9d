import type { Hint } from "../checks/hints.ts";
import type { Checks } from "../checks/schema.ts";
import type { AllowedCall } from "../core/run-terms.ts";

/**
 * A folder with a `SKILL.md`: the operators' instructions for a situation, and files that go with them. It does nothing by
 * itself.
 */
export interface Skill {
  /** One word, unique among the loaded skills. */
  readonly name: string;
  /** One line: what it is for and when to use it. Like the name, it holds no known secret. */
  readonly description: string;
  /** The text of `SKILL.md` below its frontmatter, as it was read last. */
  readonly body: string;
  /** Its `checks.yaml` as it was read last; undefined: it has none, or one with mistakes. */
  readonly checks?: Checks | undefined;
  /** Where something of the checks stands: `/srv/skills/web/checks.yaml:7:14`. */
  checkAt?(path: readonly PropertyKey[]): string;
  /** Its `hints.yaml`; undefined: it has none, or one with mistakes. */
  readonly hints?: readonly Hint[] | undefined;
  /** Where something of the hints stands. */
  hintAt?(path: readonly PropertyKey[]): string;
  /** The only calls that a run which follows it may make, and where its file says so; undefined: any. */
  readonly allowed?: { readonly calls: readonly AllowedCall[]; readonly at: string } | undefined;
  /** Tools that a run which follows it has to call before it is done. */
  readonly requires?: readonly string[] | undefined;
  /** Every file that the program reads is as it came with it. */
  readonly isAsShipped?: true;
  /** Absolute, links resolved. */
  readonly folder: string;
  /** The readable files beside `SKILL.md`, `checks.yaml` and `hints.yaml` now, ordered by id. Empty if the folder is gone. */
  files(): Promise<readonly SkillFile[]>;
  /**
   * A file's text as it is now.
   * @throws BotError PATH_REFUSED if `files` does not list it, it leads out of the folder, or it is not text of an
   * allowed size
   */
  read(id: string): Promise<string>;
}

export interface SkillFile {
  /** Its path in the skill's folder, with slashes. */
  readonly id: string;
  readonly bytes: number;
}

export interface SkillProblem {
  /** The file with the line, or the folder. */
  readonly at: string;
  readonly text: string;
  /** False if the skill, or its checks, were left out because of it. */
  readonly loaded: boolean;
}

export interface Skills {
  readonly skills: readonly Skill[];
  readonly problems: readonly SkillProblem[];
}
