import { withoutBrackets } from "../../core/canonical.ts";
import { formatElapsed } from "../../core/instant.ts";
import type { Finding } from "../../core/finding.ts";
import { headOf, formatBytes } from "../../core/text.ts";
import type { Answer, Exchange } from "../../net/http-exchange.ts";
import { shownUrl } from "../../net/http-url.ts";
import type { Visit } from "../../net/http-visit.ts";
import type { Encoder } from "../../security/encoder.ts";
import { type CertificateReport, describeCertificate } from "./certificate.ts";
import { formatTimes, printablePart, quotedLines } from "./format.ts";

/** What a healthy answer is like. */
export interface Expectations {
  /** The only healthy status; without it, any below 400. */
  expectStatus?: number | undefined;
  /** Text that the body must contain. */
  contains?: string | undefined;
}

const SNIPPET_LENGTH = 1_024;
/** Of a page's HTML, in which its words are looked for. */
const PAGE_LENGTH = 4_096;
const MAX_HEADER_LENGTH = 200;
/** People take what comes later for broken. */
const SLOW_MS = 2_000;

/** Headers that tell where an answer came from and how it may be kept. None of them carries a credential. */
const SHOWN_HEADERS =
  "location retry-after server via x-cache x-served-by cf-ray x-request-id content-type content-length cache-control age strict-transport-security".split(
    " ",
  );

/** A hop as it is shown. */
interface Hop extends Exchange {
  judged: CertificateReport | undefined;
}

/**
 * What is wrong with the URL, and what else to notice; then each hop with its evidence, after the conclusion where nothing is
 * wrong. Bodies are encoded before they are searched or cut: whether a secret is in one cannot be asked.
 */
export async function reportVisit(
  { hops: visited, stuck }: Visit,
  expected: Expectations,
  encoder: Encoder,
): Promise<{ text: string; findings: Finding[] }> {
  const hops = await Promise.all(visited.map((hop) => judge(hop, encoder)));
  const numbered = hops.length > 1;
  const conclusion = conclude({ hops, stuck }, expected);
  const isUp = conclusion.startsWith("UP: ");
  const sections = hops.map((hop, index) => {
    const title = `${numbered ? `${index + 1}. ` : ""}${renderTitle(hop)}`;
    const lines = renderHop(hop, index === hops.length - 1, encoder).map((line) => `   ${line}`);
    return [title, ...lines].join("\n");
  });
  const [first] = hops;
  const object = { kind: "URL", namespace: "", name: first ? shownUrl(first.url) : "" };
  const evidence = hops.map(renderTitle).join("; ");
  const found = (severity: Finding["severity"]) => (cause: string) => ({
    object,
    cause,
    severity,
    evidence,
    since: null,
  });
  return {
    text: [...(isUp ? [conclusion] : []), ...sections].join("\n\n"),
    findings: [
      ...(isUp ? [] : [conclusion]).map(found("error")),
      ...noteworthy(hops).map(found("warning")),
    ],
  };
}

/** The hop with its certificate judged, and without the secrets in its body. */
async function judge(hop: Exchange, encoder: Encoder): Promise<Hop> {
  const { answer, certificate, distrust } = hop;
  const host = withoutBrackets(hop.url.hostname);
  const judged = certificate && describeCertificate(certificate, host, distrust, Date.now());
  if (answer === undefined) return { ...hop, judged };
  const { body } = answer;
  const text = await encoder.aside.encodeCut(body.text, { before: false, behind: !body.isWhole });
  return { ...hop, judged, answer: { ...answer, body: { ...body, text } } };
}

/** DOWN: no HTTP answer. UNHEALTHY: an answer that clients cannot use or nobody wants. */
function conclude(
  { hops, stuck }: { hops: readonly Hop[]; stuck: string | undefined },
  expected: Expectations,
): string {
  const last = hops.at(-1);
  const redirected =
    hops.length > 1 && last !== undefined ? `, redirected to ${shownUrl(last.url)}` : "";
  if (last?.answer === undefined) return `DOWN: ${last?.problem ?? "not requested"}${redirected}`;

  const totalMs = hops.reduce((sum, hop) => sum + hop.totalMs, 0);
  const fact = `${last.answer.statusLine} in ${formatElapsed(totalMs)}${redirected}`;
  const complaints = [
    stuck,
    ...unmet(last.answer, expected),
    last.problem,
    last.answer.body.damage,
    ...hops.map(({ judged, url }) =>
      judged?.problem === undefined
        ? undefined
        : `clients refuse the certificate of ${url.host}: ${judged.problem}`,
    ),
  ].filter((complaint) => complaint !== undefined);
  const isBad = expected.expectStatus === undefined && last.answer.status >= 400;
  if (isBad) return `UNHEALTHY: ${[fact, ...complaints].join("; ")}`;
  return complaints.length === 0
    ? `UP: ${fact}`
    : `UNHEALTHY: ${fact}, but ${complaints.join("; ")}`;
}

function unmet(answer: Answer, { expectStatus, contains }: Expectations): string[] {
  const complaints: string[] = [];
  if (expectStatus !== undefined && answer.status !== expectStatus) {
    complaints.push(`status ${expectStatus} was expected`);
  }
  if (contains !== undefined && !answer.body.text.includes(contains)) {
    const where = answer.body.isWhole ? "the body" : "the part of the body that was read";
    complaints.push(`${where} does not contain ${JSON.stringify(contains)}`);
  }
  return complaints;
}

function noteworthy(hops: readonly Hop[]): string[] {
  return hops.flatMap((hop, index) => {
    const previous = hops[index - 1];
    const isDowngrade = previous?.url.protocol === "https:" && hop.url.protocol === "http:";
    const downgrade = `${shownUrl(hop.url)} is reached by a redirect from https to unencrypted http`;
    const warning = hop.judged?.warning;
    const { firstByteMs = 0 } = hop;
    const slow = `the first byte came after ${formatElapsed(firstByteMs)}`;
    return [
      ...(isDowngrade ? [downgrade] : []),
      ...(warning === undefined ? [] : [warning]),
      ...(firstByteMs < SLOW_MS ? [] : [slow]),
    ];
  });
}

function renderTitle({ method, url, answer }: Exchange): string {
  return `${method} ${shownUrl(url)} → ${answer?.statusLine ?? "no answer"}`;
}

function renderHop(hop: Hop, isLast: boolean, encoder: Encoder): string[] {
  const { answer } = hop;
  const isShown = isLast && hop.method === "GET" && answer !== undefined;
  const known = isShown ? String(answer.body.receivedBytes) : undefined;
  const headers = SHOWN_HEADERS.flatMap((name) => {
    const value = answer?.headers[name];
    return value === undefined || (name === "content-length" && value === known)
      ? []
      : [`${name}: ${printablePart(String(value), MAX_HEADER_LENGTH, encoder)}`];
  });
  // What the address in the URL says already.
  const isWritten = hop.at === hop.url.host;
  return [
    ...(hop.at === undefined || isWritten ? [] : [`address: ${hop.at}`]),
    `times: ${renderTimes(hop)}`,
    ...headers,
    ...(hop.judged?.lines ?? []),
    ...(isShown ? renderBody(answer) : []),
  ];
}

function renderTimes(hop: Exchange): string {
  return formatTimes([
    // An address was not looked up.
    ["DNS", hop.dnsMs === 0 ? undefined : hop.dnsMs],
    ["connect", hop.connectMs],
    [hop.protocol ?? "TLS", hop.tlsMs],
    ["first byte", hop.firstByteMs],
    ["total", hop.totalMs],
  ]);
}

function renderBody({ body, headers }: Answer): string[] {
  if (body.receivedBytes === 0) return ["body: empty"];
  const size = formatBytes(body.receivedBytes);
  const facts = [body.isCapped ? `over ${size}, reading stopped there` : size, ...body.notes];
  if (body.isBinary) return [`body: ${facts.join(", ")}; binary, not shown`];
  const isPage = /^text\/html\b/i.test(headers["content-type"] ?? "");
  const text = isPage ? wordsOf(headOf(body.text, PAGE_LENGTH)) : body.text;
  const snippet = headOf(text, SNIPPET_LENGTH).toWellFormed().trimEnd();
  if (snippet === "") return [`body: ${facts.join(", ")}`];
  const isAll = body.isWhole && body.text.length <= (isPage ? PAGE_LENGTH : SNIPPET_LENGTH);
  return [`body: ${facts.join(", ")}${isAll ? "" : "; it begins"}:`, ...quotedLines(snippet)];
}

/** What a page says, a line for each of its elements: enough to know an error page by. */
function wordsOf(html: string): string {
  const lines = html
    .replace(/<(script|style)\b[^]*?(?:<\/\1\s*>|$)/gi, "")
    .replace(/<[^>]*(?:>|$)/g, "\n")
    .split(/\s*\n\s*/)
    .filter((line) => line !== "");
  // A title mostly says the heading's words.
  return lines.filter((line, at) => line !== lines[at - 1]).join("\n");
}
