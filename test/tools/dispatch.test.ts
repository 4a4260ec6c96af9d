import fc from "fast-check";
import { expect, test, describe } from "vitest";
import * as z from "zod";
import { MAX_FILE_BYTES } from "../../src/core/block.ts";
import { BotError, type ErrorCode } from "../../src/core/errors.ts";
import { createDispatcher } from "../../src/tools/dispatch.ts";
import { defineTool, type Tool, type ToolContext } from "../../src/tools/tool.ts";
import { ASKER } from "../fakes/asker.ts";
import { encoderOf } from "../fakes/encoder.ts";
import { noWorld } from "../fakes/tool-context.ts";
import { type Changes, stage } from "./one-tool.ts";

describe("a tool that fails five times in a row", () => {
  /** Fails while `broken`, counting its runs. */
  const breakable = (effect: Tool["effect"] = "read") => {
    const state = { broken: true, runs: 0 };
    const run = async () => {
      state.runs++;
      if (state.broken) throw new Error("it broke");
      return { text: "fine" };
    };
    return { state, changes: { effect, run } satisfies Changes };
  };

  test.each(["read", "write"] as const)(
    "is left alone for 30 s, which says when it is tried again: a %s",
    async (effect) => {
      const { state, changes } = breakable(effect);
      const { call, prepare, dispatcher, clock } = stage(changes);
      const { digest, args } = await prepare();
      for (let i = 0; i < 5; i++) expect(await call()).toMatchObject({ outcome: "error" });
      clock.now = 6_000;
      await expect(prepare()).rejects.toMatchObject({
        code: "CIRCUIT_OPEN",
        message: expect.stringContaining("in 24 s"),
      });
      // An action that was approved meanwhile is not dispatched either.
      const { signal } = new AbortController();
      expect(await dispatcher.revalidate("act", args, digest, signal)).toContain("in 24 s");
      expect(state.runs).toBe(5);
    },
  );

  test("is then tried by one call, which decides for all", async () => {
    const { state, changes } = breakable();
    const { call, prepare, run, clock } = stage(changes);
    for (let i = 0; i < 5; i++) await call();
    clock.now = 30_000;
    await prepare("probe");
    await expect(prepare("another")).rejects.toThrow(/one call tries it just now.*30 s/);
    await prepare("probe");
    clock.now = 31_000;
    await run("probe");
    clock.now = 60_000;
    await expect(prepare("another")).rejects.toThrow(/in 1 s/);
    clock.now = 61_000;
    state.broken = false;
    expect(await call("another")).toMatchObject({ outcome: "ok" });
    state.broken = true;
    for (let i = 0; i < 5; i++) expect(await call()).toMatchObject({ outcome: "error" });
    await expect(call()).rejects.toMatchObject({ code: "CIRCUIT_OPEN" });
  });

  test("whose probe never ran is tried by another after 30 s", async () => {
    const { changes } = breakable();
    const { call, prepare, clock } = stage(changes);
    for (let i = 0; i < 5; i++) await call();
    clock.now = 30_000;
    await prepare("never run");
    clock.now = 60_000;
    expect(await prepare("another")).toMatchObject({ args: { name: "another" } });
  });

  test("is not broken when it worked in between, or when what it did failed", async () => {
    let runs = 0;
    const { call } = stage({
      run: async () => {
        if (++runs % 5 !== 0) throw new Error("it broke");
        return { text: "exit code 1", failed: true };
      },
    });
    for (let i = 0; i < 20; i++) expect(await call()).toMatchObject({ outcome: "error" });
  });

  test.each<[code: ErrorCode, own: boolean]>([
    ["TIMEOUT", true],
    ["CONNECTION_FAILED", true],
    ["INPUT_INVALID", false],
    ["PRECHECK_FAILED", false],
    ["ADDRESS_REFUSED", false],
    ["ADDRESS_UNKNOWN", false],
    ["PATH_REFUSED", false],
    ["COMMAND_UNKNOWN", false],
    ["ARTIFACT_UNKNOWN", false],
    ["NOT_AVAILABLE", false],
    ["ABORTED", false],
  ])("%s counts as its own: %s", async (code, own) => {
    const run = () => Promise.reject(new BotError(code, "no"));
    const { call } = stage({ effect: "write", run });
    for (let i = 0; i < 5; i++) await call();
    if (own) await expect(call()).rejects.toMatchObject({ code: "CIRCUIT_OPEN" });
    else expect(await call()).toMatchObject({ text: expect.stringContaining("no") as string });
  });

  test("does not take others with it, and a name without a tool counts for nothing", async () => {
    const broken = defineTool({
      name: "broken",
      description: "",
      input: z.strictObject({}),
      effect: "read",
      timeoutMs: 1_000,
      run: () => Promise.reject(new Error("it broke")),
    });
    const nowhere = () => Promise.reject(new Error("nowhere"));
    const fine = { ...broken, name: "fine", run: async () => ({ text: "" }) };
    const parts = { ...noWorld, encoder: encoderOf((text) => text) };
    const dispatcher = createDispatcher({ host: "stage", ...parts, tools: [broken, fine] });
    const { signal } = new AbortController();
    const options = {
      signal,
      startedAt: 0,
      keep: nowhere,
      artifact: nowhere,
      asker: ASKER,
    };
    for (let i = 0; i < 6; i++) {
      await dispatcher.run("broken", {}, options);
      await dispatcher.run("none", {}, options);
    }
    await dispatcher.prepare("fine", {}, signal);
    await expect(dispatcher.prepare("broken", {}, signal)).rejects.toMatchObject({
      code: "CIRCUIT_OPEN",
    });
    await expect(dispatcher.prepare("none", {}, signal)).rejects.toMatchObject({
      code: "TOOL_UNKNOWN",
    });
  });
});

describe("a connection that fails", () => {
  const flaky = (failures: number, effect: Tool["effect"] = "read") => {
    const times: number[] = [];
    const run = async () => {
      times.push(performance.now());
      if (times.length <= failures) throw new BotError("CONNECTION_FAILED", "refused");
      return { text: "fine" };
    };
    return { times, changes: { effect, run } satisfies Changes };
  };

  test("is tried three times by a read, after 200 and 400 ms, each ±25 %", async () => {
    const { times, changes } = flaky(2);
    expect(await stage(changes).run()).toMatchObject({ outcome: "ok", text: "fine" });
    const [first = 0, second = 0, third = 0] = times;
    expect(second - first).toBeGreaterThanOrEqual(149);
    expect(third - second).toBeGreaterThanOrEqual(299);
  });

  test("is not tried a fourth time, and counts as one failure", async () => {
    const { times, changes } = flaky(99);
    const { call } = stage(changes);
    const results = await Promise.all(Array.from({ length: 4 }, () => call()));
    for (const result of results)
      expect(result).toMatchObject({ outcome: "error", text: "refused" });
    expect(times).toHaveLength(12);
    await call();
    await expect(call()).rejects.toMatchObject({ code: "CIRCUIT_OPEN" });
  });

  test("is not tried again by what changes something, nor is any other failure", async () => {
    for (const effect of ["write", "destructive"] as const) {
      const { times, changes } = flaky(1, effect);
      expect(await stage(changes).run()).toMatchObject({ outcome: "error" });
      expect(times).toHaveLength(1);
    }
    let runs = 0;
    await stage({
      run: () => {
        runs++;
        throw new Error("other");
      },
    }).run();
    expect(runs).toBe(1);
  });

  test("is not waited for when the call is stopped, or beyond the tool's time limit", async () => {
    const { times, changes } = flaky(99);
    const stop = new AbortController();
    const stopped = stage(changes).run("web", { signal: stop.signal });
    setImmediate(() => stop.abort());
    expect(await stopped).toMatchObject({ outcome: "cancelled" });
    expect(times.length).toBeLessThan(3);
    const before = times.length;
    const late = await stage({ ...changes, timeoutMs: 40 }).run();
    expect(late).toMatchObject({ outcome: "error", text: expect.stringContaining("0.04 s") });
    // The next try would come after 150 ms at the least.
    expect(times.length - before).toBe(1);
  });
});

describe("images in a result", () => {
  const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
  const WEBP = [...Buffer.from("RIFF\u0001\u0002\u0003\u0004WEBPVP8 ", "latin1")];
  const WAVE = [...Buffer.from("RIFF\u0001\u0002\u0003\u0004WAVEfmt ", "latin1")];
  const file = (begin: number[], length = 64) => {
    const bytes = new Uint8Array(length);
    bytes.set(begin);
    return bytes;
  };

  test("are kept as files with the text, by what their bytes say they are", async () => {
    const images = [
      { name: "a.png", mediaType: "image/png" as const, bytes: file(PNG) },
      { name: "b.jpg", mediaType: "image/jpeg" as const, bytes: file([0xff, 0xd8, 0xff, 0xe0]) },
      { name: "c.gif", mediaType: "image/gif" as const, bytes: file([...Buffer.from("GIF89a")]) },
      { name: "d.webp", mediaType: "image/webp" as const, bytes: file(WEBP) },
    ];
    const { run, kept } = stage({ run: async () => ({ text: "see", images }) });
    const { text, files, artifacts } = await run();
    expect(text).toBe("see");
    expect(artifacts).toEqual([]);
    expect(files.map(({ name, mediaType }) => ({ name, mediaType }))).toEqual(
      images.map(({ name, mediaType }) => ({ name, mediaType })),
    );
    expect(files.map(({ artifact }) => kept.get(artifact.id))).toEqual(
      images.map(({ bytes }) => bytes),
    );
  });

  test("that are too large, no images, too many or cannot be stored are left out, and the text says so", async () => {
    const most = MAX_FILE_BYTES["image/png"];
    const png = { name: "fits.png", mediaType: "image/png" as const, bytes: file(PNG, most) };
    const images = [
      png,
      { ...png, name: "large.png", bytes: file(PNG, most + 1) },
      { ...png, name: "page.png", bytes: Buffer.from("<svg onload=alert(1)>") },
      { ...png, name: "empty.png", bytes: new Uint8Array() },
      { ...png, name: "song.webp", mediaType: "image/webp" as const, bytes: file(WAVE) },
      { ...png, name: "other.gif", mediaType: "image/gif" as const },
    ];
    const result = { text: "see", images };
    const { run } = stage({ run: async () => result });
    const { text, files } = await run();
    expect(files.map(({ name }) => name)).toEqual(["fits.png"]);
    expect(text.split("\n")).toEqual([
      "see",
      expect.stringMatching(/^\[image large\.png left out: it has 5242881 bytes/),
      "[image page.png left out: it is not image/png]",
      "[image empty.png left out: it is not image/png]",
      "[image song.webp left out: it is not image/webp]",
      "[image other.gif left out: it is not image/gif]",
    ]);
    const away = await run("web", { keep: () => Promise.reject(new Error("disk full")) });
    expect(away).toMatchObject({ outcome: "ok", files: [] });
    expect(away.text).toContain("[image fits.png left out: it could not be stored]");
    result.images = Array.from({ length: 12 }, () => ({ ...png, bytes: file(PNG) }));
    expect((await run()).files).toHaveLength(10);
    expect((await run()).text).toContain("[2 more images left out: a result holds 10]");
  });

  test("have names that pass the encoder and stay on one line", async () => {
    const name = "secret\n.png";
    const images = [{ name, mediaType: "image/png" as const, bytes: file(PNG) }];
    const encode = (text: string) => text.replaceAll("secret", "[secret:X]");
    const run = async () => ({ text: "", images });
    const { files } = await stage({ run }, encoderOf(encode)).run();
    expect(files).toMatchObject([{ name: "[secret:X] .png" }]);
  });

  test("whatever bytes claim to be an image, only those of its type are kept", async () => {
    const begin = fc.oneof(
      fc.constantFrom(PNG, WEBP, [0xff, 0xd8, 0xff], [...Buffer.from("GIF87a")]),
      fc.array(fc.nat(255), { maxLength: 20 }),
    );
    const type = fc.constantFrom(
      ...(["image/png", "image/jpeg", "image/gif", "image/webp"] as const),
    );
    await fc.assert(
      fc.asyncProperty(begin, type, async (bytes, mediaType) => {
        const images = [{ name: "x", mediaType, bytes: Uint8Array.from(bytes) }];
        const { files, text } = await stage({ run: async () => ({ text: "", images }) }).run();
        const starts = {
          "image/png": bytes.join().startsWith(PNG.join()),
          "image/jpeg": bytes.join().startsWith("255,216,255"),
          "image/gif": /^GIF8[79]a/.test(Buffer.from(bytes).toString("latin1")),
          "image/webp": /^RIFF[^]{4}WEBP/.test(Buffer.from(bytes).toString("latin1")),
        };
        expect(files.length).toBe(starts[mediaType] ? 1 : 0);
        expect(text === "").toBe(starts[mediaType]);
      }),
      { numRuns: 200 },
    );
  });
});

describe("what a tool may use", () => {
  test("the thread's artifacts while it runs, and not before", async () => {
    const read = async (ctx: ToolContext) => Buffer.from(await ctx.readArtifact("k1")).toString();
    const { run, kept } = stage({ run: async (_, ctx) => ({ text: await read(ctx) }) });
    kept.set("k1", Buffer.from("kept"));
    expect(await run()).toMatchObject({ outcome: "ok", text: "kept" });
    const { prepare } = stage({ precheck: async (_, ctx) => void (await read(ctx)) });
    await expect(prepare()).rejects.toMatchObject({ code: "NOT_AVAILABLE" });
  });
});

describe("a result that cannot be checked for secrets", () => {
  test("is not shown, and how the call ended is known all the same", async () => {
    const dead = () => Promise.reject(new Error("the thread died"));
    const whole = encoderOf((text) => text);
    const encoder = { ...whole, aside: { ...whole.aside, encode: dead } };
    for (const effect of ["read", "write"] as const) {
      expect(await stage({ effect }, encoder).run()).toMatchObject({
        outcome: "ok",
        text: "The result could not be checked for secrets, so it is not shown.",
        artifacts: [],
      });
    }
    const failing = { effect: "write" as const, run: async () => ({ text: "no", failed: true }) };
    expect(await stage(failing, encoder).run()).toMatchObject({ outcome: "error" });
  });
});

describe("the resource that a call changes", () => {
  test("is what its tool says, else the whole machine", () => {
    const resourceOf = (changes: Changes, tool = "act") =>
      stage(changes).dispatcher.resourceOf(tool, { name: "web" });
    expect(resourceOf({ resource: ({ name }) => `service ${name}` })).toBe("service web");
    expect(resourceOf({})).toBe("this machine");
    expect(resourceOf({}, "none")).toBe("this machine");
    const broken = () => {
      throw new Error("it broke");
    };
    expect(resourceOf({ resource: broken })).toBe("this machine");
  });
});

describe("the preview of a call", () => {
  const previewOf = async (name: string, changes: Changes = {}) => {
    const { dispatcher, prepare } = stage(changes);
    return dispatcher.preview(await prepare(name), new AbortController().signal);
  };
  const shown = { lines: [{ label: "Target", value: "x" }], blastRadius: "one", undo: "none" };

  test("begins with a warning when a word of the arguments is not what it looks like", async () => {
    const { lines } = await previewOf("delete\nnamespace\npr\u043ed", {
      effect: "write",
      preview: async () => shown,
    });
    expect(lines).toEqual([
      {
        label: "Look closely",
        value: 'Not what it looks like: "pr\u043ed" contains U+043E \u043e (Cyrillic).',
      },
      ...shown.lines,
    ]);
    expect((await previewOf("pr\u043ed")).lines).toHaveLength(1);
  });

  test("warns of no ordinary text, on lines of their own and in another script either", async () => {
    expect((await previewOf("web\nперезапустить сервис\n東京")).lines).toEqual([]);
  });
});

describe("a tool that looks for what is wrong", () => {
  const gap = { what: "locks", why: "forbidden", help: "GRANT pg_monitor." };

  test.each([
    [{ text: "up 3 d" }, "Found nothing wrong: up 3 d"],
    [
      { text: "up 3 d", gaps: [gap] },
      "Found nothing wrong in what could be seen: up 3 d\n\nCould not see locks: forbidden. GRANT pg_monitor.",
    ],
    [{ text: "no route", failed: true }, "no route"],
  ])("says so first where it found nothing: %j", async (output, shown) => {
    const { run } = stage({ diagnoses: true, run: async () => output });
    expect((await run()).text).toBe(shown);
  });
});
