import * as z from "zod";
import { fromEnv, fromYaml } from "../../core/settings.ts";
import { defineStore } from "../store.ts";
import { REDIS_URL_FORM, type RedisAddress, showAddress, tryRedisAddress } from "./address.ts";

/** Whoever can read what a shorter secret signs can guess it. */
const MIN_SIGNING_SECRET = 32;

const redisUrl = z.string().transform((text, ctx): RedisAddress => {
  const address = tryRedisAddress(text.trim());
  if (address !== undefined) return address;
  const message = `expected ${REDIS_URL_FORM}; user and password percent-encoded`;
  ctx.addIssue({ code: "custom", message });
  return z.NEVER;
});

/** The store that several machines share. */
export const redis = defineStore({
  name: "redis",
  settings: z.object({
    address: fromEnv(
      "REDIS_URL",
      redisUrl.optional(),
      "The shared store. Not set: the embedded one in `DATA_DIR`. See below.",
    ),
    secret: fromEnv(
      "WATCHKEEPER_SECRET",
      z
        .string()
        .trim()
        .min(
          MIN_SIGNING_SECRET,
          `expected at least ${MIN_SIGNING_SECRET} characters, such as \`openssl rand -base64 32\` prints`,
        )
        .optional(),
      "At least 32 characters, which encrypt the secrets that the program keeps, such as tokens of MCP servers, and sign everything in Redis. Needed with `REDIS_URL`.",
      { unset: "made in `DATA_DIR` when a secret is kept" },
    ),
    older: fromEnv(
      "WATCHKEEPER_SECRET_OLD",
      z.string().trim().min(1).optional(),
      "The previous `WATCHKEEPER_SECRET`: what was written with it can still be read. See below.",
      { secret: true },
    ),
    replicas: fromYaml(
      "redis.replicas",
      z.int().min(0).max(16).default(0),
      "How many replicas, 0 to 16, must have what is acknowledged, shown or about to be done. 0: one, where any is connected.",
    ),
  }),
  check: (isSet) =>
    isSet("REDIS_URL") && !isSet("WATCHKEEPER_SECRET")
      ? { WATCHKEEPER_SECRET: "missing; with REDIS_URL it is needed, the same in every process" }
      : {},
  choose({ address, secret = "", older, replicas }) {
    if (address === undefined) return undefined;
    const load = () => import("./journal.ts");
    const chosen = { address, secret, older, replicas };
    return {
      shown: showAddress(address),
      wakeups: "bullmq",
      open: async (options) => (await load()).openRedisJournal({ ...chosen, ...options }),
      read: async (options) => (await load()).readRedisJournal({ ...chosen, ...options }),
    };
  },
});
