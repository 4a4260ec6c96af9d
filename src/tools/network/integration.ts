import * as z from "zod";
import { fromYaml } from "../../core/settings.ts";
import { isAllowEntry } from "../../net/rules.ts";
import { defineIntegration } from "../integration.ts";
import { httpCheck } from "./http-check.ts";
import { createDnsLookup } from "./dns-lookup.ts";
import { tcpCheck } from "./tcp-check.ts";

const allowEntry = z
  .string()
  .refine(
    isAllowEntry,
    "expected an address, a network such as 10.20.0.0/16, a host name, or *. and a domain; without scheme, port or path",
  );

/** Looks at other machines, as anybody could from here. */
export const network = defineIntegration({
  name: "network",
  settings: z.object({
    allow: fromYaml(
      "network.allow",
      z.array(allowEntry).default([]),
      "Addresses, networks (`10.20.0.0/16`), host names or `*.domain` that tools may connect to beyond public ones.",
    ),
  }),
  tools: () => [httpCheck, tcpCheck, createDnsLookup()],
});
