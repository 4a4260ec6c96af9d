import { PassThrough } from "node:stream";
import { createAsk } from "../../../src/adapters/terminal/ask.ts";
import { adapterContract } from "../../contracts/adapter.ts";
import { answerOf, HERE, queriesOf, sitDown, THERE } from "./harness.ts";

for (const interactive of [true, false]) {
  adapterContract(`the terminal${interactive ? "" : " with piped input"}`, async () => {
    const desk = sitDown({ interactive });
    const left = desk.open();
    // Whatever is shown waits for the thread's heading.
    await desk.view().postPrivately("terminal:root", "ready");
    return {
      adapter: desk.terminal,
      key: HERE,
      foreign: THERE,
      account: "terminal:root",
      shown: desk.see,
      async close() {
        desk.clock.now += 60_000;
        desk.input.end();
        await left;
      },
    };
  });
}

adapterContract("one question", async () => {
  let said = "";
  const out = new PassThrough();
  const err = new PassThrough();
  for (const stream of [out, err]) stream.on("data", (bytes: Buffer) => (said += bytes.toString()));
  const queries = queriesOf({ threads: [], history: new Map(), open: [] });
  const base = { key: HERE, queries, account: "terminal:root", out, err };
  const ask = createAsk({ ...base, json: false, color: false, now: Date.now });
  return {
    adapter: ask,
    key: HERE,
    foreign: THERE,
    account: "terminal:root",
    shown: () => said,
    close: async () => {
      await ask.view(HERE)?.post({ ...answerOf("r9", ""), text: "", results: [] });
      await ask.finished;
    },
  };
});
