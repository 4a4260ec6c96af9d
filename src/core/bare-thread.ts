import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * Starts a thread that has nothing of the process's: no variables and no flags, as `--env-file` would read the secrets into it
 * again. It only knows where Node keeps compiled code, if the environment says so, which spares it compiling its sources.
 */
export function createBareThread(
  file: URL,
  options: Pick<WorkerOptions, "name" | "workerData" | "resourceLimits">,
): Worker {
  const NODE_COMPILE_CACHE = process.env["NODE_COMPILE_CACHE"];
  const env = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
  return new Worker(file, { ...options, env, execArgv: [] });
}
