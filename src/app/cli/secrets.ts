import { BotError } from "../../core/errors.ts";
import { type CliCommand, EXIT, printLines } from "./command.ts";

export const secrets: CliCommand = {
  name: "secrets",
  words: { min: 1, max: 1 },
  forms: {
    "secrets change-key": "encrypts the stored secrets with a new key",
  },
  async run({ config, words: [verb] }) {
    if (verb !== "change-key") throw new BotError("USAGE", "secrets: expected secrets change-key");
    const { withSecrets } = await import("../secrets.ts");
    const { signal } = new AbortController();
    const names = await withSecrets(config, async (kept) => kept.changeKey(signal));
    const said =
      names.length === 0
        ? "Nothing had to be encrypted again."
        : `Encrypted again: ${names.join(", ")}.`;
    await printLines([
      said,
      "Older copies of the store still open with the old key. If somebody else has it, log in again everywhere and revoke the old logins.",
    ]);
    return EXIT.answered;
  },
};
