import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createChecking } from "../../src/app/checks-parts.ts";
import { answerWithoutModel } from "../../src/app/no-model.ts";
import { isAboutSystems, isOrdered } from "../../src/checks/askable.ts";
import { saidIn } from "../../src/checks/match.ts";
import { subjectOfText } from "../../src/checks/subject-text.ts";
import { loadSkills } from "../../src/skills/load.ts";
import { everyTool } from "../skills/every-tool.ts";
import { plain } from "../skills/folder.ts";
import { HELD_OUT_NO_QUESTIONS, HELD_OUT_QUESTIONS } from "./held-out-questions.ts";
import { plainFigures } from "./plain-figures.ts";
import { NO_QUESTIONS, PLAIN_QUESTIONS } from "./plain-questions.ts";
import { answersTo } from "./tired-figures.ts";
import { TIRED_QUESTIONS } from "./tired-questions.ts";

const { skills } = await loadSkills([join(import.meta.dirname, "../../skills")], plain);
const { tools } = await everyTool();
const checking = createChecking({ skills: () => skills, tools: () => tools, firstLook: false });
const planOf = (text: string) => checking.plan({ text });

describe("questions as people type them", () => {
  test("lead to the calls that answer them, and what is no question of that kind to none", () => {
    expect(PLAIN_QUESTIONS.length).toBeGreaterThanOrEqual(60);
    expect(NO_QUESTIONS.length).toBeGreaterThanOrEqual(20);
    expect(plainFigures(planOf, PLAIN_QUESTIONS, NO_QUESTIONS).wrong).toEqual([]);
  });

  test("that nothing was tuned for do so nearly as often", () => {
    const held = plainFigures(planOf, HELD_OUT_QUESTIONS, HELD_OUT_NO_QUESTIONS);
    expect(held.precision).toBeGreaterThanOrEqual(0.9);
    expect(held.recall).toBeGreaterThanOrEqual(0.8);
  });

  test("are never answered with a tool that changes something", () => {
    const writes = tools.filter(({ effect }) => effect !== "read").map(({ name }) => name);
    const asked = [...PLAIN_QUESTIONS.map(([each]) => each), ...NO_QUESTIONS];
    for (const question of asked.filter((each) => !isOrdered(each))) {
      const lines = answerWithoutModel(question, tools, ({ name }) => name).split("\n");
      expect(
        writes.filter((name) => lines.includes(`  run ${name}`)),
        question,
      ).toEqual([]);
    }
  });

  test("at three in the morning lead to the call, or to the words to type", () => {
    const wrong = TIRED_QUESTIONS.flatMap(([question, ...wanted]) => {
      const got = answersTo(question, tools, planOf);
      const isRight = wanted.every((each) =>
        got.some((one) => each.split(" ").every((part) => one.split(" ").includes(part))),
      );
      return isRight ? [] : [{ question, got }];
    });
    expect(TIRED_QUESTIONS).toHaveLength(20);
    expect(wrong).toEqual([]);
  });

  test.each([
    ["is port 18181 open on localhost", { host: "localhost", port: "18181" }],
    ["is 127.0.0.1:18181 open?", { host: "127.0.0.1", port: "18181" }],
    ["is localhost:8080 reachable", { host: "localhost", port: "8080" }],
    ["on localhost, is port 22 closed?", { host: "localhost", port: "22" }],
    ["telnet mq-1 5672", { host: "mq-1", port: "5672" }],
    ["is 5432 reachable on 10.0.0.7", { host: "10.0.0.7", port: "5432" }],
  ])("ask the port check with host and port: %s", (question, place) => {
    expect(planOf(question).calls).toContainEqual(
      expect.objectContaining({
        tool: "tcp_check",
        args: expect.objectContaining({ ...place, port: Number(place.port) }),
      }),
    );
  });

  test("that name a program look at its processes beside its service", () => {
    const made = planOf("is python3 running?").calls.map(({ tool, args }) => [tool, args["name"]]);
    expect(made).toContainEqual(["service_status", "python3"]);
    expect(made).toContainEqual(["host_processes", "python3"]);
  });

  test.each([
    ["restart nginx", "restart_service"],
    ["please restart nginx on web-1 now", "restart_service"],
    ["systemctl restart nginx", "restart_service"],
    ["kill 4711", "kill_process"],
    ["scale the deployment to 5", "kubernetes_scale"],
    ["delete pod web-1", "kubernetes_delete_pod"],
    ["silence HighCPU", "alertmanager_silence"],
  ])("are no orders: %s names what to write, and nothing is looked at or run", (order, tool) => {
    expect(answersTo(order, tools, planOf)).toContain(`says:run ${tool}`);
  });

  test.each(["why did nginx restart", "restart loops again", "delete failed?", "order pizza"])(
    "%s orders no change",
    (text) => expect(isOrdered(text)).toBe(false),
  );

  test("that ask how to see what is wrong want it looked at", () => {
    expect(planOf("how can I see why nginx is failing").calls).not.toEqual([]);
    expect(isAboutSystems("how can I see why checkout is slow")).toBe(true);
    expect(isAboutSystems("how can I restart checkout")).toBe(false);
  });

  test("are about this machine; an alert is only where it names one", () => {
    const own = new Set(tools.filter(({ hostBound }) => hostBound).map(({ name }) => name));
    const ownIn = (labels: Record<string, string>) =>
      checking
        .plan({ alerts: ["HighCPU"], text: "the processors are busy", labels: [labels] })
        .calls.filter(({ tool }) => own.has(tool));
    expect(planOf("why is the cpu so busy").calls.some(({ tool }) => own.has(tool))).toBe(true);
    expect(ownIn({ instance: "web-1:9100" })).not.toEqual([]);
    expect(ownIn({ cluster: "billing-prod" })).toEqual([]);
  });

  test("are read at their beginning, however much is pasted below it", () => {
    const long = "lorem ".repeat(3_000);
    expect(planOf(`is nginx running? ${long}`).calls.map(({ tool }) => tool)).toContain(
      "service_status",
    );
    expect(planOf(`${long} is nginx running?`).calls).toEqual([]);
  });

  // Read anew from each dot or dash, they would take minutes.
  test.each(["a.", "a-", "a@", "1.1.", "why a-", "is not ", "a:1234."])(
    "may be long: %s",
    (part) => {
      const text = part.repeat(100_000 / part.length);
      expect(subjectOfText(text).service).toBeUndefined();
      expect(saidIn({ text }).length).toBeLessThanOrEqual(text.length);
    },
  );

  test("that lack what to look at ask for that", () => {
    const needs = (text: string) => planOf(text).needs;
    expect(needs("telnet does not connect")).toEqual(["host", "port", "url"]);
    expect(needs("a name does not resolve")).toContain("domain");
    expect(needs("is nginx running?")).toEqual([]);
    expect(needs("thanks, that helped")).toEqual([]);
  });
});
