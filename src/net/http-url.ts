import { printable } from "./format.ts";

/** Why `text` is no URL that can be requested, to follow its name in a sentence; undefined when it is one. */
export function urlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return "must be a full address that begins with http:// or https://";
  }
  if (url.username !== "" || url.password !== "") {
    return "holds a user name or password; the thread would show and keep them, so leave them out";
  }
  return undefined;
}

export function shownUrl(url: URL): string {
  return printable(url.href, 200);
}
