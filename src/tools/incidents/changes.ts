import type { Ledger } from "../../incidents/incident.ts";
import type { ChangeSource } from "../change.ts";
import { clip } from "../labels.ts";
import { askedIn } from "./asked.ts";

/** What people wrote down as found or done in incidents that whoever asks may see. */
export function changeSource(ledger: () => Ledger): ChangeSource {
  return {
    name: "incidents",
    endpoints: {},
    async changes({ from, to }, ctx) {
      const { saying } = await askedIn(ctx);
      const all = await ledger().list({ saidIn: { from, to } }, saying);
      const changes = all.flatMap(({ id, services, history }) =>
        history.flatMap(({ at, actor, change: { note }, outside }) => {
          if (note === undefined || outside || at < from || at > to) return [];
          const text = `noted: ${JSON.stringify(clip(note, 160, ctx.encoder))}`;
          return [{ at, where: id, text, by: actor.name, about: services, isLive: false }];
        }),
      );
      return { changes, gaps: [] };
    },
    async brokeAt(ctx) {
      const { saying } = await askedIn(ctx);
      if (saying.link === undefined) return undefined;
      const [newest] = await ledger().list({ link: saying.link, limit: 1 }, saying);
      return newest && { at: newest.startedAt, source: `${newest.id} began` };
    },
  };
}
