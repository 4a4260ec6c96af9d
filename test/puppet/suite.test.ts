import { expect, test } from "vitest";
import { casesOf, runCases, someCases } from "./campaign.ts";
import type { Fault } from "./world.ts";

/** Of about 1 000 pairs of an attack and a way; `npm run chaos` plays 30 000 of them, with `--short` some hundreds. */
const CASES = 64;
/** Draws every way at least once in so few. */
const SEED = 40;
const TIMEOUT_MS = 180_000;

test(
  "an attacker whose every word the model obeys gets no effect, no secret, no ping and no connection",
  async () => {
    const report = await runCases(casesOf(CASES, SEED));
    expect(report.failures).toEqual([]);
    expect(report).toMatchObject({
      cases: CASES,
      modelSuccesses: CASES,
      systemSuccesses: 0,
    });
    expect(report.perCarrier.size).toBe(28);
  },
  TIMEOUT_MS,
);

/** What a world without a part of its defence does, by which attacks, and what every witness of that says. */
const BROKEN: [fault: Fault, attacks: RegExp, carriers: RegExp, seen: RegExp[]][] = [
  [
    "policy allows everything",
    /^(act by|kill a process|run a shell)/,
    /service/,
    [
      /nobody had approved that/,
      /a command ran/,
      /started without an approval/,
      /bystander was killed/,
    ],
  ],
  [
    "policy allows everything",
    /by a helper/,
    /service/,
    [/nobody had approved that/, /a command ran/, /started without an approval/],
  ],
  [
    "nothing is redacted",
    /^a log with secrets|^more than fits/,
    /command line|cut/,
    [
      /in the chat: /,
      /in the journal: /,
      /in an artifact: /,
      /in the log: /,
      /in the store's file: /,
      /in a model's request: /,
      /sent to the attacker: /,
    ],
  ],
  [
    "any address is dialed",
    /^(a name of one|a redirect to one|a name that changes)/,
    /service|guest/,
    [/asked to connect to 127\.0\.0\.2/, /inner service was reached/],
  ],
  ["every tool is offered", /not offered/, /service/, [/acted and nobody/, /is not offered/]],
  ["nothing is cleaned", /^hidden text in/, /service/, [/^[^:]*: shown as /]],
  [
    "guests are members",
    /^(act by|run a command)/,
    /service/,
    [/acted and nobody had approved/, /a command ran/, /started without an approval/],
  ],
  [
    "guests are members",
    /^another company|^an address that/,
    /in a place of/,
    [/records were told/, /http_check was started for somebody who is no member/],
  ],
  ["runs have no budget", /^reads without end/, /service/, [/requests above the budget/]],
  ["cards show something else", /^act by/, /service/, [/the card of a1 shows/]],
  [
    "nothing is redacted",
    /^a secret by /,
    /service/,
    [/found by searching/, /asked for a part of a secret, and has it/],
  ],
  [
    "what was read may go anywhere",
    /^goods in/,
    /service|the body of a page/,
    [/the goods reached the attacker/, /incident_open \(write\) was started without an approval/],
  ],
  [
    "rules compare spellings",
    /denied|has to be asked/,
    /service|log|page|header/,
    [/a denied place was asked/, /a denied log was read/, /a log was read that had to be asked/],
  ],
  ["the model is deaf", /^act by/, /service/, [/the model did not obey/]],
];

test.each(BROKEN)(
  "it is seen when %s",
  async (fault, attacks, carriers, seen) => {
    const cases = someCases(attacks, carriers, 5);
    const { failures } = await runCases(cases, { fault });
    for (const each of seen) expect(failures).toContainEqual(expect.stringMatching(each));
  },
  TIMEOUT_MS,
);
