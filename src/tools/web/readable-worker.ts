import { parentPort, workerData } from "node:worker_threads";
import { convert } from "html-to-text";

/** Makes readable text of a page; a page made to take for ever takes this thread's time alone. */
const MAX_DEPTH = 100;
const MAX_SIBLINGS = 20_000;

const text = convert(String(workerData), {
  wordwrap: false,
  baseElements: { selectors: ["main", "article", "[role=main]", "body"], returnDomByDefault: true },
  limits: { maxBaseElements: 1, maxDepth: MAX_DEPTH, maxChildNodes: MAX_SIBLINGS },
  selectors: [
    { selector: "a", options: { ignoreHref: true } },
    { selector: "img", format: "skip" },
    { selector: "nav", format: "skip" },
    { selector: "footer", format: "skip" },
    { selector: "script", format: "skip" },
    { selector: "style", format: "skip" },
    { selector: "table", format: "dataTable" },
    ...["h1", "h2", "h3", "h4"].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
});

parentPort?.postMessage(text);
