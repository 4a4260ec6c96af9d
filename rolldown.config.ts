import { dirname, resolve } from "node:path";
import { defineConfig, type Plugin } from "rolldown";
import { loadSkills } from "./src/skills/load.ts";
import { prepare } from "./src/skills/prepared.ts";

/** `npm run build`: the program and the libraries that it uses as few files, which start in less than half the time. */

/** What is loaded together is one file: each costs a start half a millisecond. Every layer is what these need beyond those before it. */
const LAYERS = {
  base: ["src/main.ts"],
  config: ["src/config/config.ts"],
  bot: ["src/app/assemble.ts", "src/journal/sqlite/journal.ts"],
} as const;

/** A file that a thread runs, as the sources name it. */
const THREAD = /new URL\("(?<file>[^"]+\.ts)", import\.meta\.url\)/g;

/** The thread that every start waits for. */
const STORE = "src/journal/sqlite/thread.ts";

const threadFiles = new Set<string>();

/** Builds what threads run, too. */
const threads: Plugin = {
  name: "threads",
  transform: {
    filter: { code: THREAD },
    handler(code, id) {
      return code.replaceAll(THREAD, (_, file: string) => {
        const path = resolve(dirname(id), file);
        threadFiles.add(path);
        const thread = this.emitFile({ type: "chunk", id: path });
        return `new URL(import.meta.ROLLUP_FILE_URL_${thread})`;
      });
    },
  },
};

/** What libraries make of Unicode's tables when they are loaded takes as long as the rest of a start, and few texts need it. */
const LATER: Readonly<Record<string, string>> = {
  "const segmenter = new Intl.Segmenter();":
    "let made; const segmenter = { segment: (text) => (made ??= new Intl.Segmenter()).segment(text) };",
  "const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;":
    "let emoji; const rgiEmojiRegex = { test: (text) => (emoji ??= new RegExp('^\\\\p{RGI_Emoji}$', 'v')).test(text) };",
};

function later(): Plugin {
  const wanted = new Set(Object.keys(LATER));
  return {
    name: "later",
    transform: {
      filter: { code: [...wanted] },
      handler(code) {
        let changed = code;
        for (const [now, then] of Object.entries(LATER)) {
          if (!changed.includes(now)) continue;
          wanted.delete(now);
          changed = changed.replace(now, () => then);
        }
        return changed;
      },
    },
    buildEnd(error) {
      if (error !== undefined || wanted.size === 0) return;
      const lines = [...wanted].map((line) => `\n  ${line}`).join("");
      this.error(
        `No library has these lines any more, so a start would do again what LATER puts off. Look what string-width has instead:${lines}`,
      );
    },
  };
}

/** Reads the skills that come with the program, so that no start has to. */
const skills: Plugin = {
  name: "skills",
  async generateBundle() {
    const loaded = await loadSkills([resolve("skills")], (text) => text);
    const source = JSON.stringify(prepare(loaded));
    this.emitFile({ type: "asset", fileName: "skills.json", source });
  },
};

/** The layer of every module that belongs to one. */
const layers = new Map<string, string>();

/** Finds the layers. What threads need too stays out of them: each loads its own copy, and the store's is loaded at every start. */
const layering: Plugin = {
  name: "layers",
  buildEnd() {
    const needs = (roots: Iterable<string>) => {
      const found = new Set(roots);
      for (const id of found)
        for (const each of this.getModuleInfo(id)?.importedIds ?? []) found.add(each);
      return found;
    };
    const [inStore, inThreads] = [needs([resolve(STORE)]), needs(threadFiles)];
    const below = (id: string) => {
      if (inStore.has(id)) return "store";
      return inThreads.has(id) ? "threads" : undefined;
    };
    for (const [layer, files] of Object.entries(LAYERS))
      for (const id of needs(files.map((file) => resolve(file))))
        if (!layers.has(id)) layers.set(id, below(id) ?? layer);
    layers.delete(resolve("src/main.ts"));
  },
};

const groups = ["store", "threads", ...Object.keys(LAYERS)].map((name) => ({
  name,
  test: (id: string) => layers.get(id) === name,
}));

export default defineConfig({
  input: "src/main.ts",
  platform: "node",
  // A library's own choice, which it tries and goes without.
  external: ["zlib-sync"],
  // discord.js has one for its shards, which are not used here.
  // Nor does it matter that a layer has what others import only when they need it.
  checks: { eval: false, ineffectiveDynamicImport: false },
  logLevel: "warn",
  plugins: [threads, later(), layering, skills],
  output: {
    dir: "dist",
    cleanDir: true,
    codeSplitting: { groups },
    // Names stay, so that a stack says where it was.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  },
});
