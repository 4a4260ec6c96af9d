/**
 * A folder with a `SKILL.md`: words of the operators on how to go about something, and files that go with them. It
 * does nothing by itself.
 */
export interface Skill {
  /** One word that can be called by; unique among the loaded. */
  readonly name: string;
  /** One line: what it is for and when. Holds no known secret, like the name. */
  readonly description: string;
  /** What `SKILL.md` says below its frontmatter, as it was at the start. */
  readonly body: string;
  /** Absolute, links resolved. */
  readonly folder: string;
  /** The files beside `SKILL.md` that can be read now, in order of their ids. Of a folder that is gone: none. */
  files(): Promise<readonly SkillFile[]>;
  /**
   * A file's text as it is now.
   * @throws BotError PATH_REFUSED when `files` does not have it, it leads out of the folder, or it is no text of a
   * size that is read
   */
  read(id: string): Promise<string>;
}

export interface SkillFile {
  /** Its path in the skill's folder, with slashes. */
  readonly id: string;
  readonly bytes: number;
}

/** Something about a skill that its author should know. */
export interface SkillProblem {
  /** The file with the line, or the folder. */
  readonly at: string;
  readonly text: string;
  /** False: what this is about was left out. */
  readonly loaded: boolean;
}
