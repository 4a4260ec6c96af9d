import type { Edit } from "../../core/edit.ts";
import { isoUtc } from "../../core/instant.ts";
import { gradeOf } from "../../core/severity-words.ts";
import { oneLine, shortened } from "../../core/text.ts";
import type { Inbound } from "../inbox.ts";
import type { AlertCard } from "../shown.ts";
import { type AlertPress, alertFormId } from "./button-ids.ts";
import type { Form } from "./forms.ts";
import { quotedValue, SEVERITIES, WORDS } from "./incident-forms.ts";

type Said = Omit<Extract<Inbound, { kind: "text" }>, "actor">;

/** A name that can be no sentence and no address: whoever presses says it as their own. */
const PLAIN_NAME = /^[\w-]{1,80}$/;

/** As if whoever pressed had asked it. What an alert says is no word of theirs: it stands in the thread. */
export function lookText({ name }: AlertCard): Said {
  const what = PLAIN_NAME.test(name) ? `the alert ${name}` : "this alert";
  return { kind: "text", text: `Look into ${what}: since when is it so, and why?` };
}

/** The command that silences what the card shows for an hour; undefined: it cannot be silenced from here. */
export function silenceText({ name, silence }: AlertCard): Said | undefined {
  if (silence === undefined) return undefined;
  const args = [
    `matchers=${quotedValue(JSON.stringify(silence))}`,
    "duration=1h",
    `comment=${quotedValue(`Pressed on the message of ${titleIn(name)}`)}`,
  ];
  return { kind: "text", text: `/run alertmanager_silence ${args.join(" ")}` };
}

/** An alert's name as a comment may have it: no address can stand in it, as the comment counts as said by whoever presses. */
function titleIn(name: string): string {
  const words = name.replace(/[^\p{L}\p{M}\p{N} _-]+/gu, " ").replace(/ {2,}/g, " ");
  return shortened(words.trim(), MAX_TITLE) || "an alert";
}

const MAX_TITLE = 100;

/** A person sees it in the form before it counts. */
function severityOf({ severity = "" }: AlertCard): string {
  const grade = gradeOf(severity);
  return grade === undefined || grade === "quiet" ? "" : grade;
}

/** The form in which an incident is opened, or resolved with the alerts' end. */
export function alertForm(press: AlertPress & { what: "open" | "resolve" }, card: AlertCard): Form {
  const id = alertFormId(press);
  if (press.what === "resolve") {
    const fields = [WORDS.cause, WORDS.note].map((words) => ({
      ...words,
      choices: [],
      value: "",
      optional: true,
    }));
    return { id, title: "Resolve the incident", submit: "Resolve", fields };
  }
  const values = {
    title: oneLine(card.summary === undefined ? card.name : `${card.name}: ${card.summary}`),
    severity: severityOf(card),
    services: card.services.join(", "),
  };
  const fields = ([WORDS.title, WORDS.severity, WORDS.services] as const).map((words) => ({
    ...words,
    choices: words.kind === "choice" ? SEVERITIES : [],
    value: values[words.name].slice(0, words.maxLength).toWellFormed(),
    optional: words.name !== "title",
  }));
  return { id, title: "Open an incident", submit: "Open", fields };
}

/** What a sent form says: the command, with the alerts' own times. Undefined: it says too little. */
export function alertCommand(
  { what }: AlertPress,
  card: AlertCard,
  written: Edit["written"],
): Said | undefined {
  const { startedAt, heardAt, overAt, incident } = card;
  const said = Object.entries(written)
    .filter(([name, text]) => name !== "title" && Object.hasOwn(WORDS, name) && text.trim() !== "")
    .map(([name, text]) => `${name}=${quotedValue(text.trim())}`);
  if (what === "resolve") {
    if (incident === undefined || overAt === undefined) return undefined;
    const command = ["incident resolve", incident, `resolvedAt=${timeOf(overAt)}`, ...said];
    return { kind: "text", text: command.join(" ") };
  }
  const title = written["title"]?.trim() ?? "";
  if (title === "") return undefined;
  const times = [
    `startedAt=${timeOf(startedAt)}`,
    `detectedAt=${timeOf(Math.max(startedAt, heardAt))}`,
  ];
  return {
    kind: "text",
    text: ["/incident open", quotedValue(title), ...said, ...times].join(" "),
  };
}

function timeOf(at: number): string {
  return `${isoUtc(at, "second")}Z`;
}
