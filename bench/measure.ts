import {
  ANSWER,
  createScript,
  createWorld,
  type Peer,
  type Script,
  type World,
} from "./peers/peer.ts";

/** How many calls of tools a run makes. */
export const SIZES = [20, 100] as const;
export type Size = (typeof SIZES)[number];

/** What one process measured of one core. */
export interface Figures {
  /** Requests that a run of 20 calls sent; 21 is the least. */
  requests: number;
  /** The least share of a request, in bytes, that the next one begins with. */
  prefix: number;
  /** By size: µs of each run, from the question to the answer, ÷ its calls. */
  perStep: Record<Size, number[]>;
  /** By size: µs from each request to the next. */
  steps: Record<Size, number[]>;
  /** By size; undefined for a set-up that cannot suspend. */
  suspended?: Record<Size, Held>;
  /** How often the effect happened, for each action that was approved several times at once. */
  effects?: number[];
}

/** What a suspended run costs. */
interface Held {
  bytes: number;
  /** By how much one of them makes the file grow, where there is one, everything included. */
  grownBytes?: number;
  resumeMs: number[];
}

/** Approvals at once of one action, and on how many actions, in each process. */
export interface Clicks {
  atOnce: number;
  actions: number;
}

export type Opened = (world: World) => Promise<Peer>;

/**
 * Measures a core in this process.
 * @throws Error when it does not do what the script says: a figure of anything else would say nothing
 */
export async function measure(open: Opened, clicks: Clicks): Promise<Figures> {
  const world = createWorld();
  const peer = await open(world);
  const { requests, prefix } = await honest(peer, world);
  // The compiler is done with the slowest of them after 40 runs.
  await repeat({ times: 40, ms: 1_000 }, () => whole(peer, 20));
  await whole(peer, 100);

  const perStep: Figures["perStep"] = { 20: [], 100: [] };
  const steps: Figures["steps"] = { 20: [], 100: [] };
  const least = { 20: { times: 30, ms: 500 }, 100: { times: 5, ms: 500 } };
  for (const size of SIZES) {
    await repeat(least[size], async () => {
      const { us, marks } = await whole(peer, size);
      perStep[size].push(us / size);
      steps[size].push(...marks.slice(1).map((mark, i) => (mark - (marks[i] ?? 0)) * 1_000));
    });
  }
  const held = peer.suspend && (await suspensions(peer, peer.suspend, world, clicks));
  await peer.close?.();
  return { requests, prefix, perStep, steps, ...held };
}

async function repeat(least: { times: number; ms: number }, run: () => Promise<unknown>) {
  const until = performance.now() + least.ms;
  for (let i = 0; i < least.times || performance.now() < until; i++) await run();
}

/** One run of `size` calls; throws unless it ends with the scripted answer. */
async function whole(peer: Peer, size: number): Promise<{ us: number; marks: readonly number[] }> {
  const script = createScript({ looks: size });
  const began = performance.now();
  const text = await peer.run(script);
  const us = (performance.now() - began) * 1_000;
  if (text !== ANSWER) throw new Error(`a run of ${size} calls answered ${JSON.stringify(text)}`);
  return { us, marks: script.marks };
}

/** Whether every scripted call ran once, whether the model saw each result, and whether the gate held. */
async function honest(peer: Peer, world: World) {
  const script = createScript({ looks: 20, keepPrompts: true });
  await peer.run(script);
  const last = script.prompts.at(-1) ?? "";
  expect("calls", world.looks, 20);
  expect("results that the model saw", last.split("memory 96 %").length - 1, 20);
  if (peer.suspend) {
    const held = await peer.suspend(createScript({ looks: 19, act: true }));
    expect("calls before the gate", world.looks, 39);
    expect("effects before the approval", world.acts, 0);
    const after = createScript({ looks: 0, keepPrompts: true });
    const text = await held.resume(after);
    expect("answer after the approval", text, ANSWER);
    expect("effects after the approval", world.acts, 1);
    const seen = after.prompts.at(-1) ?? "";
    expect("results that it saw then", seen.split("memory 96 %").length - 1, 19);
    expect("its sight of the effect", seen.includes("web-au: restarted"), true);
  }
  return { requests: script.prompts.length, prefix: stability(script) };
}

function expect(what: string, found: unknown, wanted: unknown) {
  if (found !== wanted)
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
}

function stability({ prompts }: Script): number {
  const buffers = prompts.map((prompt) => Buffer.from(prompt));
  const shares = buffers.slice(1).map((next, i) => {
    const before = buffers[i] ?? next;
    const differs = before.findIndex((byte, at) => byte !== next[at]);
    return (differs === -1 ? before.length : differs) / before.length;
  });
  return Math.min(...shares);
}

type Suspend = NonNullable<Peer["suspend"]>;

async function suspensions(
  { fileBytes }: Peer,
  suspend: Suspend,
  world: World,
  { atOnce, actions }: Clicks,
) {
  const held = async (size: Size, times: number): Promise<Held> => ({
    ...(await resumes(suspend, size, times)),
    ...(fileBytes && { grownBytes: await growth(suspend, fileBytes, size) }),
  });
  const suspended = { 20: await held(20, 20), 100: await held(100, 5) };
  const effects: number[] = [];
  for (let i = 0; i < actions; i++) effects.push(await approvedAtOnce(suspend, world, atOnce));
  return { suspended, effects };
}

async function resumes(suspend: Suspend, size: Size, times: number) {
  const resumeMs: number[] = [];
  let bytes = 0;
  await repeat({ times, ms: 200 }, async () => {
    const held = await suspend(createScript({ looks: size - 1, act: true }));
    ({ bytes } = held);
    const began = performance.now();
    const text = await held.resume(createScript({ looks: 0 }));
    resumeMs.push(performance.now() - began);
    expect("answer after the approval", text, ANSWER);
  });
  return { bytes, resumeMs };
}

/** Of many, since a file grows by whole pages. */
async function growth(suspend: Suspend, fileBytes: () => number, size: Size): Promise<number> {
  const before = fileBytes();
  for (let i = 0; i < 50; i++) await suspend(createScript({ looks: size - 1, act: true }));
  return (fileBytes() - before) / 50;
}

/** How often the effect happens when one suspended run is approved `atOnce` times at once. An approval may be refused. */
async function approvedAtOnce(suspend: Suspend, world: World, atOnce: number): Promise<number> {
  const held = await suspend(createScript({ looks: 19, act: true }));
  const before = world.acts;
  const approvals = Array.from({ length: atOnce }, () => held.resume(createScript({ looks: 0 })));
  await Promise.allSettled(approvals);
  return world.acts - before;
}
