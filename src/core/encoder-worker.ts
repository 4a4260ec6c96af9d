import { parentPort, workerData } from "node:worker_threads";
import type { AsideRequest } from "./encoder-thread.ts";
import { createEncoder } from "./encoder.ts";

/** The program of the thread that long texts are encoded in. */

const encoder = createEncoder(workerData);
parentPort?.on("message", ({ how, text }: AsideRequest) => {
  parentPort?.postMessage(encoder[how](text));
});
