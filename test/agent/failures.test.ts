import { describe, expect, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import { ModelError } from "../../src/models/model.ts";
import type { Saying } from "../fakes/scripted-model.ts";
import { createStage } from "../fakes/stage.ts";
import { ANSWER, call, lastAnswer, ofKind, rolesIn, silent, talking } from "./talking.ts";

const LOOK = { calls: [call("look")] };
const failing =
  (error: Error): Saying =>
  () => {
    throw error;
  };

describe("a model that cannot be asked", () => {
  test.each([
    "MODEL_AUTH",
    "MODEL_RATE_LIMITED",
    "MODEL_SPEND_CAP",
    "MODEL_OVERLOADED",
    "MODEL_CONTEXT_TOO_LONG",
    "MODEL_REQUEST_INVALID",
    "MODEL_UNREACHABLE",
    "MODEL_CUT",
  ] as const)(
    "because of %s ends the run with what happened, what was found and what to do",
    async (code) => {
      const stage = await talking([
        LOOK,
        failing(new ModelError(code, `It said ${code}. Do this.`)),
      ]);
      await stage.ask("is web well?");
      expect(stage.chat.answers()).toMatchObject([
        {
          status: "failed",
          text: expect.stringMatching(
            new RegExp(`It said ${code}. Do this.[^]*\\[T1\\] look: ok[^]*[Ww]rite again`),
          ),
        },
      ]);
    },
  );

  test("is asked again by the next message, with everything found before", async () => {
    const stage = await talking([
      LOOK,
      failing(new ModelError("MODEL_OVERLOADED", "Overloaded.")),
      ANSWER,
      ANSWER,
    ]);
    await stage.ask("is web well?");
    await stage.ask("and now?");
    expect(rolesIn(stage.model.requests[2])).toEqual(["user", "assistant", "tool", "user"]);
    expect(JSON.stringify(stage.model.requests[2])).toContain("did web");
  });

  test("loses no message that came meanwhile", async () => {
    const stage = await talking([
      async () => {
        await stage.say("and db?");
        throw new ModelError("MODEL_OVERLOADED", "Overloaded.");
      },
      { text: "Both are well." },
    ]);
    await stage.ask("is web well?");
    expect(stage.chat.answers().map(({ status }) => status)).toEqual(["failed", "completed"]);
  });

  test("for a reason of our own says no more than that", async () => {
    const stage = await talking([failing(new Error("boom"))]);
    await stage.ask("is web well?");
    expect(stage.chat.answers()).toMatchObject([{ status: "failed" }]);
  });

  test("because it is not configured any more says so", async () => {
    const stage = await talking([LOOK]);
    await stage.ask("model other/gone");
    await stage.ask("is web well?");
    expect(stage.chat.answers().at(-1)).toMatchObject({
      status: "failed",
      text: expect.stringContaining("other/gone"),
    });
  });
});

describe("a crash", () => {
  test("while the model is asked repeats the request, and nothing is doubled", async () => {
    const clock = { now: 1_000_000 };
    const now = () => clock.now;
    const stage = await talking([LOOK, silent, ANSWER], { now });
    await stage.say("is web well?");
    const dying = stage.settle();
    await expect.poll(() => stage.model.requests.length).toBe(2);
    // What the read found may still be on its way to the store: then it would be read again.
    await expect.poll(() => stage.kinds()).toContain("tool_finished");
    clock.now += 60_000;
    const { model, journal, chat, look, act } = stage;
    const next = await createStage({ tools: [look, act], model, journal, chat, now });
    await next.settle();
    await dying;
    expect(stage.model.requests[2]).toEqual(stage.model.requests[1]);
    expect(stage.look.runs).toEqual(["web"]);
    expect(ofKind(await stage.entries(), "assistant").map(({ step }) => step)).toEqual([1, 2]);
    expect(chat.answers()).toHaveLength(1);
  });

  test("of the store while files are read is waited for, not answered with a failure", async () => {
    const stage = await talking([{ text: "Hello." }, { text: "A cat." }]);
    await stage.ask("hello");
    const artifact = await stage.journal.putArtifact("test:thread", Buffer.from("pixels"));
    const { readArtifact } = stage.journal;
    let failures = 2;
    stage.journal.readArtifact = async (...args) => {
      if (failures-- > 0) throw new BotError("STORE_UNAVAILABLE", "Away.");
      return readArtifact(...args);
    };
    const files = [{ name: "cat.png", mediaType: "image/png" as const, artifact }];
    const actor = { account: "test:ana", name: "ana" };
    await stage.post({ id: "m", kind: "message", actor, text: "what is this?", files });
    await stage.settle();
    expect(lastAnswer(stage)).toBe("A cat.");
  });
});

describe("what stays in a thread after a failure", () => {
  test("a file that the model cannot be given is left out of the next run, so that the thread goes on", async () => {
    const picture: Saying = ({ turns }) => {
      const holds = turns.some(
        (turn) => turn.role === "user" && turn.content.some(({ kind }) => kind === "file"),
      );
      if (holds) throw new ModelError("MODEL_CONTENT_UNSUPPORTED", "It takes no PDF.");
      return { text: "I cannot see it." };
    };
    const stage = await talking([picture, picture]);
    const artifact = await stage.journal.putArtifact("test:thread", Buffer.from("%PDF-1.7"));
    const file = { name: "a.pdf", mediaType: "application/pdf" as const, artifact };
    const actor = { account: "test:ana", name: "ana" };
    await stage.post({ id: "m1", kind: "message", actor, text: "what is in it?", files: [file] });
    await stage.settle();
    expect(lastAnswer(stage)).toMatch(/It takes no PDF[^]*without the files sent so far/);
    await stage.ask("well?");
    expect(lastAnswer(stage)).toBe("I cannot see it.");
  });

  test("a PDF of some megabytes is shown: our limits take it for no more than a model can read", async () => {
    const stage = await talking([{ text: "It is a plan." }], { talk: { tokensPerDay: 500_000 } });
    const bytes = Buffer.concat([Buffer.from("%PDF-1.7"), Buffer.alloc(3 * 1024 * 1024)]);
    const artifact = await stage.journal.putArtifact("test:thread", bytes);
    const file = { name: "a.pdf", mediaType: "application/pdf" as const, artifact };
    const actor = { account: "test:ana", name: "ana" };
    await stage.post({ id: "m1", kind: "message", actor, text: "what is in it?", files: [file] });
    await stage.settle();
    expect(lastAnswer(stage)).toBe("It is a plan.");
    const [turn] = stage.model.requests[0]?.turns ?? [];
    const shown =
      turn?.role === "user" ? turn.content.find(({ kind }) => kind === "file") : undefined;
    expect(shown).toMatchObject({ data: bytes.toString("base64") });
  });

  test("a server that counts no tokens has them estimated, so that limits hold all the same", async () => {
    const line = { ...LOOK, usage: { input: 0, output: 0 } };
    const stage = await talking(
      Array.from({ length: 10 }, () => line),
      {
        talk: { budget: { steps: 30, tokens: 4_000, minutes: 15 } },
      },
    );
    await stage.ask("look around");
    expect(stage.chat.answers()).toMatchObject([{ status: "wrapped_up" }]);
    expect((await stage.thread()).counts.usage.input).toBeGreaterThan(500);
  });

  test("a run that is still open when the program's tools or prompt changed ends, and a new one goes on", async () => {
    const stage = await talking([{ calls: [call("act")] }, ANSWER]);
    await stage.ask("fix it");
    const { model, journal, chat, act } = stage;
    const next = await createStage({ model, journal, chat, tools: [act] });
    await next.click("a1", { kind: "approve" });
    await next.settle();
    expect(act.runs).toEqual(["web"]);
    expect(chat.answers()).toMatchObject([
      { status: "wrapped_up", text: expect.stringMatching(/program was changed[^]*act: ok/) },
    ]);
    expect(model.requests).toHaveLength(1);
  });
});
