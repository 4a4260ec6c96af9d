import { availableParallelism, loadavg } from "node:os";

/** Long enough for the system to hand out its cores a few times. */
const SAMPLE_MS = 250;
/** Slower than this and a batch would take minutes. */
const SLOWEST = 5;

/**
 * How many times as long work takes here as if nobody else used the machine: what it waits for a core now, measured by work,
 * or over the last minute, by who asked for one. A lull before a batch says nothing of the batch.
 */
export function paceNow(): number {
  const began = performance.now();
  const before = process.cpuUsage();
  let wallMs = 0;
  while (wallMs < SAMPLE_MS) wallMs = performance.now() - began;
  const { user, system } = process.cpuUsage(before);
  const now = wallMs / Math.max(1, (user + system) / 1_000);
  const [lately = 0] = loadavg();
  return Math.min(SLOWEST, Math.max(1, now, lately / availableParallelism()));
}
