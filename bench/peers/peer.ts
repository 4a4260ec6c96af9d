import * as z from "zod";

/** What the scripted model says to one request. */
export type Line =
  | { kind: "call"; id: string; tool: "look" | "act"; input: { name: string } }
  | { kind: "answer"; text: string };

/** A model without latency. `look` runs at once; `act` is the tool that needs an approval. */
export interface Script {
  /** The next line, whatever was asked. `prompt` is what a provider would be sent. */
  next(prompt: readonly unknown[]): Line;
  /** When each request came, `performance.now()`. */
  readonly marks: readonly number[];
  /** The prompts so far as JSON without the closing bracket, if the script was asked to keep them. */
  readonly prompts: readonly string[];
}

export const QUESTION = "Why is the shop slow? Look at its services, then act.";
/** Graded and with a reference, as our core asks of an answer; it would send another one back. */
export const ANSWER = "LIKELY: one service was out of memory [T1], and that made the shop slow.";

export interface ScriptOptions {
  /** How often it calls `look`, one call per request, before it says its last line. */
  looks: number;
  /** Calls `act` before it answers. */
  act?: boolean;
  keepPrompts?: boolean;
}

export function createScript({ looks, act = false, keepPrompts = false }: ScriptOptions): Script {
  const marks: number[] = [];
  const prompts: string[] = [];
  return {
    marks,
    prompts,
    next(prompt) {
      marks.push(performance.now());
      if (keepPrompts) prompts.push(JSON.stringify(prompt).slice(0, -1));
      const n = marks.length;
      if (n > looks + (act ? 1 : 0)) return { kind: "answer", text: ANSWER };
      const tool = n > looks ? "act" : "look";
      return { kind: "call", id: `call_${n}`, tool, input: { name: nameOf(n) } };
    },
  };
}

/** `web-ab`, `web-ac` …: results that differ only in numbers are, to our core, the same one over and over. */
const nameOf = (n: number): string =>
  `web-${String.fromCharCode(97 + Math.floor(n / 26), 97 + (n % 26))}`;

/** The tools' far side: it counts what really happened. */
export interface World {
  looks: number;
  acts: number;
  look(input: { name: string }): Promise<string>;
  act(input: { name: string }): Promise<string>;
}

export function createWorld(): World {
  return {
    looks: 0,
    acts: 0,
    async look({ name }) {
      this.looks++;
      return `${name}: up 41 days, memory 96 % of 2 GiB, 17 restarts, last exit 137, load 3.1 2.9 2.4, disk 61 % of 40 GiB, 812 open files, last line: out of memory`;
    },
    async act({ name }) {
      this.acts++;
      return `${name}: restarted`;
    },
  };
}

/** Every core validates its tools' input with this schema, and tells the model of it. */
export const INPUT = z.strictObject({ name: z.string() });
export const ABOUT = { look: "Reports how a service is.", act: "Restarts a service." };

/** A run that waits for the approval of `act`. */
interface Suspended {
  /** UTF-8 bytes of all that a new process would need to go on. */
  bytes: number;
  /** Approves and goes on to the answer, as a new process would: from what is stored. May be called many times. */
  resume(script: Script): Promise<string>;
}

/** An agent core, in its fastest documented set-up, with tracing off. */
export interface Peer {
  /** From the question to the answer's text. */
  run(script: Script): Promise<string>;
  /** Undefined for a set-up that cannot suspend. */
  suspend?(script: Script): Promise<Suspended>;
  /** The size of the file that the runs are kept in, where there is one. */
  fileBytes?(): number;
  close?(): Promise<void>;
}

/**
 * Imports one of bench/package.json's packages; `T` is the part of it that its caller uses.
 * By a name that the compiler cannot follow, because the type check has to pass where they are not installed.
 */
export async function load<T>(name: string): Promise<T> {
  return (await import(name)) as T;
}

export const bytesOf = (text: string): number => Buffer.byteLength(text);
