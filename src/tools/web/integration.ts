import * as z from "zod";
import { baseUrl, fromEnv } from "../../core/settings.ts";
import { listOf } from "../accounts.ts";
import { defineIntegration } from "../integration.ts";

/** Pages that people read: documents of sites that are allowed, and providers' status pages. */
export const web = defineIntegration({
  name: "web",
  settings: z.object({
    sites: fromEnv(
      "WEB_SITES",
      listOf(baseUrl, ""),
      "Sites whose pages may be read, with commas between: `https://docs.example.com, https://github.com/acme/`. A path allows what is below it. No others are.",
    ),
    pages: fromEnv(
      "STATUS_PAGES",
      listOf(baseUrl, ""),
      "Status pages of providers that you depend on, with commas between: `https://www.githubstatus.com`.",
    ),
  }),
  unavailable: ({ sites, pages }) =>
    sites.length + pages.length === 0 ? "neither WEB_SITES nor STATUS_PAGES is set" : undefined,
  async tools({ sites, pages }) {
    const [{ createWebFetch }, { createStatusPages }] = await Promise.all([
      import("./web-fetch.ts"),
      import("./status-pages.ts"),
    ]);
    return [
      ...(sites.length === 0 ? [] : [createWebFetch(sites)]),
      ...(pages.length === 0 ? [] : [createStatusPages(pages)]),
    ];
  },
  proofs: ({ pages }) =>
    pages.length === 0 ? [] : [{ subject: "status pages", tool: "status_pages", args: {} }],
});
