import * as z from "zod";
import { BotError, isBotError } from "../../core/errors.ts";
import { counted } from "../../core/text.ts";
import type { ReverseCall } from "../../core/tool-call.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import { orRefused } from "../refusal.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import {
  composeOf,
  type Container,
  containerOf,
  networksOf,
  portsOf,
  stateText,
} from "./container.ts";
import { type Endpoints, type Engine, GRACE_S, openEngine, partOf } from "./engine.ts";
import { containerArgument, seeContainers } from "./reads.ts";

const ACTIONS = {
  restart: {
    summary: "restarts a container",
    description: `Restarts one container: it is asked to end, after ${GRACE_S} s killed, and started again.`,
    isRunning: true,
    reverse: undefined,
    undo: "It cannot be undone: what it had in memory is lost.",
  },
  stop: {
    summary: "stops a container",
    description: `Stops one container: it is asked to end, and after ${GRACE_S} s killed. docker_start is its reverse.`,
    isRunning: true,
    reverse: "docker_start",
    undo: "Starts it again; what it had in memory is lost.",
  },
  start: {
    summary: "starts a container that does not run",
    description: "Starts one container that was stopped or has ended. docker_stop is its reverse.",
    isRunning: false,
    reverse: "docker_stop",
    undo: "Stops it again.",
  },
} as const;
type Action = keyof typeof ACTIONS;

const NOW = { restart: "restarted", stop: "stopped", start: "started" };

function inputFor(endpoints: Endpoints) {
  return z.strictObject({
    container: containerArgument,
    before: z
      .strictObject({ id: z.string(), startedAt: z.string() })
      .optional()
      .meta({ internal: true })
      .describe("The container that was shown, and when it had started"),
    ...instanceArgument(endpoints),
  });
}

type Input = z.infer<ReturnType<typeof inputFor>>;

export function createChange(endpoints: Endpoints, action: Action): Tool<Input> {
  const { summary, description, isRunning } = ACTIONS[action];

  /** The very container and run that were shown. @throws BotError PRECHECK_FAILED */
  async function find(given: Input, ctx: ToolContext): Promise<{ engine: Engine; one: Container }> {
    const engine = await openEngine(endpoints, given, ctx);
    const one = containerOf(await engine.inspect(given.container).catch(asPrecheck));
    const { before } = given;
    if (before !== undefined && before.id !== one.id)
      throw refused(`${given.container} is another container by now.`);
    if (before !== undefined && before.startedAt !== one.startedAt)
      throw refused(`${one.name} has been restarted since it was shown: ${stateText(one)}.`);
    if (one.isRunning !== isRunning)
      throw refused(`${one.name} ${one.isRunning ? "runs" : "does not run"}: ${stateText(one)}.`);
    return { engine, one };
  }

  return defineTool<Input>({
    name: `docker_${action}`,
    summary,
    description,
    input: inputFor(endpoints),
    effect: "write",
    title: ({ container }) =>
      `${action[0]?.toUpperCase()}${action.slice(1)} container ${container}`,
    endpoints,
    timeoutMs: 60_000,
    resource: (given) => `container ${given.container} of ${instanceOf(given, endpoints)}`,
    async pin(given, ctx) {
      if (given.before !== undefined) return given;
      const { one } = await find(given, ctx);
      return { ...given, before: { id: one.id, startedAt: one.startedAt } };
    },
    async precheck(given, ctx) {
      await find(given, ctx);
    },
    async preview(given, ctx) {
      const { engine, one } = await find(given, ctx);
      const address = endpoints[instanceOf(given, endpoints)];
      const place = address?.socketPath ?? address?.url ?? "";
      const ports = portsOf(one);
      return {
        lines: [
          { label: "Engine", value: `${place}, ${engine.words}` },
          { label: "Container", value: `${one.name} (${one.id.slice(0, 12)}), ${stateText(one)}` },
          { label: "Image", value: one.image },
          ...(ports.length > 0 ? [{ label: "Ports", value: ports.join(", ") }] : []),
        ],
        blastRadius: await blastOf(engine, one, action),
        undo:
          removesItself(one) && action !== "start"
            ? "It cannot be undone: the engine removes this container when it ends (--rm)."
            : ACTIONS[action].undo,
      };
    },
    run: (given, ctx) =>
      orRefused(async () => {
        const { engine, one } = await find(given, ctx);
        await engine.act(one.id, action);
        return { text: `${one.name} was ${NOW[action]}.` };
      }),
    async verify(given, ctx) {
      const engine = await openEngine(endpoints, given, ctx);
      const id = given.before?.id ?? given.container;
      const seen = await engine.inspect(id).catch(absent);
      if (seen === undefined) {
        // It may be one that the engine removes when it ends.
        const verdict = action === "stop" ? "done" : "unknown";
        return { verdict, evidence: `${given.container} is not there any more` };
      }
      const one = containerOf(seen);
      const isNew = one.startedAt !== given.before?.startedAt;
      const done = action === "stop" ? !one.isRunning : one.isRunning && isNew;
      const evidence = `${one.name}: ${stateText(one)}`;
      if (!done) return { verdict: "not done", evidence };
      const undo = reverseOf(given, one, action);
      return { verdict: "done", evidence, ...(undo !== undefined && { undo }) };
    },
  });
}

function refused(text: string): BotError {
  return new BotError("PRECHECK_FAILED", text);
}

function asPrecheck(error: unknown): never {
  if (isBotError(error, "INPUT_INVALID")) throw refused(error.message);
  throw error;
}

function absent(error: unknown): undefined {
  if (!isBotError(error, "INPUT_INVALID")) throw error;
}

function removesItself({ raw }: Container): boolean {
  return partOf(raw, "HostConfig")["AutoRemove"] === true;
}

/** Of the very run that the call leaves behind, as the read-back sees it. */
function reverseOf(
  { container, instance }: Input,
  one: Container,
  action: Action,
): ReverseCall | undefined {
  const tool = ACTIONS[action].reverse;
  if (tool === undefined || removesItself(one)) return undefined;
  const before = { id: one.id, startedAt: one.startedAt };
  return { tool, args: { container, before, ...(instance !== undefined && { instance }) } };
}

/** Whoever may notice: those that share a network of its own, or its compose project. */
async function blastOf(engine: Engine, one: Container, action: Action): Promise<string> {
  const { seen } = await seeContainers(engine);
  const { project } = composeOf(one);
  const shared = networksOf(one).filter(
    (name) => !["bridge", "host", "none", "podman"].includes(name),
  );
  const others = seen.filter(
    (other) =>
      other.id !== one.id &&
      other.isRunning &&
      ((project !== "" && composeOf(other).project === project) ||
        networksOf(other).some((name) => shared.includes(name))),
  );
  const names = others
    .map(({ name }) => name)
    .slice(0, 5)
    .join(", ");
  const near =
    others.length === 0
      ? "No other container shares its network or project."
      : `${counted(others.length, "running container")} on its network or in its project: ${names}.`;
  const ports = portsOf(one).length;
  const gone =
    action === "start" || ports === 0
      ? ""
      : ` ${counted(ports, "published port")} will not answer ${action === "stop" ? "any more" : "meanwhile"}.`;
  return `${near}${gone}`;
}
