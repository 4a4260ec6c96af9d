import { oneLine } from "../core/text.ts";
import type { Change } from "./incident.ts";

/** Texts as the record keeps them: encoded, and on one line if they are shown on one. */
export function cleaned(said: Change, encode: (text: string) => string): Change {
  const line = (text: string) => oneLine(encode(text));
  const lines = (texts: readonly string[]) => texts.map(line).filter((text) => text !== "");
  const { title, services, impact, cause, actions, note, pin, evidence } = said;
  return {
    ...said,
    ...(title !== undefined && { title: line(title) }),
    ...(services !== undefined && { services: uniqueNames(lines(services)) }),
    ...(impact !== undefined && { impact: line(impact) }),
    ...(cause !== undefined && { cause: line(cause) }),
    ...(actions !== undefined && { actions: lines(actions) }),
    ...(note !== undefined && { note: encode(note).trim() }),
    ...(pin !== undefined && { pin: { ...pin, name: line(pin.name), text: line(pin.text) } }),
    ...(evidence !== undefined && { evidence: [...new Set(lines(evidence))] }),
    ...peopleIn(said, line),
    ...factsIn(said, line),
  };
}

function peopleIn({ roles, followUps }: Change, line: (text: string) => string): Change {
  const maybe = (text: string | undefined, name: string) =>
    text === undefined || line(text) === "" ? {} : { [name]: line(text) };
  return {
    ...(roles !== undefined && {
      roles: roles.map(({ role, name }) => ({
        role: line(role).toLowerCase(),
        ...maybe(name, "name"),
      })),
    }),
    ...(followUps !== undefined && {
      followUps: followUps.map(({ text, owner, ...rest }) => ({
        ...rest,
        ...maybe(text, "text"),
        ...maybe(owner, "owner"),
      })),
    }),
  };
}

function factsIn({ alert, acted }: Change, line: (text: string) => string): Change {
  return {
    ...(alert !== undefined && {
      alert: {
        ...alert,
        name: line(alert.name),
        ...(alert.link !== undefined && { link: line(alert.link) }),
        ...(alert.sources !== undefined && { sources: alert.sources.map(line) }),
      },
    }),
    ...(acted !== undefined && {
      acted: {
        ...acted,
        title: line(acted.title),
        ...(acted.votes !== undefined && {
          votes: acted.votes.map((vote) => ({ ...vote, name: line(vote.name) })),
        }),
      },
    }),
  };
}

function uniqueNames(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.toLowerCase()))];
}
