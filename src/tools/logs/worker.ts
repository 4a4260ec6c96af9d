import { parentPort, workerData } from "node:worker_threads";
import { RE2JSException } from "re2js";
import { keepCompiled } from "../../core/kept-code.ts";
import { createEncoder } from "../../security/encoder.ts";
import { readWindow } from "./file-lines.ts";
import { createReading } from "./reading.ts";
import type { Answer, Job, Request } from "./thread.ts";

/** The program of the thread that lines are read in. */
const { held, wanted }: Job = workerData;
const encoder = createEncoder(held);

function begin(): ReturnType<typeof createReading> | string {
  try {
    return createReading(wanted, encoder);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return error.message;
  }
}

const reading = begin();

async function answer(request: Request): Promise<Answer> {
  if (typeof reading === "string") return { problem: reading };
  switch (request.kind) {
    case "page":
      return { page: reading.page(request.system, request.text, request.begin) };
    case "file":
      return {
        file: await readWindow(request.window, encoder.reach, (bytes, from, to) =>
          reading.block(bytes, from, to, request.service),
        ),
      };
    case "result":
      return { result: reading.result() };
  }
}

keepCompiled();
// What it throws ends the thread, and whoever asked is told.
parentPort?.on("message", (request: Request) => {
  void answer(request).then((given) => parentPort?.postMessage(given));
});
