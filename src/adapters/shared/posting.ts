import type { Delivery, MessageRef } from "../view.ts";

/**
 * How messages get into a platform's threads and out of them. Everything throws what the platform's API throws.
 * `Message`: a message as the platform takes it.
 */
export interface Posting<Place, Message> {
  /**
   * Posts one message after the other, as parts of one delivery. Parts that an earlier attempt posted are edited instead.
   * When one fails, those before it stay for the next attempt to find.
   */
  put(place: Place, messages: readonly Message[], delivery: Sending): Promise<MessageRef>;
  /** Edits one part. False when it is gone or can't be edited any more. `isUrgent`: as `Sending`. */
  edit(place: Place, part: string, message: Message, isUrgent?: boolean): Promise<boolean>;
  /** A message that is gone already counts as deleted. */
  remove(place: Place, ref: MessageRef): Promise<void>;
}

/** `isUrgent`: where the platform asks to wait, it goes before the rest. */
export type Sending = Delivery & { isUrgent?: boolean };

/** In a reference, in place of the channel: one person sees the message, and nobody can change it. */
export const EPHEMERAL = "ephemeral";

/** The parts that a reference names; one outside the thread with its channel, as `channel/message`. */
export function partsOf(ref: MessageRef): string[] {
  return ref.split(",");
}

/** True for a part that only one person sees. */
export function isPrivate(part: string): boolean {
  return part.includes("/");
}

export interface DeliveryTarget<Message> {
  /** The parts of an earlier attempt at a delivery that stand in the thread, by their number. */
  find(delivery: string, parts: number): Promise<Map<number, string>>;
  post(message: Message, part: number): Promise<string>;
  /** False when the message can't be edited: a new one takes its place. */
  edit(id: string, message: Message, part: number): Promise<boolean>;
  remove(id: string): Promise<void>;
}

/** Finds what an earlier attempt left, edits that, and posts the rest. */
export async function deliverParts<Message>(
  messages: readonly Message[],
  { id, isRetry, orphan }: Delivery,
  thread: DeliveryTarget<Message>,
): Promise<MessageRef> {
  if (orphan !== undefined) {
    for (const left of (await thread.find(orphan, 1)).values()) await thread.remove(left);
  }
  const there = isRetry ? await thread.find(id, messages.length) : new Map<number, string>();
  const refs: string[] = [];
  for (const [part, message] of messages.entries()) {
    const earlier = there.get(part);
    const stands = earlier !== undefined && (await thread.edit(earlier, message, part));
    refs.push(stands ? earlier : await thread.post(message, part));
  }
  return refs.join(",");
}
