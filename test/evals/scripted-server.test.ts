import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { startScriptedServer } from "../../eval/scripted-server.ts";

const delta = z.object({
  choices: z.array(z.object({ delta: z.object({ content: z.string().optional() }) })),
});

test("a script goes another way once the program's newest words say so, once for each of its reactions", async () => {
  const says = (say: string) => ({ say, calls: [] });
  const server = await startScriptedServer([says("one"), says("two"), says("three")], {
    reactions: [{ word: "not shown yet", turns: [says("mended"), says("again")] }],
  });
  onTestFinished(server.stop);
  const messages: { role: string; content: string }[] = [];
  const answerTo = async (content: string) => {
    messages.push({ role: "user", content });
    const body = JSON.stringify({ messages, tool_choice: "auto" });
    const answer = await fetch(`${server.url}/chat/completions`, { method: "POST", body });
    const lines = (await answer.text()).split("\n").filter((line) => line.startsWith("data: {"));
    const said = lines.map((line) => delta.parse(JSON.parse(line.slice("data: ".length))));
    const text = said.flatMap(({ choices }) => choices.map((each) => each.delta.content ?? ""));
    messages.push({ role: "assistant", content: text.join("") });
    return text.join("");
  };
  expect(await answerTo("why?")).toBe("one");
  expect(await answerTo("Your answer was not shown yet.")).toBe("mended");
  expect(await answerTo("Go on.")).toBe("again");
  expect(server.beyond).toBe(0);
  expect(await answerTo("Your answer was not shown yet.")).toBe("again");
  expect(server.beyond).toBe(1);
});
