import { parentPort, workerData } from "node:worker_threads";
import { carryOut, type EncoderCall } from "./encoder-ways.ts";
import { createEncoder } from "./encoder.ts";

/** The program of the thread that long texts are encoded in. */

const encoder = createEncoder(workerData);
parentPort?.on("message", (call: EncoderCall) => parentPort?.postMessage(carryOut(encoder, call)));
