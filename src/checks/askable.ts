import { plainText } from "./phrases.ts";

/** Whether plain words may ask about what runs here, or are about something else that has the same words in it. */

const POLITE = String.raw`^\W*(?:(?:please|pls|hey|hi|can you|would you|kindly|just|now|and|so)\W+)*`;
const OBJECT = "(?:the|all|an?|my|our|this|that|these|those|it|them|every|me|us|down|up)";

/** Somebody wants something changed, written or sent. "drop in traffic" and "deploy failed" are none. */
const WANTED = new RegExp(
  `${POLITE}(?:(?:delete|drop|remove|restart|reboot|kill|stop|start|scale|deploy|undo|terminate|purge|flush|truncate|disable|enable|drain|renew|upgrade|install|clear|write|compose|sing|draw|translate|summari[sz]e|sum|remind|book|schedule|create|draft|send|buy|order|add|play|make)\\s+${OBJECT}\\b)`,
  "i",
);

/** Somebody wants to know how things are called and done, and who does them. */
const EXPLAINED = new RegExp(
  `${POLITE}(?:explain\\b|define\\b|teach\\b|tell me (?:an? |about )|how (?:does|can|should) (?:i|we|you|one)\\b(?! (?:see|find out|tell|know|check) (?:why|what|which|whether|if|where)\\b)|how to\\b|how does [\\w ]{1,40} work\\b|what does [\\w ]{1,40} (?:mean|stand for|say)\\b|who (?:owns?|wrote|made|maintains|built|is on (?:call|duty))\\b|what is (?:an? )?(?!\\w*(?:ing|ed)\\b|(?:broken|wrong|down|up|slow|new|on|full|red)\\b)[a-z0-9-]+\\W*$)`,
  "i",
);

/** "restart nginx", and nothing but a machine or a wish behind it: "restart loop" and "deploy failed" are none. */
const ORDERED = new RegExp(
  `${POLITE}(?:sudo\\s+|systemctl\\s+|docker\\s+|kubectl\\s+|service\\s+)*(?:restart|reboot|bounce|kill|terminate|scale|delete|remove|drain|cordon|undo|rollback|silence|mute|flush|purge)\\s+(?:${OBJECT}\\s+)?(?:(?:pods?|deployment|container|service|node|process|unit)\\s+)?(?!(?:loops?|counts?|policy|failed|fails|storms?|happened|was|is|in|of|on)\\b)[\\w@./-]+(?:\\s+(?:service|daemon|unit|pods?|deployment|container|please|pls|now|again|(?:on|in|at|-n)\\s+[\\w.-]+)){0,4}\\W*$`,
  "i",
);

export function isAboutSystems(text: string): boolean {
  const plain = plainText(text);
  return !WANTED.test(plain) && !ORDERED.test(plain) && !EXPLAINED.test(plain);
}

/** Somebody orders that one thing is changed, and says nothing else. */
export function isOrdered(text: string): boolean {
  const plain = plainText(text);
  return (WANTED.test(plain) || ORDERED.test(plain)) && text.length <= MAX_ORDER;
}

/** A longer text tells a story. */
const MAX_ORDER = 200;
