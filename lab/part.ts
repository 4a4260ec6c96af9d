import type { Lab } from "./lab.ts";

/** A server of the lab, or several that belong together. */
export interface Part {
  readonly name: string;
  /** What it needs beside npm: a program of each of these Debian packages. */
  readonly packages: Readonly<Record<string, string>>;
  /** Why it cannot be started here, or undefined. */
  missing?(): string | undefined;
  /** Starts it, with what can be seen in it, and says in `variables` how it is reached. Harmless where it runs already. */
  start(lab: Lab): Promise<void>;
  /** Takes away what outlives the lab's processes. */
  stop?(lab: Lab): void;
}

/** Something that goes wrong, as it goes wrong in production. */
export interface Fault {
  readonly name: string;
  readonly about: string;
  /** The parts that have to run. */
  readonly parts: readonly string[];
  break(lab: Lab): Promise<void>;
  mend(lab: Lab): Promise<void>;
  /**
   * The shortest way to its cause: a command of the bot's, and what its answer has to name. `raw`: what a person would have
   * typed in a shell to see as much. Undefined: no tool names it yet.
   */
  readonly named?: {
    readonly ask: string;
    readonly says: RegExp;
    readonly raw: readonly string[];
  };
  /** What somebody who notices it would ask, and what the checks of the skills have to say to that without a model. */
  readonly asked: { readonly question: string; readonly cause: RegExp };
}
