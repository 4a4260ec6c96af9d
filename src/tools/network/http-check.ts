import * as z from "zod";
import { formatBytes } from "../../core/text.ts";
import { limitTime } from "../../core/time-limit.ts";
import { urlProblem } from "../../net/http-url.ts";
import { defineTool } from "../tool.ts";
import { CHECK_TIMEOUT_MS, timeoutField } from "./format.ts";
import { reportVisit } from "./http-report.ts";

/** 256 KiB: every health page in full, and the beginning of anything else. */
const MAX_BODY_BYTES = 256 * 1024;

const input = z
  .strictObject({
    url: z
      .string()
      .max(2_000)
      .superRefine((text, issues) => {
        const problem = urlProblem(text);
        if (problem !== undefined) issues.addIssue(problem);
      })
      .meta({
        format: "uri",
        description: "Begins with http:// or https://; holds no user name or password",
        examples: ["https://example.com/health"],
      }),
    method: z.enum(["GET", "HEAD"]).default("GET"),
    followRedirects: z
      .boolean()
      .default(true)
      .describe("Up to 5 redirects; one with the status that expectStatus names is not followed"),
    expectStatus: z
      .int()
      .min(100)
      .max(599)
      .optional()
      .describe("The only healthy status. Without it, any status below 400 is healthy"),
    contains: z.string().min(1).max(500).optional().describe("Text that the body must contain"),
    timeoutSeconds: timeoutField(", redirects included"),
  })
  .refine(({ method, contains }) => method === "GET" || contains === undefined, {
    path: ["contains"],
    error: "the answer to HEAD has no body to search; use method GET",
  });

/** Requests a URL. A site that is down or broken is a result; only what may not or cannot be asked is an error. */
export const httpCheck = defineTool({
  name: "http_check",
  summary:
    "checks a URL: status, redirects, headers, timings, days left on the certificate, and the body",
  description:
    "Requests a URL and reports status, redirects, times (DNS, connect, TLS, first byte), certificate, key headers and the beginning of the body. Use it to see whether a site or API is up, healthy or slow, and if not, why.",
  input,
  effect: "read",
  kinds: { url: "url" },
  timeoutMs: CHECK_TIMEOUT_MS,
  doing: ({ url }) => `Checking ${url}`,
  title: ({ method, url }) => `Send ${method} ${url}`,
  async preview({ url: text, method, followRedirects }) {
    const url = new URL(text);
    const told = `${url.pathname}${url.search}`;
    return {
      lines: [
        { label: "Request", value: `${method} to ${url.host}` },
        { label: "Tells it", value: `${told} (${formatBytes(Buffer.byteLength(told))})` },
        ...decodedLine(told),
        ...(followRedirects
          ? [{ label: "Redirects", value: "followed, each one judged by the rules again" }]
          : []),
      ],
      blastRadius: `${url.host} and whoever reads its logs learn what the request says. A server may also act on a ${method}.`,
      undo: "What was sent can't be taken back.",
    };
  },
  async run(args, ctx) {
    // node:http takes milliseconds and megabytes to load, which a start without a check should not pay.
    const { visit } = await import("../../net/http-visit.ts");
    const { method, followRedirects, expectStatus } = args;
    const request = {
      method,
      url: new URL(args.url),
      follows: (status: number) => followRedirects && status !== expectStatus,
      permit: (next: URL) => ctx.permit({ url: next.href }),
    };
    const { signal, dial } = ctx;
    const limit = limitTime(signal, args.timeoutSeconds);
    // An expired certificate is what an operator wants to hear about, so it is reported instead of refused.
    const terms = { dial, signal, limit, maxBytes: MAX_BODY_BYTES, trusted: false };
    return reportVisit(await visit(request, terms), args, ctx.encoder);
  },
});

/** What is written in escapes, as people read it. */
function decodedLine(told: string): { label: string; value: string }[] {
  const plain = unescaped(told);
  return plain === told ? [] : [{ label: "In plain", value: plain }];
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
