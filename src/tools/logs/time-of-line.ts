/** The time that a log line begins with, in the forms that servers write. */

const MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";

const ISO =
  /(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))? ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?/;
const ACCESS_LOG = /\[(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-]\d{4})\]/;
const SYSLOG =
  /^(?:<\d+>)?(?:[A-Z][a-z]{2} )?([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.\d+)?(?: (\d{4}))?/;
/** `E1123 04:00:00.123456` */
const KLOG = /^[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)/;
const EPOCH = /^\D{0,30}?(1\d{9})(\d{3}(?:\d{3}){0,2}|\.\d+)?(?!\d)/;

/** ms since 1970; undefined: it says none. A time without a zone is this machine's, one without a year is the last such. */
export function timeOfLine(head: string, now: number): number | undefined {
  const iso = ISO.exec(head);
  if (iso !== null) {
    const [, year, month, day, hour, minute, second, fraction = "0", zone] = iso;
    const ms = Math.trunc(Number(`0.${fraction}`) * 1_000);
    return instant([year, Number(month) - 1, day, hour, minute, second, ms], zone);
  }
  const access = ACCESS_LOG.exec(head);
  if (access !== null) {
    const [, day, month = "", year, hour, minute, second, zone] = access;
    return instant([year, MONTHS.indexOf(month) / 3, day, hour, minute, second, 0], zone);
  }
  const syslog = SYSLOG.exec(head);
  if (syslog !== null) {
    const [, month = "", day, hour, minute, second, year] = syslog;
    return lastSuch([MONTHS.indexOf(month) / 3, day, hour, minute, second], now, year);
  }
  const klog = KLOG.exec(head);
  if (klog !== null) {
    const [, month, day, hour, minute, second] = klog;
    return lastSuch([Number(month) - 1, day, hour, minute, second], now);
  }
  const [, seconds, rest = ""] = EPOCH.exec(head) ?? [];
  if (seconds === undefined) return undefined;
  return Number(seconds) * 1_000 + Math.trunc(Number(`0.${rest.replace(".", "") || "0"}`) * 1_000);
}

type Parts = readonly (string | number | undefined)[];

function instant(parts: Parts, zone: string | undefined): number | undefined {
  const [year = 0, month = 0, day = 1, hour = 0, minute = 0, second = 0, ms = 0] =
    parts.map(Number);
  if (month < 0 || month > 11) return undefined;
  if (zone === undefined)
    return new Date(year, month, day, hour, minute, second, ms).getTime() || undefined;
  const [, sign = "+", hours = "0", minutes = "0"] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -1 : 1);
  return Date.UTC(year, month, day, hour, minute, second, ms) - offset * 60_000 || undefined;
}

const DAY_MS = 86_400_000;

function lastSuch(parts: Parts, now: number, year?: string): number | undefined {
  const [month, ...rest] = parts;
  const thisYear = new Date(now).getFullYear();
  const at = instant([year ?? thisYear, month, ...rest, 0], undefined);
  if (at === undefined || year !== undefined || at <= now + DAY_MS) return at;
  return instant([thisYear - 1, month, ...rest, 0], undefined);
}
