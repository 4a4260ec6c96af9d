import type { AssistantBlock } from "../core/block.ts";
import type { Kept } from "./said.ts";
import type { KeptTurn, Result } from "./transcript-turns.ts";

/**
 * Turns for a snapshot. A long thread has thousands of turns of a few forms: to read them back as one text that is cut takes a
 * third of the time that reading as many objects takes.
 */
export interface PackedTurns {
  /** A letter for each turn and for each part of it, in order. */
  readonly plan: string;
  /** The strings of usual parts, one behind the other, and how long each is. */
  readonly text: string;
  readonly lengths: Uint32Array;
  /** Parts of other forms. */
  readonly blocks: readonly AssistantBlock[];
  readonly results: readonly Result[];
  readonly parts: readonly Kept[];
}

export function packTurns(turns: readonly KeptTurn[]): PackedTurns {
  const plan: string[] = [];
  const texts: string[] = [];
  const blocks: AssistantBlock[] = [];
  const results: Result[] = [];
  const parts: Kept[] = [];
  const add = (letter: string, ...strings: string[]) => {
    plan.push(letter);
    texts.push(...strings);
  };

  function addBlock(block: AssistantBlock): void {
    if (block.kind === "tool_use" && hasOnly(block, "kind,id,name,input"))
      add("c", block.id, block.name, block.input);
    else if (block.kind === "text" && hasOnly(block, "kind,text")) add("b", block.text);
    else add("B", ...other(blocks, block));
  }

  function addResult(result: Result): void {
    const { id, text, isError, files } = result;
    const isUsual = !isError && files.length === 0;
    if (isUsual && hasOnly(result, "id,text,isError,files")) add("r", id, text);
    else add("R", ...other(results, result));
  }

  function addPart(part: Kept): void {
    if (part.kind === "text" && hasOnly(part, "kind,text")) add("p", part.text);
    else if (part.kind === "line" && !part.aside && !part.isFromApp && hasOnly(part, LINE))
      add(part.quoted ? "q" : "l", part.of, part.by, part.head, part.text);
    else add("P", ...other(parts, part));
  }

  for (const turn of turns) {
    if (turn.role === "assistant") {
      add("a", turn.model);
      turn.content.forEach(addBlock);
    } else if (turn.role === "tool") {
      add("t");
      turn.results.forEach(addResult);
    } else {
      add("u");
      turn.content.forEach(addPart);
    }
  }
  const lengths = Uint32Array.from(texts, ({ length }) => length);
  return { plan: plan.join(""), text: texts.join(""), lengths, blocks, results, parts };
}

const LINE = "kind,of,by,head,text,quoted,aside,isFromApp";

/** In this order too: what requests hold is hashed as JSON. */
function hasOnly(part: object, names: string): boolean {
  return Object.keys(part).join() === names;
}

function other<T>(kept: T[], part: T): [] {
  kept.push(part);
  return [];
}

function oneByOne<T>(items: readonly T[]): () => readonly T[] {
  let at = 0;
  return () => items.slice(at, ++at);
}

export function unpackTurns(packed: PackedTurns): KeptTurn[] {
  const { plan, text, lengths } = packed;
  const others = {
    blocks: oneByOne(packed.blocks),
    results: oneByOne(packed.results),
    parts: oneByOne(packed.parts),
  };
  const turns: KeptTurn[] = [];
  let content: AssistantBlock[] = [];
  let results: Result[] = [];
  let said: Kept[] = [];
  let [at, read] = [0, 0];
  const next = () => text.slice(at, (at += lengths[read++] ?? 0));
  const line = (quoted: boolean): Kept => ({
    kind: "line",
    of: next(),
    by: next(),
    head: next(),
    text: next(),
    quoted,
    aside: false,
    isFromApp: false,
  });
  for (const letter of plan) {
    switch (letter) {
      case "a":
        turns.push({ role: "assistant", content: (content = []), model: next() });
        break;
      case "c":
        content.push({ kind: "tool_use", id: next(), name: next(), input: next() });
        break;
      case "b":
        content.push({ kind: "text", text: next() });
        break;
      case "B":
        content.push(...others.blocks());
        break;
      case "t":
        turns.push({ role: "tool", results: (results = []) });
        break;
      case "r":
        results.push({ id: next(), text: next(), isError: false, files: [] });
        break;
      case "R":
        results.push(...others.results());
        break;
      case "u":
        turns.push({ role: "user", content: (said = []) });
        break;
      case "p":
        said.push({ kind: "text", text: next() });
        break;
      case "P":
        said.push(...others.parts());
        break;
      default:
        said.push(line(letter === "q"));
    }
  }
  return turns;
}
