import { describe, expect, test } from "vitest";
import { createFindTools, tokensOf, toolsToFind, toolTerms } from "../../src/tools/find-tools.ts";
import { ofKind, resultsIn, talking, ANSWER } from "../agent/talking.ts";
import { fakeTool } from "../fakes/stage.ts";
import { run } from "./calling.ts";

const named = (names: readonly string[]) => names.map((name) => fakeTool({ name }));
const namesOf = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);
const MANY = Array.from({ length: 31 }, (_, i) => `shop_action${i}`);

describe("what a model has to find", () => {
  test("is nothing where all descriptions fit into a quarter of its window", () => {
    const tools = named(["look", "shop_scale"]);
    const tokens = tools.reduce((sum, tool) => sum + tokensOf(tool), 0);
    expect(toolsToFind(tools, tokens * 4)).toEqual([]);
    expect(toolsToFind(tools, tokens * 4 - 4)).not.toEqual([]);
  });

  test("are the later tools of each system first", () => {
    const tools = named(["a_one", "a_two", "a_three", "b_one", "b_two", "look"]);
    const firsts = tools.filter(({ name }) => /one|look/.test(name));
    const window = 4 * firsts.reduce((sum, tool) => sum + tokensOf(tool), 0);
    expect(namesOf(toolsToFind(tools, window))).toEqual(["a_two", "a_three", "b_two"]);
  });

  test("is whatever a server brings that has more than thirty", () => {
    const tools = named(["look", ...MANY]);
    expect(namesOf(toolsToFind(tools, 1_000_000))).toEqual(MANY);
  });
});

describe("find_tools", () => {
  const tools = [
    fakeTool({ name: "shop_scale", effect: "write", description: "Sets how many copies run." }),
    fakeTool({ name: "shop_get", description: "Shows an object." }),
    fakeTool({ name: "bank_transfer", effect: "destructive", description: "Moves money." }),
  ];
  const find = createFindTools(tools);
  const ask = async (query: string) => (await run([find], "find_tools", { query })).text;

  test("tells of each tool what it does, what it can do and its arguments", async () => {
    expect(find.description).toContain("shop (2), bank (1)");
    const text = await ask("how many copies");
    expect(text).toMatch(/^shop_scale \(write\): Sets how many copies run\.\narguments: \{"type"/);
    expect(await ask("transfer")).toMatch(/^bank_transfer \(destructive\)/);
    expect(await ask("shop_gett")).toMatch(/^shop_get/m);
  });

  test("names what there is where nothing fits", async () => {
    expect(await ask("zzzz")).toBe(
      "No tool fits these words. There are tools for: shop (2), bank (1).",
    );
  });
});

describe("use_tool", () => {
  const use = (tool: unknown, args?: unknown) => ({
    name: "use_tool",
    args: { tool, arguments: args } as never,
  });

  async function finding(...script: Parameters<typeof talking>[0]) {
    const look = fakeTool({ name: "look" });
    const act = fakeTool({ name: "act", effect: "write" });
    const terms = toolTerms([look], [act]);
    const talk = { tools: terms.tools, foundTools: ["act"] };
    const stage = await talking(script, { tools: [look, act], talk });
    await stage.ask("fix it");
    return { ...stage, act };
  }

  test("is the named tool's own call: its card, its digest, its result", async () => {
    const direct = await talking([{ calls: [{ name: "act", args: { name: "web" } }] }, ANSWER]);
    await direct.ask("fix it");
    const stage = await finding({ calls: [use("act", { name: "web" })] }, ANSWER);
    const [card] = stage.chat.cards();
    expect(card).toMatchObject({ tool: "act", canonical: '{"name":"web"}' });
    expect(card?.digest).toBe(direct.chat.cards()[0]?.digest);
    await stage.ask("approve a1");
    expect(stage.act.runs).toEqual(["web"]);
    const { text = "" } = resultsIn(stage.model.requests[1])[0] ?? {};
    expect(text).toContain("did web");
    expect(ofKind(await stage.entries(), "tool_started")[0]).toMatchObject({ tool: "act" });
  });

  test.each([
    ["a tool that there is not", use("nothing", {}), "There is no tool nothing in this run."],
    ["no tool", use(7, {}), 'use_tool takes the name of a tool as "tool"'],
    ["itself", use("use_tool", { tool: "act" }), 'use_tool takes the name of a tool as "tool"'],
    ["arguments that are no object", use("act", "web"), "a JSON object"],
    ["arguments that the tool does not take", use("act", { nam: "web" }), "did you mean name"],
  ])("is refused for %s, in words that help", async (_, made, words) => {
    const stage = await finding({ calls: [made] }, ANSWER);
    const { text = "" } = resultsIn(stage.model.requests[1])[0] ?? {};
    expect(text).toContain(words);
    expect(stage.chat.cards()).toEqual([]);
  });

  test("cannot be told apart from a direct call by what a person has denied", async () => {
    const stage = await finding(
      { calls: [use("act", { name: "web" })] },
      { calls: [{ name: "act", args: { name: "web" } }] },
      ANSWER,
    );
    await stage.ask("deny a1");
    expect(stage.chat.cards()).toHaveLength(1);
    const { text = "" } = resultsIn(stage.model.requests[2])[0] ?? {};
    expect(text).toContain("A person denied this very call before");
  });
});
