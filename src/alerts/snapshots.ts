import { deserialize, serialize } from "node:v8";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { programVersion } from "../core/installation.ts";
import { Groups } from "./groups.ts";
import { AlertsState } from "./state.ts";

/** Changes with whatever makes another state of the same entries. */
const FOLD = 3;
/** As it was measured, of a member in memory. */
const MEMBER_BYTES = 700;

/** What a journal of alerts comes to, in bytes and back, so that one that is long need not be read whole. */
export const snapshots = {
  version: `${programVersion()} ${FOLD}`,
  encode(state: AlertsState): Uint8Array | undefined {
    return state.newer === undefined ? zstdCompressSync(serialize(state)) : undefined;
  },
  decode(bytes: Uint8Array): AlertsState {
    const { groups, ...rest }: AlertsState = deserialize(zstdDecompressSync(bytes));
    return Object.assign(new AlertsState(), rest, { groups: Object.assign(new Groups(), groups) });
  },
};

/** About what a state takes in memory. */
export function sizeOf({ groups }: AlertsState): number {
  let members = groups.held.size + groups.byAlert.size;
  for (const group of groups.open.values()) members += 2 + group.turns.length / 10;
  return Math.round(members * MEMBER_BYTES);
}
