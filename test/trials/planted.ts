import { registerHooks } from "node:module";

/** Something that stands once in a file of `src`, and what is to stand there. */
export interface Change {
  file: string;
  text: string;
  becomes: string;
}

interface Fault extends Change {
  /** What the trial in bad weather must then say. */
  shows: RegExp;
}

/** Mistakes that a person might make in what keeps messages from being lost, doubled or stuck. The trial must see each. */
export const PLANTED: Readonly<Record<string, Fault>> = {
  "a lost response is not looked up": {
    file: "adapters/shared/posting.ts",
    text: "isRetry ? await thread.find(id, messages.length)",
    becomes: "false ? await thread.find(id, messages.length)",
    shows: /is answered \d+ times|still waits/,
  },
  "a refused delivery counts as made": {
    file: "worker/thread/show.ts",
    text: "(error: unknown) => showElsewhere(ctx, shown, step, error)",
    becomes: '() => ({ ref: "", instead: undefined })',
    shows: /is not (?:answered|carried out)/,
  },
  "what is put off does not come again": {
    file: "worker/background.ts",
    text: "ctx.deferred.set(key, Math.min(ctx.now() + retryMs, latest))",
    becomes: "ctx.deferred.set(key, ctx.now() + 86_400_000)",
    shows: /is not (?:answered|carried out)|still waits/,
  },
  "Retry-After is forgotten": {
    file: "adapters/shared/pace.ts",
    text: "limit(lane.name, error.retryAfterMs ?? 0)",
    becomes: "void limit",
    shows: /was asked again/,
  },
  "an event counts each time that it comes": {
    file: "adapters/slack/messages.ts",
    text: "inbox.post(key, `msg:${ts}`, inbound)",
    becomes: "inbox.post(key, `msg:${ts}:on:${Math.floor(Math.random() * 1e9)}`, inbound)",
    shows: /is answered \d+ times|was carried out \d+ times/,
  },
  "what came while nobody listened is not read": {
    file: "adapters/discord/backfill.ts",
    text: "for (const message of taken) hear(message)",
    becomes: "void hear",
    shows: /is not (?:answered|carried out)/,
  },
};

/** For the program that is broken so: `NODE_OPTIONS`, and which fault. */
export function plantedEnv(name: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=${import.meta.filename}`, PLANTED_FAULT: name };
}

/** From now on this process loads the file so changed. */
export function plant({ file, text, becomes }: Change): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(`/src/${file}`)) return loaded;
      const raw = loaded.source ?? "";
      const source = typeof raw === "string" ? raw : new TextDecoder().decode(raw);
      if (source.split(text).length !== 2) throw new Error(`${file} has no longer: ${text}`);
      return { ...loaded, source: source.replace(text, () => becomes) };
    },
  });
}

const planted = PLANTED[process.env["PLANTED_FAULT"] ?? ""];
if (planted !== undefined) plant(planted);
