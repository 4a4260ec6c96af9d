import type { Config } from "../../config/config.ts";
import { outgoingPart } from "../../config/outgoing.ts";
import { messageOf } from "../../core/errors.ts";
import { settingsOf } from "../../core/settings.ts";
import { counted } from "../../core/text.ts";
import { readAuthorities } from "../../net/authorities.ts";
import { proxyName, readProxies } from "../../net/proxy.ts";
import type { CheckedPart } from "./checked-part.ts";

/** By which proxies other machines are reached, and which authorities are trusted besides the usual ones. */
export function* examineOutgoing({ values }: Pick<Config, "values">): Iterable<CheckedPart> {
  const { httpsProxy, httpProxy, noProxy, authorities } = settingsOf(outgoingPart, values);
  const env = { HTTPS_PROXY: httpsProxy, HTTP_PROXY: httpProxy, NO_PROXY: noProxy };
  const past = `this machine${noProxy === undefined ? "" : `, ${noProxy.split(/[\s,]+/).join(", ")}`}`;
  for (const [scheme, name] of [
    ["https:", "HTTPS_PROXY"],
    ["http:", "HTTP_PROXY"],
  ] as const) {
    const proxy = readProxies({ [name]: env[name] }).to(scheme, "proxied.example", 1);
    if (proxy === undefined) continue;
    const how = `${proxy.isSecure ? " by TLS" : ""}${proxy.credentials === undefined ? "" : ", with a name and a password"}`;
    const text = `${name} is ${proxyName(proxy)}${how}; it is not used for ${past}`;
    yield { state: "ok", subject: "proxy", text };
  }
  if (authorities === undefined) return;
  try {
    const { length } = readAuthorities(authorities);
    const are = length === 1 ? "is" : "are";
    const text = `${counted(length, "certificate")} of NODE_EXTRA_CA_CERTS ${are} trusted besides the usual ones`;
    yield { state: "ok", subject: "authorities", text };
  } catch (error) {
    yield { state: "broken", subject: "authorities", text: messageOf(error) };
  }
}
