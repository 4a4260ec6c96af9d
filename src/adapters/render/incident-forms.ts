import type { Edit } from "../../core/edit.ts";
import type { Inbound } from "../inbox.ts";
import type { IncidentCard } from "../shown.ts";
import { type IncidentPress, incidentFormId } from "./button-ids.ts";
import type { Form, FormField } from "./forms.ts";

export const SEVERITIES = ["sev1", "sev2", "sev3", "sev4"];

type Words = Pick<FormField, "name" | "label" | "hint" | "kind" | "maxLength">;

/** Named as the commands name them. */
export const WORDS = {
  note: {
    name: "note",
    label: "What was found or done",
    hint: "Goes into the timeline.",
    kind: "paragraph",
    maxLength: 3_000,
  },
  severity: {
    name: "severity",
    label: "Severity",
    hint: "sev1 is the worst.",
    kind: "choice",
    maxLength: 4,
  },
  impact: {
    name: "impact",
    label: "Impact",
    hint: "Whom it hurts, and how.",
    kind: "line",
    maxLength: 400,
  },
  services: {
    name: "services",
    label: "Affected",
    hint: "Services, with commas between.",
    kind: "line",
    maxLength: 400,
  },
  title: {
    name: "title",
    label: "Title",
    hint: "What fails, for whom, in one line.",
    kind: "line",
    maxLength: 200,
  },
  cause: {
    name: "cause",
    label: "Cause",
    hint: "Leave it empty if nobody knows yet.",
    kind: "line",
    maxLength: 2_000,
  },
  certainty: {
    name: "certainty",
    label: "How sure is the cause?",
    hint: "suspected, likely or confirmed.",
    kind: "choice",
    maxLength: 9,
  },
  followUp: {
    name: "followUp",
    label: "To do afterwards",
    hint: "One thing; more by “incident update”.",
    kind: "line",
    maxLength: 600,
  },
} as const satisfies Record<string, Words>;

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  severity: SEVERITIES,
  certainty: ["suspected", "likely", "confirmed"],
};

const FORMS: Readonly<
  Record<IncidentPress["what"], { title: string; submit: string; fields: (keyof typeof WORDS)[] }>
> = {
  update: {
    title: "Update the incident",
    submit: "Update",
    fields: ["note", "severity", "impact", "services", "title"],
  },
  resolve: {
    title: "Resolve the incident",
    submit: "Resolve",
    fields: ["cause", "certainty", "followUp", "note"],
  },
  severity: { title: "Change the severity", submit: "Change", fields: ["severity", "note"] },
};

/** What stands on the card, as a form has it. */
function valueOf(card: IncidentCard, name: string): string {
  const { severity = "", impact = "", services, title, cause = "", certainty = "" } = card;
  const values: Record<string, string> = {
    severity,
    impact,
    services: services.join(", "),
    title,
    cause,
    certainty,
  };
  return values[name] ?? "";
}

export function incidentForm(press: IncidentPress, card: IncidentCard): Form {
  const { title, submit, fields } = FORMS[press.what];
  return {
    id: incidentFormId(press),
    title,
    submit,
    fields: fields.map((name): FormField => {
      const words = WORDS[name];
      const value = valueOf(card, name).slice(0, words.maxLength);
      const choices = CHOICES[name] ?? [];
      return { ...words, choices, value, optional: true };
    }),
  };
}

/** What can be typed instead of it, and what a sent form says: the command, with what was changed in it. */
export function incidentCommand(
  { what, incident }: IncidentPress,
  card: IncidentCard,
  written: Edit["written"],
): Omit<Extract<Inbound, { kind: "text" }>, "actor"> | undefined {
  const said = Object.entries(written).flatMap(([name, text]) => {
    const value = text.trim();
    const isSame = value === "" || value === valueOf(card, name).trim();
    return isSame || !Object.hasOwn(WORDS, name) ? [] : [`${name}=${quotedValue(value)}`];
  });
  if (what !== "resolve" && said.length === 0) return undefined;
  const verb = what === "resolve" ? "resolve" : "update";
  return { kind: "text", text: ["incident", verb, incident, ...said].join(" ") };
}

/** As the grammar of commands takes it back, whatever is in it. */
export function quotedValue(value: string): string {
  return `"${value.replaceAll(/["\\]/g, (sign) => `\\${sign}`)}"`;
}
