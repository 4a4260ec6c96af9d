import { resolve } from "node:path";
import * as z from "zod";
import { fromEnv, fromYaml } from "../../core/settings.ts";
import { defineIntegration } from "../integration.ts";

const packFolder = z
  .string()
  .trim()
  .min(1)
  .transform((path) => resolve(path))
  .refine((path) => path !== "/", "expected a folder of packs, not /");

/** Tools that operators write in yaml. */
export const packs = defineIntegration({
  name: "packs",
  settings: z.object({
    folder: fromEnv(
      "PACKS_DIR",
      packFolder.optional(),
      "A folder of [tool packs](packs.md), read again while the program runs.",
      { unset: "no packs are loaded, those of `packs.folders` apart" },
    ),
    folders: fromYaml(
      "packs.folders",
      z.array(packFolder).max(20).prefault([]),
      "More folders of [tool packs](packs.md).",
    ),
  }),
  unavailable: (settings) =>
    foldersOf(settings).length === 0
      ? "PACKS_DIR is not set, and packs.folders names no folder"
      : undefined,
  tools: () => [],
  async live(settings, { anyVariable = () => undefined }) {
    const { openPacks } = await import("./folder.ts");
    return openPacks(foldersOf(settings), anyVariable);
  },
});

export function foldersOf({
  folder,
  folders,
}: {
  folder?: string | undefined;
  folders: readonly string[];
}): string[] {
  return [...(folder === undefined ? [] : [folder]), ...folders];
}
