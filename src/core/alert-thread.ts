/** The delivery of the message of ours that a group of alerts begins its thread with; its end is told in that very message. */
export function openingId(group: string): string {
  return `alerts:${group}`;
}
