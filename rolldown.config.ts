import { dirname, resolve } from "node:path";
import { defineConfig, type Plugin } from "rolldown";

/** `npm run build`: the program and the libraries that it uses as few files, which start in less than half the time. */

/** A file that a thread runs, as the sources name it. */
const THREAD = /new URL\("(?<file>[^"]+\.ts)", import\.meta\.url\)/g;

/** Builds what threads run, too. */
const threads: Plugin = {
  name: "threads",
  transform: {
    filter: { code: THREAD },
    handler(code, id) {
      return code.replaceAll(THREAD, (_, file: string) => {
        const thread = this.emitFile({ type: "chunk", id: resolve(dirname(id), file) });
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

export default defineConfig({
  input: "src/main.ts",
  platform: "node",
  // A library's own choice, which it tries and goes without.
  external: ["zlib-sync"],
  // discord.js has one for its shards, which are not used here.
  checks: { eval: false },
  logLevel: "warn",
  plugins: [threads, later()],
  output: {
    dir: "dist",
    cleanDir: true,
    // Names stay, so that a stack says where it was.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  },
});
