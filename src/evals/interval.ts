/** The standard normal's 97.5 % quantile: for an interval of 95 %. */
const Z = 1.959_964;

/**
 * Where a share lies that was seen in `passed` of `runs`, with 95 % confidence: Wilson's score interval, which also holds for few runs
 * and for shares of 0 and 1 (E. B. Wilson, 1927).
 */
export function shareInterval(passed: number, runs: number): { low: number; high: number } {
  if (runs === 0) return { low: 0, high: 1 };
  const share = passed / runs;
  const z2 = Z * Z;
  const middle = share + z2 / (2 * runs);
  const half = Z * Math.sqrt((share * (1 - share)) / runs + z2 / (4 * runs * runs));
  const by = 1 + z2 / runs;
  return { low: Math.max(0, (middle - half) / by), high: Math.min(1, (middle + half) / by) };
}
