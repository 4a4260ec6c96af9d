/** Bytes for a reader: "512 B", "1.5 KiB", "20.0 GiB". */
export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** Milliseconds for a reader, in the largest unit that fits: "340 ms", "12 s", "5 min", "3 h", "9 d". */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** A point in time (ms since 1970) and how long ago that is: "2026-11-21 22:49:01 UTC (3 h ago)". */
export function formatMoment(ms: number, now = Date.now()): string {
  const stamp = new Date(ms).toISOString().slice(0, 19).replace("T", " ");
  return `${stamp} UTC (${formatDuration(Math.max(0, now - ms))} ago)`;
}
