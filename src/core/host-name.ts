/** What Docker calls a container by itself, and Kubernetes a Deployment's pod: new with each start. */
const CHANGING = [/^[0-9a-f]{12}$/, /-[0-9a-f]{6,10}-[a-z0-9]{5}$/];

/** Why a machine's name is no good one, a sentence; undefined: it looks as if it stays. */
export function whyChanging(host: string): string | undefined {
  if (!CHANGING.some((form) => form.test(host))) return undefined;
  return `This machine is called ${host}, which looks like a container's name that changes with each start: open cards of its tools then become void. Set WATCHKEEPER_HOST to a name that stays.`;
}
