import * as z from "zod";
import type { Preview } from "../../core/entry.ts";
import { BotError } from "../../core/errors.ts";
import { viewerOf } from "../../core/viewer.ts";
import type { Change, Incident, Ledger, Saying } from "../../incidents/incident.ts";
import { type Here, readMoment } from "../../core/instant.ts";
import type { ToolContext, Verdict } from "../tool.ts";
import { type Pinning, quoteLines } from "./pinning.ts";
import { readEvery } from "./update-every.ts";

/** What the tools of the ledger share: their fields, and who asks. */

const filled = (maxLength: number) => z.string().regex(/\S/, "is empty").max(maxLength);
const moment = () => filled(60);
const TIME =
  "as ISO 8601 with a zone, or as 14:05 or 2026-11-20 14:05 in the asker's own time zone";

export const idField = filled(60)
  .describe("The incident's id")
  .meta({ examples: ["inc-20261120-k3qa"] });
export const titleField = filled(200).describe("What fails, for whom, in one line");
export const severityField = z
  .enum(["sev1", "sev2", "sev3", "sev4"])
  .optional()
  .describe("How severe it is, sev1 the worst; leave it out unless a person or a runbook says it");

/** What may be said of an incident at any time. */
export const changeFields = {
  severity: severityField,
  services: filled(400)
    .optional()
    .describe("All services concerned, with commas between: what was there before is replaced"),
  startedAt: moment().optional().describe(`When it began, ${TIME}`),
  detectedAt: moment().optional().describe(`When it was noticed, ${TIME}`),
  impact: filled(400).optional().describe("Whom it hurts, and how"),
  updateEvery: filled(30)
    .optional()
    .describe(
      "How often this incident's thread is reminded of updates, in place of what is set for its severity: 15 (minutes), 2h, never",
    ),
  cause: filled(2_000).optional().describe("The cause, once it is known"),
  actions: filled(4_000)
    .optional()
    .describe("What is to be done about it, one action on each line"),
  note: filled(4_000).optional().describe("What was found or done, for the timeline"),
  acknowledgedAt: moment().optional().describe(`When somebody took it up, ${TIME}`),
  certainty: z
    .enum(["suspected", "likely", "confirmed"])
    .optional()
    .describe("How sure the cause is, as it was shown"),
  evidence: filled(2_000)
    .optional()
    .describe("Where the cause is shown, addresses or calls such as T3 with commas between"),
  roles: filled(1_000)
    .optional()
    .describe(
      "Who does what, as commander: Ana, communications: Bo; nobody after the colon ends it",
    ),
  followUp: filled(600)
    .optional()
    .describe(
      "Something to do afterwards, or the name of one that is there, such as f2, to change it",
    ),
  owner: filled(100).optional().describe("Who does the follow-up"),
  due: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/, "is no day such as 2026-12-01")
    .optional()
    .describe("The follow-up's day, as 2026-12-01"),
  done: filled(200).optional().describe("Follow-ups that are done, such as f1, f2"),
  dropped: filled(200).optional().describe("Follow-ups that nobody will do"),
};

/** What may be said of an incident that is open already. */
export const mitigatedAtField = moment()
  .optional()
  .describe(`When it hurt nobody any more, ${TIME}`);

export const resolvedAtField = moment().optional().describe(`When it was over, ${TIME}`);

/** The given fields of an incident, as text. */
export interface Fields extends z.infer<z.ZodObject<typeof changeFields>>, Partial<Pinning> {
  title?: string | undefined;
  mitigatedAt?: string | undefined;
  resolvedAt?: string | undefined;
  status?: "open" | "mitigated" | "false_alarm" | undefined;
}

/** Who asks, where and when. */
export interface AskedBy {
  saying: Saying;
  here: Here;
}

/** @throws BotError NOT_AVAILABLE outside a run, and what the platform throws: then nothing is shown or written */
export async function askedIn({ asker }: ToolContext): Promise<AskedBy> {
  if (asker === undefined) {
    throw new BotError("NOT_AVAILABLE", "Incidents can be looked at only while the tool is run.");
  }
  const { key, call, account, name, link, startedAt } = asker;
  const [zone, viewer, outside] = await Promise.all([
    asker.timezone(),
    viewerOf(asker),
    asker.outside(),
  ]);
  const actor = { account, name };
  return {
    saying: { ...viewer, actor, thread: key, call, link, outside, at: startedAt },
    here: { zone, now: startedAt },
  };
}

/** The fields as the ledger takes them. @throws BotError INPUT_INVALID for a time that cannot be read */
export async function changeOf(
  {
    id: _id,
    services,
    actions,
    startedAt,
    detectedAt,
    acknowledgedAt,
    mitigatedAt,
    resolvedAt,
    updateEvery,
    evidence,
    roles,
    followUp,
    owner,
    due,
    done,
    dropped,
    pin: _pin,
    unpin: _unpin,
    quote: _quote,
    ...words
  }: Fields & { id?: string },
  here: Here,
): Promise<Change> {
  const followUps = followUpsOf({ followUp, owner, due, done, dropped });
  return {
    ...words,
    ...(services !== undefined && { services: listOf(services, /[,\n]/) }),
    ...(startedAt !== undefined && { startedAt: await readMoment(startedAt, here) }),
    ...(detectedAt !== undefined && { detectedAt: await readMoment(detectedAt, here) }),
    ...(acknowledgedAt !== undefined && {
      acknowledgedAt: await readMoment(acknowledgedAt, here),
    }),
    ...(mitigatedAt !== undefined && { mitigatedAt: await readMoment(mitigatedAt, here) }),
    ...(resolvedAt !== undefined && { resolvedAt: await readMoment(resolvedAt, here) }),
    ...(evidence !== undefined && { evidence: listOf(evidence, /[,\n]/) }),
    ...(roles !== undefined && { roles: listOf(roles, /[,\n]/).flatMap(roleOf) }),
    ...(updateEvery !== undefined && { updateEvery: readEvery(updateEvery) }),
    ...(followUps.length > 0 && { followUps }),
    ...(actions !== undefined && { actions: listOf(actions, /\n/) }),
  };
}

/** @throws BotError INPUT_INVALID for what names no role */
function roleOf(text: string): { role: string; name?: string }[] {
  if (text.trim() === "") return [];
  const [role = "", ...rest] = text.split(/[:=]/);
  const name = rest.join(":").trim();
  if (role.trim() === "" || rest.length === 0)
    throw new BotError(
      "INPUT_INVALID",
      `${JSON.stringify(text.trim())} is not of the form commander: Ana.`,
    );
  return [{ role: role.trim(), ...(name !== "" && { name }) }];
}

const NAME = /^f\d+$/i;

type FollowUps = NonNullable<Change["followUps"]>;

/** @throws BotError INPUT_INVALID for an owner or a day of nothing */
function followUpsOf({
  followUp,
  owner,
  due,
  done = "",
  dropped = "",
}: Pick<Fields, "followUp" | "owner" | "due" | "done" | "dropped">): FollowUps {
  const more = { ...(owner !== undefined && { owner }), ...(due !== undefined && { due }) };
  if (followUp === undefined && Object.keys(more).length > 0)
    throw new BotError("INPUT_INVALID", "Say of which follow-up: followUp='…' or followUp=f1.");
  const given = followUp?.trim() ?? "";
  const isName = NAME.test(given);
  const named = (names: string, state: "done" | "dropped") =>
    listOf(names, /[,\s]+/).flatMap((name) =>
      name.trim() === "" ? [] : [{ name: name.trim().toLowerCase(), state }],
    );
  return [
    ...(given === ""
      ? []
      : [isName ? { name: given.toLowerCase(), ...more } : { text: given, ...more }]),
    ...named(done, "done"),
    ...named(dropped, "dropped"),
  ];
}

const jsonList = z.array(z.string());

/** A list with `separator` between, or as JSON, which is how other tools take lists. */
function listOf(text: string, separator: RegExp): string[] {
  try {
    return jsonList.parse(JSON.parse(text));
  } catch {
    return text.split(separator);
  }
}

/** What a card shows where a rule asks: exactly what would be recorded. */
export function previewOf(fields: Fields & { id?: string }): Preview {
  const { pin: _pin, quote, ...others } = fields;
  const lines = Object.entries(others).flatMap(([label, value]) =>
    value === undefined ? [] : [{ label, value }],
  );
  if (quote !== undefined) lines.push(...quoteLines(quote));
  return {
    lines,
    blastRadius: "Changes only the incident record, nothing outside this program.",
    undo: "What you record stays; a later update can correct it.",
  };
}

/** Reads the ledger back: `done` when it has what this call said, else nobody knows. */
export async function readBack(
  ledger: Ledger,
  { asker }: ToolContext,
  startedAt: number,
  id?: string,
): Promise<Verdict> {
  if (asker === undefined)
    return { verdict: "unknown", evidence: "it is not known which call it was" };
  const { key, call } = asker;
  const found: Incident | undefined = await ledger.written(
    { thread: key, call, at: startedAt },
    id,
  );
  return found === undefined
    ? { verdict: "unknown", evidence: "the ledger does not have what it said" }
    : { verdict: "done", evidence: `the record has it, in ${found.id}.` };
}
