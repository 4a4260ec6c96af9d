import type { Gap } from "../../core/finding.ts";
import { oneLine } from "../../core/text.ts";
import type { Change, ChangeSource, Window } from "../change.ts";
import { type Item, numberOf, textOf } from "../decode.ts";
import type { ToolContext } from "../tool.ts";
import { composeOf, type Container } from "./container.ts";
import { type Endpoints, openEngine, orElse, partOf } from "./engine.ts";
import { seeContainers } from "./reads.ts";

/** Containers that were made, made again, started and removed. */
export function changeSource(endpoints: Endpoints): ChangeSource {
  return {
    name: "docker",
    endpoints,
    async changes(window, ctx) {
      const names = Object.keys(endpoints);
      const gaps: Gap[] = [];
      const found = await Promise.all(
        names.map(async (instance) => {
          const where = names.length > 1 ? `docker ${instance}` : "docker";
          const failed = (why: string) =>
            void gaps.push({ what: `containers of ${where}`, why, help: "Look at the engine." });
          const look = lookAt({ endpoints, instance }, window, { gaps, ctx });
          const changes = await orElse(look, [], failed);
          return changes.map((change) => ({ ...change, where, isLive: true }));
        }),
      );
      return { changes: found.flat(), gaps };
    },
  };
}

type Found = Omit<Change, "where" | "isLive">;

/** One that was removed. */
interface Removed {
  at: number;
  name: string;
  image: string;
}

/** Before the one that takes its place was made, or soon after: `docker compose` makes that one first. */
const REPLACED_MS = 10 * 60_000;

async function lookAt(
  { endpoints, instance }: { endpoints: Endpoints; instance: string },
  { from, to }: Window,
  { gaps, ctx }: { gaps: Gap[]; ctx: ToolContext },
): Promise<Found[]> {
  const engine = await openEngine(endpoints, { instance }, ctx);
  const failed = (why: string) =>
    void gaps.push({ what: "containers that were removed", why, help: "Ask again." });
  // Docker says that one was destroyed, podman that it was removed.
  const filters = { type: ["container"], event: ["destroy", "remove"] };
  const [{ seen, gaps: unseen }, events] = await Promise.all([
    seeContainers(engine),
    orElse(engine.events(from, filters), [], failed),
  ]);
  gaps.push(...unseen);
  const isWithin = (at: number) => at >= from && at <= to;
  const removed = events.map(removedOf).filter(({ at, name }) => isWithin(at) && name !== "");
  const names = new Set(seen.map(({ name }) => name));
  const gone = removed.filter(({ name }) => !names.has(name));
  return [
    ...seen.flatMap((one) => changeOf(one, removed, isWithin) ?? []),
    ...gone.map(({ at, name, image }) => ({
      at,
      text: `container ${name} removed (${image})`,
      about: [name],
    })),
  ];
}

function removedOf(event: Item): Removed {
  const { name, image } = partOf(event, "Actor", "Attributes");
  const at = numberOf(event["time"]) * 1_000;
  return { at, name: oneLine(textOf(name)), image: oneLine(textOf(image)) };
}

/** The latest of what happened to it; undefined: nothing did. */
function changeOf(
  one: Container,
  removed: readonly Removed[],
  isWithin: (at: number) => boolean,
): Found | undefined {
  const { name, image, restarts } = one;
  const { service } = composeOf(one);
  const about = [...new Set([name, service])].filter((each) => each !== "");
  const created = Date.parse(textOf(one.raw["Created"]));
  if (isWithin(created)) {
    const before = removed.findLast(
      (each) => each.name === name && Math.abs(each.at - created) <= REPLACED_MS,
    );
    const images = [...new Set([before?.image, image])].filter((each) => each !== undefined);
    const verb = before === undefined ? "created" : "made again";
    return { at: created, text: `container ${name} ${verb}, ${images.join(" → ")}`, about };
  }
  const started = Date.parse(one.startedAt);
  if (!isWithin(started)) return undefined;
  const times = restarts > 0 ? `, ${restarts} restarts so far` : "";
  return { at: started, text: `container ${name} started${times}, ${image}`, about };
}
