import type { Actor, Draft, Entry } from "../core/entry.ts";
import type { Thread } from "./state.ts";

/** Which messages that wait a run takes up, and whose run it is then. */

/** Whose run it is. A bot instructs nothing, so what only bots wrote nobody asked for. */
export function askedBy(
  instructing: readonly { actor: Actor; app?: true | undefined }[],
): Pick<Draft<"run_started">, "principals" | "app"> {
  const people = instructing.filter(({ app }) => app !== true);
  const [first] = instructing;
  const isFromApp = people.length === 0 && first !== undefined;
  return {
    principals: [...new Set(people.map(({ actor }) => actor.account))],
    ...(isFromApp && { app: first.actor.account }),
  };
}

/**
 * The messages that the next run of a model's takes up, beside another those that wait for a side run: those to the bot alone, where there are any. Of lines that may be
 * between people only those that ask something instruct it, or else the last. Bots' messages go with people's.
 */
export function waitingIn({ pending }: Thread, isBeside: boolean) {
  const waiting = [...pending.values()].flatMap(({ entry, stopped, forSide, unsure = false }) =>
    entry.kind === "message" && !stopped && (!isBeside || forSide === true)
      ? [{ entry, unsure }]
      : [],
  );
  const sure = waiting.filter((each) => !each.unsure).map(({ entry }) => entry);
  if (sure.length > 0) {
    const messages = waiting
      .filter(({ entry, unsure }) => !unsure || entry.app === true)
      .map(({ entry }) => entry);
    return { messages, instructing: sure, unsure: sure.every(isNod) };
  }
  const messages = waiting.map(({ entry }) => entry);
  const people = messages.filter(({ app }) => app !== true);
  const asking = people.filter(({ tone }) => tone === "request");
  const last = (people.length > 0 ? people : messages).slice(-1);
  return { messages, instructing: asking.length > 0 ? asking : last, unsure: true };
}

/** An `ok` after a question of the bot's may take it up, or say no more than that it was read. */
function isNod({ tone, address }: Entry<"message">): boolean {
  const isSmall = tone === "ack" || tone === "thanks";
  return isSmall && address?.bot !== true && address?.direct !== true;
}
