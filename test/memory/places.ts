import type { Viewer } from "../../src/core/viewer.ts";

/** Places that know nothing of each other: two workspaces, a server, private channels, direct messages, a thread of its own. */
const PLACES: Readonly<Record<string, { thread: `${string}:${string}` } & Viewer>> = {
  public: { thread: "slack:T1:C1:1.1", audience: undefined, tenants: ["slack:T1"] },
  otherTeam: { thread: "slack:T2:C1:1.1", audience: undefined, tenants: ["slack:T2"] },
  discord: { thread: "discord:9:1:1", audience: undefined, tenants: ["discord:9"] },
  channel: { thread: "slack:T1:G1:1.1", audience: "slack:T1:G1", tenants: ["slack:T1"] },
  // Names that begin alike are other places.
  longer: { thread: "slack:T1:G11:1.1", audience: "slack:T1:G11", tenants: ["slack:T1"] },
  sameName: { thread: "slack:T2:G1:1.1", audience: "slack:T2:G1", tenants: ["slack:T2"] },
  dm: { thread: "slack:T1:D1:1.1", audience: "slack:T1:D1", tenants: ["slack:T1"] },
  ownThread: { thread: "slack:T1:C7:7.7", audience: "slack:T1:C7:7.7", tenants: ["slack:T1"] },
};
export type Place = keyof typeof PLACES;

/** What is public in the asker's tenants is seen in its private places too. */
const SEES: readonly (readonly [from: Place, of: Place])[] = [
  ["channel", "public"],
  ["longer", "public"],
  ["dm", "public"],
  ["ownThread", "public"],
  ["sameName", "otherTeam"],
];
export const placeOf = (name: Place) => {
  const place = PLACES[name];
  if (place === undefined) throw new Error(`no place is called ${name}`);
  return place;
};

export const ALL: readonly Place[] = Object.keys(PLACES);

/** The places that may not show in this one. */
export function hiddenFrom(name: Place): Place[] {
  return ALL.filter(
    (other) => other !== name && !SEES.some(([from, of]) => from === name && of === other),
  );
}
