/**
 * CPU milliseconds that this process spent on the work: what else runs on the machine is not in it. For limits that only
 * work which grows out of proportion exceeds.
 */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
