import { lazily } from "./lazily.ts";

const and = lazily(() => new Intl.ListFormat("en"));
const or = lazily(() => new Intl.ListFormat("en", { type: "disjunction" }));

/** `a, b, and c` */
export const listAnd = (items: Iterable<string>): string => and().format(items);

/** `a, b, or c` */
export const listOr = (items: Iterable<string>): string => or().format(items);
