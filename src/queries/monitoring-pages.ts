/** Where monitoring systems that others run have their pages. What people run themselves is named by `links.allow`. */
const THEIRS = [
  "pagerduty.com",
  "opsgenie.com",
  "atlassian.net",
  "datadoghq.com",
  "datadoghq.eu",
  "ddog-gov.com",
  "sentry.io",
  "grafana.net",
  "console.aws.amazon.com",
] as const;

/** True for a page of such a system's own domain, reached by https at its usual port and by nobody's name. */
export function isMonitoringPage(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.protocol !== "https:" || url.port !== "") return false;
  if (url.username !== "" || url.password !== "") return false;
  return THEIRS.some((domain) => url.hostname === domain || url.hostname.endsWith(`.${domain}`));
}
