import { isAbsolute, normalize } from "node:path";
import * as z from "zod";
import { fromYaml } from "../../core/settings.ts";
import { defineIntegration } from "../integration.ts";
import { changeSource } from "./changes.ts";
import { diskUsage } from "./disk-usage.ts";
import { killProcess } from "./kill-process.ts";
import { createReadLog } from "./read-log.ts";
import { createRestartService } from "./restart-service.ts";
import { createRunCommand } from "./run-command.ts";
import { hostSurvey } from "./survey/survey-tools.ts";
import { createSearchHostLogs } from "./search-host-logs.ts";
import { createServiceStatus } from "./service-status.ts";

/** Reading these gives away memory, environments and devices of this machine, whoever is asked first. */
const CLOSED_ROOTS = ["/proc", "/sys", "/dev"];

const logRoot = z
  .string()
  .refine(isAbsolute, "expected an absolute path such as /var/log")
  .transform((path) => normalize(path).replace(/(?!^)\/+$/, ""))
  .refine(
    (path) => path !== "/" && !CLOSED_ROOTS.some((root) => `${path}/`.startsWith(`${root}/`)),
    `expected a folder of log files; / as a whole and ${CLOSED_ROOTS.join(", ")} are never opened`,
  );

/** The machine that this process runs on. */
export const host = defineIntegration({
  name: "host",
  settings: z.object({
    roots: fromYaml(
      "logs.roots",
      z.array(logRoot).prefault(["/var/log"]),
      "Absolute folders in which log files may be read. Never `/` as a whole, `/proc`, `/sys` or `/dev`.",
    ),
  }),
  changes: () => changeSource(),
  tools: ({ roots }) => [
    ...hostSurvey,
    diskUsage,
    createReadLog({ roots }),
    createSearchHostLogs({ roots }),
    createServiceStatus(),
    createRestartService(),
    createRunCommand(),
    killProcess,
  ],
});
