import { globMatches } from "./glob.ts";

/** What a route says of places from which nothing goes to a model. */
export const NO_MODEL = "none";

/** Which model answers in some places, instead of the configured one. */
export interface ModelRoute {
  /** `slack:T1:C7`, `slack:T1`, `terminal`, or with `*` for anything. */
  readonly channels: string | readonly string[];
  /** `<provider>/<name>`, or `none`. */
  readonly model: string;
}

/**
 * The only model that may get anything from a thread in these places: its id, `none`, or undefined where no route says any. A route
 * names channels, or all of a workspace or server; the first that holds for a place decides, and of several places `none` wins.
 */
export type RouteOf = (places: readonly string[]) => string | undefined;

export function createRoutes(routes: readonly ModelRoute[]): RouteOf {
  return (places) => {
    const found = places.flatMap((place) => {
      const route = routes.find(({ channels }) =>
        [channels].flat().some((one) => isIn(place, one)),
      );
      return route === undefined ? [] : [route.model];
    });
    return found.includes(NO_MODEL) ? NO_MODEL : found[0];
  };
}

/** A thread is in its channel, and a channel in its workspace or server: the key of each begins with the other's. */
function isIn(place: string, named: string): boolean {
  return globMatches(named, place) || globMatches(`${named}:*`, place);
}
