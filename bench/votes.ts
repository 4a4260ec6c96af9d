import { openMemoryJournal } from "../test/fakes/memory-journal.ts";
import { createStage, fakeTool, KEY } from "../test/fakes/stage.ts";
import type { Figure } from "./journal.ts";

/** 100 approvals at once on each of 200 actions, judged by two workers: how often the effect happened. */
export async function votesFigure(): Promise<Figure> {
  const people = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`test:p${i}`, "member" as const]),
  );
  const { createChat } = await import("../test/fakes/chat.ts");
  let once = 0;
  let never = 0;
  let more = 0;
  const began = performance.now();
  for (let round = 0; round < 200; round++) {
    const act = fakeTool({ name: "act", effect: "write" });
    const chat = createChat({ standings: people });
    const journal = openMemoryJournal();
    const stage = await createStage({ tools: [act], chat, journal });
    const other = await createStage({ tools: [act], chat, journal });
    await stage.say("run act name=web", "test:p0");
    await stage.settle();
    await Promise.all(
      Object.keys(people).map(async (person) => {
        await stage.click("a1", { kind: "approve" }, person);
        await Promise.all([stage.worker.work(KEY), other.worker.work(KEY)]);
      }),
    );
    await stage.settle();
    if (act.runs.length === 1) once++;
    else if (act.runs.length === 0) never++;
    else more++;
    await journal.close();
  }
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  const value = `once ${once}, never ${never}, more than once ${more} (${seconds} s)`;
  return { name: "200 actions × 100 concurrent approvals: effects", value };
}
