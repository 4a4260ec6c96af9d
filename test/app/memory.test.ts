import { afterEach, expect, test } from "vitest";
import { Program } from "../fakes/program.ts";

let program: Program;
afterEach(() => program.remove());

test("in the terminal notes are kept, listed, recalled and forgotten from one start to the next, without a model", async () => {
  program = new Program({});
  const ask = (text: string) => program.run(["ask", text]);
  expect((await ask("notes")).out).toContain("There are no notes here. remember: … keeps one.");
  const kept = await ask("remember: the canary of checkout is web-2");
  expect(kept).toMatchObject({ code: 0, out: expect.stringMatching(/Noted as m-[a-z2-7]{10}/) });
  const [id = "none"] = /m-[a-z2-7]{10}/.exec(kept.out) ?? [];
  await ask("remember: db-1 is the primary");
  const listed = await ask("notes");
  expect(listed.code).toBe(0);
  expect(listed.out).toContain("2 notes:");
  expect(listed.out).toMatch(new RegExp(`${id}, note by .*: the canary of checkout is web-2`));
  expect((await ask("notes about canary")).out).toContain('1 note about "canary":');
  const recalled = await ask("recall canaries of the checkout");
  expect(recalled.code).toBe(0);
  expect(recalled.out).toContain("From memory, to be verified");
  expect(recalled.out).toContain("the canary of checkout is web-2");
  expect(recalled.out).not.toContain("db-1");
  expect((await ask("forget note zebra")).out).toContain("I forgot nothing: no note here has all");
  expect((await ask("forget note canary checkout")).out).toContain("Forgotten:");
  expect((await ask("notes")).out).not.toContain("canary");
  expect((await ask("recall canaries of the checkout")).out).not.toContain("web-2");
});
