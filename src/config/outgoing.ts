import * as z from "zod";
import { defineSettings, fromEnv } from "../core/settings.ts";
import { isProxy, PROXY_VARIABLES } from "../net/proxy.ts";

const proxy = z
  .string()
  .trim()
  .refine(
    isProxy,
    "expected an HTTP proxy such as http://proxy.example.com:3128 or http://name:password@proxy.example.com:3128",
  )
  .optional();

/** How other machines are reached. Other programs read these variables too. */
export const outgoingPart = defineSettings({
  name: "outgoing",
  settings: z.object({
    httpsProxy: fromEnv(
      "HTTPS_PROXY",
      proxy,
      "The HTTP proxy for everything that is reached by https and wss, such as `http://name:password@proxy:3128`. See [proxies](operate.md#proxies-and-certificates).",
      { shared: true },
    ),
    httpProxy: fromEnv("HTTP_PROXY", proxy, "The same for http and ws.", { shared: true }),
    noProxy: fromEnv(
      "NO_PROXY",
      z.string().trim().optional(),
      "What is reached without it, separated by commas: names with all names below them, addresses, networks such as `10.0.0.0/8`, or `*`. This machine itself always is.",
      { shared: true },
    ),
    authorities: fromEnv(
      "NODE_EXTRA_CA_CERTS",
      z.string().trim().optional(),
      "A file with certificates (PEM) of authorities of your own, which are trusted besides the usual ones.",
      { shared: true },
    ),
  }),
});

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment in which `https_proxy` and its like count as those in capitals, before which they come. */
export function withSmallLetters(env: Environment): Environment {
  const small = PROXY_VARIABLES.flatMap((name) => {
    const value = env[name.toLowerCase()]?.trim() ?? "";
    return value === "" ? [] : [[name, value] as const];
  });
  return small.length === 0 ? env : { ...env, ...Object.fromEntries(small) };
}
