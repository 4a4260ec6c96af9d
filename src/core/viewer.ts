import { tenantOf } from "./journal-key.ts";

/** Who looks. Everybody reads the answer where it is shown, so what counts is the place. */
export interface Viewer {
  /** The private place where the answer is shown (`Adapter.audience`); undefined: everyone of its tenant may read it. */
  readonly audience: string | undefined;
  /** Whose public things may be shown there (`Adapter.tenants`); the operator, who has the store, sees "all". */
  readonly tenants: readonly string[] | "all";
  /** The journal key of the thread that asks: in each of its places it shows what belongs to it. */
  readonly thread?: string | undefined;
}

/** Where something belongs. */
export interface Belonging {
  /** The private place (`Adapter.audience`); undefined: everyone of its tenant may see it. */
  readonly audience?: string | undefined;
  /** The tenant (`tenantOf`); undefined: of a place without one, whose public things only the operator sees. */
  readonly tenant?: string | undefined;
  /** The journal key of the thread that it was said in. */
  readonly thread?: string | undefined;
}

/** What belongs to a private place is seen there and nowhere else; the rest in its tenant and in its own thread. */
export function maySee(viewer: Viewer, { audience, tenant, thread }: Belonging): boolean {
  if (audience !== undefined) return audience === viewer.audience;
  return isOfTenants(viewer, tenant) || (thread !== undefined && thread === viewer.thread);
}

/** The tenant is one of the viewer's: there, what it may not see may still be counted. */
export function isOfTenants({ tenants }: Viewer, tenant: string | undefined): boolean {
  return tenants === "all" || (tenant !== undefined && tenants.includes(tenant));
}

/**
 * A freeze holds in all of a team's places, so each of them may be told what is frozen. Where people from elsewhere read along,
 * and for whoever belongs to no team here, it is nothing: who froze what and why is the team's own.
 */
export function maySeeFreezes({ tenants }: Viewer): boolean {
  return tenants === "all" || tenants.length > 0;
}

/**
 * A place of its own, such as a channel: it shows what everyone who reads it there may see. `hasOutsiders`: people of other tenants
 * read along (`Adapter.hasOutsiders`), so nothing of elsewhere is shown.
 */
export function viewerAt(
  place: string,
  { audience, hasOutsiders }: { audience: string | undefined; hasOutsiders: boolean },
): Viewer {
  const tenant = hasOutsiders ? undefined : tenantOf(place);
  return { audience, tenants: tenant === undefined ? [] : [tenant] };
}

/** Whoever reads all that the thing's own readers do, to follow it on their behalf. */
export function insiderOf({ audience, tenant }: Belonging): Viewer {
  return { audience, tenants: tenant === undefined ? "all" : [tenant] };
}

/** What the keys begin with of all threads that may be seen, with some that may not: `maySee` judges each. */
export function prefixesSeen(
  { tenants, audience }: Viewer,
  transports: Iterable<string>,
): readonly string[] {
  const theirs = [...(tenants === "all" ? transports : tenants)].map((each) => `${each}:`);
  const isCovered = theirs.some((prefix) => audience?.startsWith(prefix));
  return audience === undefined || isCovered ? theirs : [...theirs, audience];
}

/** Who asks by a tool. @throws what the platform throws: then nothing is shown */
export async function viewerOf(asker: {
  readonly key: string;
  audience(): Promise<Viewer["audience"]>;
  tenants(): Promise<Viewer["tenants"]>;
}): Promise<Viewer> {
  const [audience, tenants] = await Promise.all([asker.audience(), asker.tenants()]);
  return { audience, tenants, thread: asker.key };
}
