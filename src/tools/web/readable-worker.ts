import { parentPort, workerData } from "node:worker_threads";
import { convert } from "html-to-text";
import { keepCompiled } from "../../core/kept-code.ts";

/** Makes readable text of a page; a page made to take for ever takes this thread's time alone. */
const MAX_DEPTH = 100;
const MAX_SIBLINGS = 20_000;

const text = convert(String(workerData), {
  wordwrap: false,
  baseElements: { selectors: ["main", "article", "[role=main]", "body"], returnDomByDefault: true },
  limits: { maxBaseElements: 1, maxDepth: MAX_DEPTH, maxChildNodes: MAX_SIBLINGS },
  formatters: {
    cell(element, walk, builder) {
      if ("prev" in element && element.prev !== null) builder.addInline(" | ");
      walk(element.children, builder);
    },
  },
  selectors: [
    { selector: "a", options: { ignoreHref: true } },
    { selector: "img", format: "skip" },
    { selector: "nav", format: "skip" },
    { selector: "footer", format: "skip" },
    { selector: "script", format: "skip" },
    { selector: "style", format: "skip" },
    // Columns of one width, or cells over several of them, would make gigabytes of a small page: this memory ends the program.
    { selector: "table", format: "block" },
    { selector: "tr", format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    { selector: "td", format: "cell" },
    { selector: "th", format: "cell" },
    { selector: "blockquote", format: "block" },
    ...["h1", "h2", "h3", "h4"].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
});

keepCompiled();
parentPort?.postMessage(text);
