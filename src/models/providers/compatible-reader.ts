import type OpenAI from "openai";
import * as z from "zod";
import type { AssistantBlock, StopReason } from "../../core/block.ts";
import type { Json, JsonObject } from "../../core/entry.ts";
import { createThoughts, records } from "./compatible-thoughts.ts";
import { type Caller, failure } from "../errors.ts";
import type { ModelResponse } from "../model.ts";
import { isRecord } from "../../core/json.ts";
import { tokens } from "../turns.ts";

/** How a Chat Completions stream becomes a response, as the servers there are really send it (docs/model.md lists them). */

export type Chunk = OpenAI.Chat.ChatCompletionChunk;

/** The whole of a stream's last event, `data: [DONE]` and its line ends, fits into so many bytes. */
const END_BYTES = 32;

/** A call on its way. `place` is the server's index of it. */
interface BuildingCall {
  place: number;
  id: string;
  name: string;
  input: string;
  extras: Record<string, unknown>;
}

/**
 * Tells whether the stream ended with `[DONE]`, which the SDK takes for itself: a server that sends it has said all, also
 * one that never sends a finish_reason.
 */
export function watchDone(response: Response): { watched: Response; sawDone(): boolean } {
  let end = Buffer.alloc(0);
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      end = Buffer.concat([end, chunk.subarray(-END_BYTES)]).subarray(-END_BYTES);
      controller.enqueue(chunk);
    },
  });
  const watched = new Response(response.body?.pipeThrough(watch) ?? null, response);
  return { watched, sawDone: () => /^data: ?\[DONE\]\s*$/m.test(end.toString("latin1")) };
}

/** What the model wrote where its server found no valid call in it (Groq's `tool_use_failed`); undefined for other errors. */
export function failedCall(error: unknown): string | undefined {
  // An APIError of the SDK, which is not loaded just to recognize it.
  if (!isRecord(error) || error["code"] !== "tool_use_failed") return undefined;
  const body = error["error"];
  const attempted = isRecord(body) ? body["failed_generation"] : undefined;
  return typeof attempted === "string" ? attempted : "";
}

export function createReader(onDelta: ((text: string) => void) | undefined) {
  const calls: BuildingCall[] = [];
  const thoughts = createThoughts();
  let text = "";
  let reason: string | undefined;
  let isRefusal = false;
  let usage: OpenAI.CompletionUsage | null | undefined;

  function take(chunk: Chunk): void {
    usage = chunk.usage ?? usage;
    const choice = chunk.choices?.[0];
    if (choice === undefined) return;
    reason = choice.finish_reason ?? reason;
    const delta: Record<string, unknown> = { ...choice.delta };
    if (typeof delta["content"] === "string") say(delta["content"]);
    else for (const part of records(delta["content"])) takePart(part);
    if (typeof delta["refusal"] === "string" && delta["refusal"] !== "") {
      isRefusal = true;
      say(delta["refusal"]);
    }
    thoughts.take(delta);
    for (const piece of choice.delta?.tool_calls ?? []) add(piece);
  }

  function say(said: string): void {
    if (said === "") return;
    text += said;
    onDelta?.(said);
  }

  /** A part of a content that is a list (Mistral): text is text, a thought goes back as it came, references are left out. */
  function takePart(part: JsonObject): void {
    const { type } = part;
    if (type === "text" && typeof part["text"] === "string") say(part["text"]);
    else if (type === "thinking") thoughts.takePart(part);
  }

  /** By its index; servers that send none send each call whole, or its pieces after an id of their own. */
  function add(piece: OpenAI.Chat.ChatCompletionChunk.Choice.Delta.ToolCall): void {
    const { index, id, function: written, type: _type, custom: _custom, ...extras } = piece;
    // Ollama gives each of several calls the index 0, others none: then a new id is a new call.
    const last = calls.findLast(({ place }) => index === undefined || place === index);
    const isOther = last !== undefined && Boolean(id) && last.id !== "" && id !== last.id;
    let call = isOther ? undefined : last;
    const place = index ?? calls.length;
    if (call === undefined) {
      call = { place, id: "", name: "", input: "", extras: {} };
      calls.push(call);
    }
    call.id ||= id ?? "";
    call.name ||= written?.name ?? "";
    call.input += written?.arguments ?? "";
    Object.assign(call.extras, extras);
  }

  function used(): ModelResponse["usage"] {
    const cacheRead = tokens(usage?.prompt_tokens_details?.cached_tokens);
    return {
      input: tokens(tokens(usage?.prompt_tokens) - cacheRead),
      output: tokens(usage?.completion_tokens),
      cacheRead,
      cacheWrite: 0,
    };
  }

  /** `isDone`: the server said that this was all, with whichever reason or none. */
  function finish(caller: Caller, isDone: boolean): ModelResponse {
    const isWhole = isDone && (text !== "" || calls.length > 0);
    const why = reason ?? (isWhole ? "stop" : undefined);
    if (why === undefined) throw failure("MODEL_CUT", "no finish_reason", caller);
    if (why === "content_filter" && text === "" && calls.length === 0) {
      throw failure("MODEL_FILTERED", why, caller);
    }
    const stop = stopOf(why, isRefusal, calls.length > 0);
    return { content: contentOf(thoughts.wire(), text, calls), stop, usage: used() };
  }

  /** The server refused what the model wrote as its call: the model's turn, for it to be told of. */
  function finishMalformed(attempted: string): ModelResponse {
    const written = [text, attempted].filter((part) => part !== "").join("\n\n");
    const content = contentOf(thoughts.wire(), written, []);
    return { content, stop: "malformed_call", usage: used() };
  }

  return { take, finish, finishMalformed };
}

function stopOf(reason: string, isRefusal: boolean, hasCalls: boolean): StopReason {
  if (reason === "content_filter") return reason;
  // `length`, and the careful reading of a reason that is not known here.
  if (!["stop", "tool_calls", "function_call"].includes(reason)) return "max_tokens";
  if (hasCalls) return "tool_use";
  return isRefusal ? "refusal" : "end_turn";
}

function contentOf(
  thought: Json | undefined,
  text: string,
  calls: readonly BuildingCall[],
): AssistantBlock[] {
  const content: AssistantBlock[] = [];
  if (thought !== undefined) content.push({ kind: "thinking", wire: thought });
  if (text !== "") content.push({ kind: "text", text });
  const ids = new Set<string>();
  for (const { id: given, name, input, extras } of calls) {
    const base = given === "" ? `call_${ids.size}` : given;
    let id = base;
    for (let n = 2; ids.has(id); n += 1) id = `${base}_${n}`;
    ids.add(id);
    const wire = Object.keys(extras).length === 0 ? {} : { wire: z.json().parse(extras) };
    content.push({ kind: "tool_use", id, name, input, ...wire });
  }
  return content;
}
