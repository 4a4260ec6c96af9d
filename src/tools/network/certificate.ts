import type { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { formatElapsed } from "../../core/instant.ts";
import { printable } from "../../net/format.ts";

/** What a server's certificate says of itself, and what its clients will say of it. */
export interface CertificateReport {
  lines: string[];
  /** Why clients refuse it. */
  problem: string | undefined;
  /** That it is about to expire. */
  warning: string | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Renewal at 30 days before the end is what ACME clients do by default; two weeks later something is broken. */
const WARN_DAYS = 14;

const UNKNOWN_ISSUER =
  "its issuer is unknown to this machine, or the server does not send the intermediate certificate";
/** OpenSSL's verify results that operators meet, as Node names them. */
const CHAIN_PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "a certificate in its chain has expired",
  CERT_NOT_YET_VALID: "a certificate in its chain is not valid yet",
  CERT_REVOKED: "it was revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "it is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its chain ends in an authority that this machine does not trust",
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ISSUER,
};

/**
 * Judges a certificate for `host` at `now` (ms since 1970). `chainError` is what TLS found wrong with it, a code such as
 * `DEPTH_ZERO_SELF_SIGNED_CERT`; undefined when this machine trusts it.
 */
export function describeCertificate(
  certificate: X509Certificate,
  written: string,
  chainError: string | undefined,
  now: number,
): CertificateReport {
  const host = written.replace(/\.$/, "");
  const daysLeft = Math.floor((certificate.validToDate.getTime() - now) / DAY_MS);
  const problems = [
    ...validityProblems(certificate, now),
    ...nameProblems(certificate, host),
    ...chainProblems(certificate, chainError, now),
  ];
  const names = certificate.subjectAltName ?? "no names";
  const left = daysLeft < 0 ? "" : `, ${daysLeft} days left`;
  return {
    lines: [
      `certificate: ${distinguishedName(certificate.subject)}, issued by ${distinguishedName(certificate.issuer)}`,
      `  for ${printable(names.replace(/\b(DNS|IP Address):/g, ""), 200)}; ${day(certificate.validFromDate)} to ${day(certificate.validToDate)}${left}; ${problems.length === 0 ? "trusted" : "not trusted"}`,
    ],
    problem: problems.length === 0 ? undefined : problems.join("; "),
    warning:
      daysLeft >= 0 && daysLeft < WARN_DAYS
        ? `the certificate of ${printable(host, 100)} expires in ${daysLeft} days, on ${day(certificate.validToDate)}`
        : undefined,
  };
}

function validityProblems(certificate: X509Certificate, now: number): string[] {
  const ended = now - certificate.validToDate.getTime();
  if (ended >= 0) return [`it expired ${ago(ended)}, on ${day(certificate.validToDate)}`];
  if (now >= certificate.validFromDate.getTime()) return [];
  return [`it is not valid before ${day(certificate.validFromDate)}`];
}

function nameProblems(certificate: X509Certificate, host: string): string[] {
  const match = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  return match === undefined ? [`it is not for ${printable(host, 100)}`] : [];
}

function chainProblems(
  certificate: X509Certificate,
  chainError: string | undefined,
  now: number,
): string[] {
  // A wrong name and the leaf's own dates are told above, in more detail.
  if (chainError === undefined || chainError === "ERR_TLS_CERT_ALTNAME_INVALID") return [];
  const isDated = chainError === "CERT_HAS_EXPIRED" || chainError === "CERT_NOT_YET_VALID";
  if (isDated && validityProblems(certificate, now).length > 0) return [];
  return [CHAIN_PROBLEMS[chainError] ?? `its chain is broken (${chainError})`];
}

function distinguishedName(name: string): string {
  return name === "" ? "(no name)" : printable(name.split("\n").toReversed().join(", "), 160);
}

function ago(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  return days === 0 ? `${formatElapsed(ms)} ago` : days === 1 ? "1 day ago" : `${days} days ago`;
}

function day(date: Date): string {
  return Number.isNaN(date.getTime()) ? "(unreadable date)" : date.toISOString().slice(0, 10);
}
