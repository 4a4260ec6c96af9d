import type jsonata from "jsonata";
import * as z from "zod";
import { BotError, messageOf } from "../core/errors.ts";
import { tryJson } from "../core/json.ts";
import { LinearRegex, regexesIn } from "./linear-regex.ts";
import { alertOf, isoTime, maybe, type Notification, notificationOf } from "./alert.ts";

/** Systems that have no reader of ours: the configuration says in JSONata what their requests say. */

/** An answer for one request must not hold up the others. */
const LIMITS = { timeout: 2_000, stack: 100, sequence: 100_000 };
const MAX_TEXT = 300;

const text = z.union([z.string(), z.number().transform(String), z.boolean().transform(String)]);

/** ISO 8601, or ms or s since 1970. */
const time = z.union([
  z
    .number()
    .positive()
    .transform((at) => (at < 1e11 ? at * 1_000 : at)),
  isoTime,
]);

const mapped = z.object({
  name: z.string().min(1),
  status: z.enum(["firing", "acknowledged", "resolved"]).default("firing"),
  fingerprint: text.optional(),
  labels: z.record(z.string(), z.union([text, z.null().transform(() => undefined)])).default({}),
  summary: maybe,
  description: maybe,
  startsAt: time.optional(),
  endsAt: time.optional(),
  links: z.record(z.string(), maybe).default({}),
});

/** One mapping makes one alert or a list of them. */
const all = z.union([z.array(mapped), mapped.transform((one) => [one])]);

export interface MappedSource {
  readonly name: string;
  /** @throws BotError INPUT_INVALID for what the mapping makes no alerts of, TIMEOUT where that takes too long: the sender repeats it */
  read(body: unknown): Promise<Notification>;
}

/** @throws BotError CONFIG_INVALID for a mapping that is no JSONata, with the place of the mistake */
export async function mappedSource(name: string, mapping: string): Promise<MappedSource> {
  const { default: compile } = await import("jsonata");
  let expression: jsonata.Expression;
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has the two members of a RegExp that are used
    const RegexEngine = LinearRegex as unknown as RegExpConstructor;
    expression = compile(mapping, { ...LIMITS, RegexEngine });
    regexesIn(expression.ast()).map((regex) => new LinearRegex(regex));
  } catch (error) {
    const message = `alerts.sources.${name}.mapping: ${whyOf(error)}`;
    throw new BotError("CONFIG_INVALID", message);
  }
  async function make(body: unknown): Promise<unknown> {
    try {
      const made: unknown = await expression.evaluate(body);
      // JSONata's lists carry marks of its own.
      return made === undefined ? made : tryJson(JSON.stringify(made));
    } catch (error) {
      const { code }: { code?: unknown } = Object(error);
      throw refused(name, whyOf(error), code === TOO_LONG ? "TIMEOUT" : undefined);
    }
  }

  /** One at a time: the time that an answer may take is not spent by others. */
  let before: Promise<unknown> = Promise.resolve();
  return {
    name,
    async read(body) {
      const making = before.then(() => make(body));
      before = making.catch(() => {});
      const made = await making;
      if (made === undefined) throw refused(name, "it makes nothing of this request");
      const found = all.safeParse(made);
      if (found.success) return notificationOf(found.data.map((each) => alertOf(each)));
      throw refused(
        name,
        "it makes no alerts: each takes a `name`, and a `status` of firing, acknowledged or resolved",
      );
    },
  };
}

function refused(name: string, why: string, code: "INPUT_INVALID" | "TIMEOUT" = "INPUT_INVALID") {
  return new BotError(code, `The mapping of ${name}: ${why}.`);
}

/** JSONata's own code of an evaluation that took too long: a busy machine's, or one without end. */
const TOO_LONG = "D1012";

/** As JSONata says it, with the place in the expression. */
function whyOf(error: unknown): string {
  const { message, position }: { message?: unknown; position?: unknown } = Object(error);
  const said = typeof message === "string" ? message : messageOf(error);
  const at = typeof position === "number" && position > 0 ? ` (character ${position})` : "";
  return `${said.slice(0, MAX_TEXT).replace(/\.$/, "")}${at}`;
}
