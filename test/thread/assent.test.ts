import { expect, test } from "vitest";
import { isAssent, isHolding } from "../../src/thread/assent.ts";

test.each([
  "yes",
  "Yes!",
  "ok approved, go ahead",
  "LGTM",
  "LGTM :+1:",
  "👍",
  "👍🏽",
  "👍👍",
  "ok 👍",
  "approve",
  "approved a1",
  "yes please",
  "looks good to me, ship it",
  "go for it",
  "✅ do it now",
  "+1",
])("%s agrees", (text) => expect(isAssent(text)).toBe(true));

test.each([
  "",
  "please",
  "a1",
  "and then?",
  "yes, but only on staging",
  "is it ok?",
  "ok, what depends on redis?",
  "approve it only if p99 is below 1 s",
  "no",
  "goal",
  "yesterday it worked",
  "who approved this?",
  "okay ".repeat(40),
])("%s does not", (text) => expect(isAssent(text)).toBe(false));

test.each([
  "hmm let me check",
  "hmm… let me look into it",
  "one sec",
  "hold on",
  "I'll look",
  "not sure yet",
  "Wait, let me ask first.",
  "hmm… checking",
  "good question, I'll ask",
])("%s is no answer yet", (text) => expect(isHolding(text)).toBe(true));

test.each([
  "staging",
  "let's take staging",
  "the waiting room host",
  "hmm, staging I think",
  "not sure but I'd say production",
  "wait, production!",
  "Looking at the logs it is staging",
  "checking says db-2",
  "a minute ago it was staging",
  "wait 5 minutes then use staging",
])("%s may be one", (text) => expect(isHolding(text)).toBe(false));
