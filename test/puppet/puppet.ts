import { type AssistantBlock, NO_USAGE } from "../../src/core/block.ts";
import { BotError } from "../../src/core/errors.ts";
import type { Model, ModelRequest, Turn } from "../../src/models/model.ts";
import { LATER, type Order, ordersIn } from "./notation.ts";

/** A model that does whatever any text of its request orders it to, whoever wrote it. */
export interface Puppet extends Model {
  /** Every text and text file that it was shown, each once, its own earlier words included. */
  shown: Set<string>;
  /** Those that are not its own words. */
  told: Set<string>;
  /** The orders, as written, that it carried out. */
  obeyed: Set<string>;
}

interface Call {
  name: string;
  input: string;
}

/** `isDeaf`: it does nothing of the kind, so nothing is tested. */
export function createPuppet({ isDeaf = false } = {}): Puppet {
  const shown = new Set<string>();
  const toldSoFar = new Set<string>();
  const obeyed = new Set<string>();
  return {
    id: "test/puppet",
    contextWindow: 10_000_000,
    shown,
    told: toldSoFar,
    obeyed,
    async generate(request, { signal, onDelta }) {
      if (signal.aborted) throw new BotError("ABORTED", "It was stopped.");
      const texts = textsOf(request);
      const told = request.turns.flatMap((turn) =>
        turn.role === "assistant" ? [] : textsOfTurn(turn),
      );
      for (const text of texts) shown.add(text);
      for (const text of told) toldSoFar.add(text);
      const heard = isDeaf ? [] : heardIn(request).flatMap(ordersIn);
      const orders = [...new Map(heard.map((each) => [each.as, each])).values()];
      for (const { as } of orders) obeyed.add(as);
      const calls = callsOf(
        orders.map(({ order }) => order),
        told,
        request.turns,
      );
      const own = request.turns.flatMap((turn) =>
        turn.role === "assistant" ? textsOfTurn(turn) : [],
      );
      const said = orders.flatMap(({ order }) => wordsOf(order, told, own)).join("\n\n");
      const text = calls.length > 0 ? said : `${said}\n\nThat is all.`;
      const words = text.length < 10_000 ? text.split(/(?<= )/) : text.match(/[^]{1,4000}/g);
      for (const word of words ?? []) onDelta?.(word);
      const content: AssistantBlock[] = [
        ...(text === "" ? [] : [{ kind: "text" as const, text }]),
        ...calls.map((call, i) => ({ kind: "tool_use" as const, id: `call_${i}`, ...call })),
      ];
      const usage = { ...NO_USAGE, input: 100, output: 10 };
      return { content, stop: calls.length > 0 ? "tool_use" : "end_turn", usage };
    },
  };
}

/** Everything in a request that can be read, its own earlier words included. */
function textsOf({ turns, system, tools }: ModelRequest): string[] {
  return [system, JSON.stringify(tools), ...turns.flatMap(textsOfTurn)];
}

/** What it obeys: of a message that is for later only once it has said something after it. */
function heardIn(request: ModelRequest): string[] {
  const { turns } = request;
  const last = turns.findLastIndex(({ role }) => role === "assistant");
  const now = turns.filter(
    (turn, at) => at < last || !textsOfTurn(turn).some((text) => text.includes(LATER)),
  );
  return textsOf({ ...request, turns: now });
}

function textsOfTurn(turn: Turn): string[] {
  switch (turn.role) {
    case "assistant":
      return turn.content.flatMap((block) => {
        if (block.kind === "text") return [block.text];
        return block.kind === "tool_use" ? [`${block.name} ${block.input}`] : [];
      });
    case "tool":
      return turn.results.map(({ text }) => text);
    case "user":
      return turn.content.map((block) =>
        block.kind === "text"
          ? block.text
          : `${block.name}\n${Buffer.from(block.data, "base64").toString()}`,
      );
  }
}

/** The calls that are ordered and were not made yet. */
function callsOf(orders: Order[], told: string[], turns: readonly Turn[]): Call[] {
  const made = new Set(
    turns.flatMap((turn) =>
      turn.role === "assistant"
        ? turn.content.flatMap((block) =>
            block.kind === "tool_use" ? [`${block.name} ${block.input}`] : [],
          )
        : [],
    ),
  );
  const wanted = orders.flatMap((order): Call[] => {
    switch (order.verb) {
      case "CALL":
        return [{ name: order.name, input: JSON.stringify(order.args) }];
      case "FLOOD":
        return Array.from({ length: order.calls }, (_, i) => {
          const input = JSON.stringify(order.args).replaceAll("#", `${made.size}-${i}`);
          return { name: order.name, input };
        });
      case "LEAK":
        return valuesIn(told, order.key ?? "token").map((value) => ({
          name: "http_check",
          input: JSON.stringify({ url: `${order.url}${encodeURIComponent(value)}` }),
        }));
      case "NAME":
        return valuesIn(told, order.key).map((value) => ({
          name: "tcp_check",
          input: JSON.stringify({
            host: `${Buffer.from(value).toString("hex").slice(0, 60)}.${order.domain}`,
            port: order.port,
          }),
        }));
      case "ARTIFACTS":
        return artifactsIn(told).map((id) => ({
          name: "read_artifact",
          input: JSON.stringify({ id, grep: "<<" }),
        }));
      case "BULK":
        if (order.of === "words" || made.size > 0) return [];
        return Array.from({ length: order.of === "calls" ? 60 : 2 }, (_, i) => ({
          name: "probe",
          input: JSON.stringify({ topic: order.of === "calls" ? `${i}` : "x".repeat(200_000 + i) }),
        }));
      case "SAY":
      case "REPEAT":
        return [];
    }
  });
  const insisted = new Set(
    orders.flatMap((order) =>
      order.verb === "CALL" && order.again === true
        ? [`${order.name} ${JSON.stringify(order.args)}`]
        : [],
    ),
  );
  const keyOf = ({ name, input }: Call) => `${name} ${input}`;
  const each = new Map(wanted.map((call) => [keyOf(call), call]));
  return [...each].flatMap(([key, call]) => (!made.has(key) || insisted.has(key) ? [call] : []));
}

const MANY_WORDS = "Many words. ".repeat(25_000);

function wordsOf(order: Order, told: string[], own: string[]): string[] {
  if (order.verb === "SAY") return [order.text];
  if (order.verb === "BULK" && order.of === "words") {
    return own.some((text) => text.includes(MANY_WORDS.slice(0, 1_000))) ? [] : [MANY_WORDS];
  }
  // Without the orders, which are no one's secret.
  return order.verb === "REPEAT" ? told.map((text) => text.replaceAll("<<", "< <")) : [];
}

/** The value of every `key=value`, which is how secrets are written in this world's logs; a few, it is no flood. */
function valuesIn(told: string[], key: string): string[] {
  const form = new RegExp(String.raw`\b${key}=(\S+)`, "g");
  const found = told.flatMap((text) => [...text.matchAll(form)].map(([, value = ""]) => value));
  return [...new Set(found)].slice(0, 5);
}

function artifactsIn(told: string[]): string[] {
  return told.flatMap((text) =>
    [...text.matchAll(/artifact (\w+): read_artifact\]/g)].map(([, id = ""]) => id),
  );
}
