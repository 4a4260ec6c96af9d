import { parentPort, workerData } from "node:worker_threads";
import { keepCompiled } from "../core/kept-code.ts";
import { callMethod, type EncoderCall } from "./encoder-methods.ts";
import { createEncoder } from "./encoder.ts";

/** The program of the thread that long texts are encoded in. */

const encoder = createEncoder(workerData);
keepCompiled();
parentPort?.on("message", (call: EncoderCall) =>
  parentPort?.postMessage(callMethod(encoder, call)),
);
