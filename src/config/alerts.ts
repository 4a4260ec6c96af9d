import * as z from "zod";
import { platformName, transportOf } from "../core/journal-key.ts";
import { defineSettings, fromEnv, fromYaml, secretText } from "../core/settings.ts";
import { gradeOf, SEVERITY_WORDS } from "../core/severity-words.ts";
import { suggest } from "../core/suggest.ts";
import { channel, forms } from "./policy.ts";

const label = z.string().trim().min(1).max(100);

/** What is said of a regular expression, which would match nothing as a pattern. A mere slash or dot stands in labels, too. */
const REGEX = /^[\^~=]|\$$|\.[*+]|\\[.dswbDSWB]|\(\?|\|/;
const pattern = z
  .string(
    'expected text, or a list of texts, such as critical or ["shop-*", payments]; write numbers, true and false in quotes',
  )
  .max(300)
  .refine(
    (text) => !REGEX.test(text),
    'looks like a regular expression; a pattern has only * for any characters, such as "crit*", and a list has several, such as [critical, warning]',
  );

/** A slip of the pen can be told from another word only where there are letters enough. */
const MIN_LETTERS = 5;
const SEVERITIES = SEVERITY_WORDS.filter((word) => word.length >= MIN_LETTERS);

const match = z
  .record(
    label,
    z.preprocess(
      (value) => (Array.isArray(value) ? value : [value]),
      z
        .array(pattern)
        .min(1, "is an empty list, which matches nothing; leave it out for any value")
        .max(50),
    ),
  )
  .superRefine(({ severity = [] }, { addIssue }) => {
    for (const [i, word] of severity.entries()) {
      const isKnown = word.includes("*") || gradeOf(word) !== undefined;
      const meant = isKnown || word.length < MIN_LETTERS ? undefined : suggest(word, SEVERITIES);
      if (meant === undefined) continue;
      const message = `did you mean ${meant}? If your systems do write it so, end it with a *`;
      addIssue({
        code: "custom",
        message,
        path: ["severity", ...(severity.length > 1 ? [i] : [])],
      });
    }
  })
  .default({});

const isMentionable = (text: string) =>
  forms.approver.safeParse(text).success && /^(?:slack|discord):/.test(text);

const mention = z
  .string()
  .refine(
    isMentionable,
    'expected an account or a group with ids, not names: "slack:T1:U07" or "slack:group:S0SRE", "discord:5566" or "discord:role:7788"',
  );
const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "expected the name of an environment variable");

/** The systems that need no mapping. */
export const READ_BY_US = [
  "alertmanager",
  "grafana",
  "pagerduty",
  "opsgenie",
  "datadog",
  "sns",
  "sentry",
] as const;

const MINUTE_MS = 60_000;

/** How alerts are grouped where nothing else is said. */
export const DEFAULT_RULE = {
  groupBy: ["cluster", "namespace", "service", "job"],
  windowMs: 10 * MINUTE_MS,
};

const route = z
  .strictObject({
    match,
    channel,
    triage: z.boolean().optional(),
    investigate: z.boolean().optional(),
    mention: z.array(mention, 'expected a list, such as ["slack:group:S0SRE"]').max(10).default([]),
    groupBy: z.array(label).max(10).default(DEFAULT_RULE.groupBy),
    windowMinutes: z.number().positive().max(1_440).default(10),
  })
  .superRefine(({ channel: where, mention: who }, { addIssue }) => {
    for (const [i, reference] of who.entries())
      if (isMentionable(reference) && transportOf(reference) !== transportOf(where))
        addIssue({
          code: "custom",
          message: `is of ${platformName(reference)}, and the channel is not: name somebody who is there`,
          path: ["mention", i],
        });
  })
  .transform(({ groupBy, windowMinutes, ...rest }) => ({
    ...rest,
    rule: { groupBy, windowMs: Math.round(windowMinutes * MINUTE_MS) },
  }));

/** What a system without a reader of ours is read by. */
const mapped = z.strictObject({ mapping: z.string().trim().min(1).max(20_000) });

/** A system's name in `/alerts/<name>`. */
const SOURCE_NAME = /^[a-z][a-z0-9-]{0,39}$/;

const signing = z.strictObject({
  pagerduty: z.strictObject({ secret: variable }).optional(),
  sentry: z.strictObject({ secret: variable }).optional(),
  sns: z
    .strictObject({
      topics: z
        .array(
          z.string().regex(/^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:.+$/, "expected a topic's ARN"),
        )
        .min(1)
        .max(100),
    })
    .optional(),
});

/** The systems of these that may sign what they send. */
export const SIGNING = signing.keyof().options;

const moment = z
  .string()
  .trim()
  .refine(
    (text) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/.test(text) &&
      !Number.isNaN(Date.parse(text)),
    "expected a time with its offset, such as 2026-11-24T22:00:00+01:00",
  )
  .transform((text) => Date.parse(text));

const maintenance = z
  .strictObject({
    name: z.string().trim().min(1).max(100),
    match,
    from: moment.optional(),
    to: moment.optional(),
    cron: z.string().trim().min(1).max(200).optional(),
    minutes: z.number().positive().max(10_080).optional(),
    zone: z.string().trim().min(1).max(100).optional(),
  })
  .superRefine(({ from, to, cron, minutes, zone }, { addIssue }) => {
    const isOnce = from !== undefined && to !== undefined;
    const isRepeated = cron !== undefined && minutes !== undefined;
    const isMixed = [from, to].some(Boolean) && [cron, minutes, zone].some(Boolean);
    const isBackwards = isOnce && from >= to;
    if (isMixed || isOnce === isRepeated)
      addIssue({ code: "custom", message: "expected either from and to, or cron and minutes" });
    else if (isBackwards) addIssue({ code: "custom", message: "expected a to that is after from" });
  });

const sources = signing.catchall(mapped).superRefine((all, { addIssue }) => {
  for (const name of Object.keys(all)) {
    const isRead = (READ_BY_US as readonly string[]).includes(name);
    const why = isRead ? "is read without a mapping" : undefined;
    const form = SOURCE_NAME.test(name) ? undefined : "expected small letters, digits and hyphens";
    const message = name in signing.shape ? undefined : (why ?? form);
    if (message !== undefined) addIssue({ code: "custom", message, path: [name] });
  }
});

/** Alerts that monitoring systems send, and which thread they get. */
export const alertsPart = defineSettings({
  name: "alerts",
  settings: z.object({
    token: fromEnv(
      "ALERTS_TOKEN",
      secretText(
        /^[!-~]{16,256}$/,
        "16 to 256 characters without spaces, such as what `openssl rand -hex 16` prints",
      ).optional(),
      "What monitoring systems send as `Authorization: Bearer …` to `/alerts/<source>`. See [alerts](alerts.md).",
    ),
    routes: fromYaml(
      "alerts.routes",
      z.array(route).max(200).default([]),
      "Which alerts get a thread in which channel; the first route that matches counts. See [alerts](alerts.md).",
    ),
    maintenance: fromYaml(
      "alerts.maintenance",
      z.array(maintenance).max(200).default([]),
      "Times in which alerts that match are recorded and open no thread. See [alerts](alerts.md#maintenance).",
    ),
    sources: fromYaml(
      "alerts.sources",
      sources.prefault({}),
      "How monitoring systems show that a request is theirs, where it is not the token, and the JSONata `mapping` of each system that has no reader of its own. See [alerts](alerts.md).",
    ),
  }),
  variables: ({ sources: { pagerduty, sentry } }) =>
    [pagerduty?.secret, sentry?.secret].filter((name) => name !== undefined),
});
