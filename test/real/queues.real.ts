import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DATABASE_FAULTS } from "../../lab/faults/databases.ts";
import { type Lab, openLab, removeLab } from "../../lab/lab.ts";
import { redis } from "../../lab/parts/databases.ts";
import { rabbitmq } from "../../lab/parts/queues.ts";
import { Program } from "../fakes/program.ts";

/** A real RabbitMQ and a real Redis of the lab: each fault is named by one command, and gone when it is mended. */

const PARTS = [redis, rabbitmq];
const FAULTS = DATABASE_FAULTS.filter(({ parts }) =>
  parts.every((name) => PARTS.some((part) => part.name === name)),
);

let lab: Lab;
let program: Program;
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "wk-lab-"));
  // RabbitMQ runs as an account of its own.
  chmodSync(folder, 0o755);
  lab = openLab(folder);
  for (const part of PARTS) await part.start(lab);
  program = new Program(lab.state.variables);
}, 180_000);
afterAll(async () => {
  program.remove();
  await removeLab(lab);
}, 60_000);

test.each(FAULTS)("$name is named: $about", async (fault) => {
  const { ask = "", says = /^$/ } = fault.named ?? {};
  const found = async () => (await program.run(["ask", ask])).out;
  expect(await found()).not.toMatch(says);
  await fault.break(lab);
  // RabbitMQ counts every five seconds.
  await expect.poll(found).toMatch(says);
  await fault.mend(lab);
  await expect.poll(found).not.toMatch(says);
});

test("doctor proves both connections", async () => {
  const { out } = await program.run(["doctor"]);
  expect(out).toMatch(/^ok +rabbitmq +RabbitMQ 3/m);
  expect(out).toMatch(/^ok +redis +Redis [67]/m);
});
