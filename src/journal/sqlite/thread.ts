import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { isBotError, messageOf } from "../../core/errors.ts";
import { damageOf, openToWrite } from "./connection.ts";
import { createGroup } from "./group.ts";
import type { Answers, Asked, Refusal, Request, Said, ThreadData } from "./messages.ts";
import { prepareWrites } from "./statements.ts";
import { type File, forget, VERBS } from "./verbs.ts";

/** The store's own thread: it alone writes, so that no disk holds up the event loop of those who ask. */

const refusalOf = (error: unknown): Refusal => ({
  code: isBotError(error) ? error.code : undefined,
  message: messageOf(error),
});

async function serve(port: MessagePort, { path, time: began }: ThreadData): Promise<void> {
  const db = await openToWrite(path);
  const sql = prepareWrites(db);
  const send = (answered: readonly Said[], isLocked: boolean) => {
    const message: Answers = { answers: answered, isLocked };
    port.postMessage(message);
  };
  const group = createGroup(db, path, () => send([], true));
  let answers: Said[] = [];

  const fileAt = (time: number | undefined): File => {
    return { db, path, sql, now: time === undefined ? Date.now : () => time };
  };

  /** Answers to what shared a transaction go back together. */
  function answer(said: Said): void {
    if (answers.push(said) > 1) return;
    process.nextTick(() => {
      send(answers, group.isLocked());
      answers = [];
    });
  }

  async function perform({ verb, args, time }: Request): Promise<unknown> {
    if (verb === "check") return damageOf(db, path);
    // `Writer.ask` sees to it that the arguments are the verb's.
    return group.run((): unknown => Reflect.apply(VERBS[verb], undefined, [fileAt(time), ...args]));
  }

  async function close(): Promise<void> {
    await group.idle();
    db.close();
    // What was answered is on its way by then.
    setImmediate(() => port.close());
  }

  // Nobody waits for it: what was not dropped the next start drops.
  group.run(() => forget(fileAt(began))).catch(() => {});
  port.on("message", (asked: Asked) => {
    if (asked === "close") {
      void close();
      return;
    }
    for (const request of asked) {
      const { id } = request;
      perform(request).then(
        (reply) => answer({ id, reply }),
        (error: unknown) => answer({ id, refusal: refusalOf(error) }),
      );
    }
  });
}

if (parentPort !== null) await serve(parentPort, workerData);
