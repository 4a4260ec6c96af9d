const STEP_MS = 30;

/**
 * Does it once this process could have worked for so long. A platform's limit that is counted so is as strict as its own on an
 * idle machine, and does not pass while the machine is busy with others: a step that the process slept through counts once.
 * Returns what calls it off.
 */
export function afterOwnTime(ms: number, then: () => void): () => void {
  const steps = Math.ceil(ms / STEP_MS);
  let left = steps;
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    then();
  }, ms / steps);
  timer.unref();
  return () => clearInterval(timer);
}
