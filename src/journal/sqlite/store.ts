import { join, resolve } from "node:path";
import * as z from "zod";
import { fromEnv } from "../../core/settings.ts";
import { defineStore } from "../store.ts";

/** The embedded store. Its folder has the log too. */
export const sqlite = defineStore({
  name: "sqlite",
  settings: z.object({
    dataDir: fromEnv(
      "DATA_DIR",
      z.string().prefault("./data"),
      "Folder of the store and the log, relative to the folder you start the program in. It is created if it does not exist, and must be on a disk of the machine: NFS and SMB are refused.",
    ),
  }),
  choose({ dataDir }) {
    const folder = resolve(dataDir);
    const load = () => import("./journal.ts");
    const path = join(folder, "watchkeeper.db");
    return {
      shown: `SQLite in ${folder}`,
      wakeups: "in-process",
      whyLost: async () => (await import("./file-system.ts")).whyLost(folder),
      open: async (options) => (await load()).openSqliteJournal({ path, ...options }),
      read: async (options) => (await load()).readSqliteJournal({ path, ...options }),
    };
  },
});
