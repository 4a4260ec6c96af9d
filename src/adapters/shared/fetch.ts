import { createFetch } from "../../net/fetch.ts";

/** One for all clients of chat platforms: they share connections. */
export const platformFetch = createFetch();
