import type { PlatformNames } from "../../core/name-forms.ts";

/** The terminal's one account is the operating system's user; it has no channels. */
export const terminalNames: PlatformNames = {
  account: { shown: "terminal:<name>", pattern: /^terminal:[^\s:]+$/ },
  channels: [{ shown: "terminal", pattern: /^terminal$/ }],
};
