const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in one unit: `12 s`, `5 min`, `3 h`, `2 d`. */
export function formatAge(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/** Local time of day, `03:41`; with the date, `11-22 03:41`, when that is not the day of `now`. */
export function formatClock(at: number, now: number): string {
  const date = new Date(at);
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (date.toDateString() === new Date(now).toDateString()) return clock;
  return `${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** `03:41 (in 58 min)`, `03:41 (12 min ago)`; never promises more time than there is. */
export function formatMoment(at: number, now: number): string {
  const left = at - now;
  const away = left <= 0 ? `${formatAge(-left)} ago` : `in ${formatAge(left)}`;
  return `${formatClock(at, now)} (${away})`;
}
