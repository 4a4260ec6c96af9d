import { flushCompileCache } from "node:module";

/**
 * Keeps what this thread has compiled, so that the next one of its kind starts sooner: one that is ended from outside has no other time for
 * it. Does nothing where Node was given no folder for it (`NODE_COMPILE_CACHE`).
 */
export function keepCompiled(): void {
  flushCompileCache();
}
