import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

/**
 * Loaded before a program (`--import`): how long its event loop was held up at most since the last SIGUSR2, in ms, written
 * to the file LOOP_DELAY_FILE when it ends.
 */
if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on("SIGUSR2", () => delay.reset());
  process.on("exit", () =>
    writeFileSync(process.env["LOOP_DELAY_FILE"] ?? "", String(delay.max / 1e6)),
  );
}
