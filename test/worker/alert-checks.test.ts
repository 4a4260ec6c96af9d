import { describe, expect, test } from "vitest";
import { createStage, fakeTool } from "../fakes/stage.ts";
import { ALERT, alertState, looking, SKILLS } from "./broken-web.ts";

describe("an alert", () => {
  test("is looked into once, and again when another name joins it", async () => {
    const look = looking();
    const stage = await createStage({ tools: [look], skills: SKILLS });
    await stage.post(alertState(1));
    await stage.settle();
    await stage.post(alertState(2));
    await stage.settle();
    expect(stage.chat.answers()).toHaveLength(1);
    expect(stage.chat.answers()[0]?.text).toContain("**LIKELY: web has no pods behind it");
    await stage.post(alertState(3, { folded: ["ShopDown"] }));
    await stage.settle();
    expect(stage.chat.answers()).toHaveLength(2);
    const { runs, counts } = await stage.thread();
    expect([runs.size, counts.usage.input]).toEqual([0, 0]);
  });

  test("that no check knows says what it says, and what would help", async () => {
    const stage = await createStage({ tools: [looking()], skills: SKILLS });
    const alerts = [{ ...ALERT, name: "PrinterOnFire", summary: "lp0 on fire" }];
    await stage.post(alertState(1, { name: "PrinterOnFire", alerts }));
    await stage.settle();
    const [answer] = stage.chat.answers();
    expect(answer).toMatchObject({ status: "completed" });
    expect(answer?.text).toContain("no check knows PrinterOnFire");
    expect(answer?.text).toContain("PrinterOnFire · lp0 on fire · service=web");
  });

  test("that a skill is about whose checks have nothing to look at is told so, and not that nobody knows it", async () => {
    const pods = { tool: "look", with: { name: "{{url}}" } };
    const skills = { "web-down": { when: { alerts: ["WebDown"] }, checks: { pods } } };
    const stage = await createStage({ tools: [looking()], skills });
    await stage.post(alertState(1));
    await stage.settle();
    const text = stage.chat.answers()[0]?.text ?? "";
    expect(text).toContain(`none of the checks for ${ALERT.name} could look`);
    expect(text).toContain("What would help: what the checks of `web-down` read");
    expect(text).toContain("no check looked");
    expect(text).not.toMatch(/no check knows|0 checks/);
  });

  test("leads no check to an address that nobody named", async () => {
    const kinds = { name: "url" } as const;
    const fetch = fakeTool({ name: "fetch", kinds });
    const skills = {
      page: {
        when: { alerts: ["WebDown"] },
        checks: { page: { tool: "fetch", with: { name: "{{url}}" } } },
      },
    };
    const stage = await createStage({ tools: [fetch], skills });
    const labels = { ...ALERT.labels, instance: "https://evil.example.org/?q=secret" };
    await stage.post(alertState(1, { alerts: [{ ...ALERT, labels }] }));
    await stage.settle();
    expect(fetch.runs).toEqual([]);
    // The rule is named, and what ends it.
    const said = stage.chat.answers()[0]?.text;
    expect(said).toContain("Nobody here named evil.example.org");
    expect(said).toContain(
      "A check asks nobody; network.allow or an allow rule in watchkeeper.yaml",
    );
  });

  test("without triage, or that is over, is not looked into", async () => {
    const stage = await createStage({ tools: [looking()], skills: SKILLS });
    const { triage: _, ...quiet } = alertState(1);
    await stage.post(quiet);
    await stage.post(alertState(2, { firing: 0, resolved: 1, group: "g2" }));
    await stage.settle();
    expect(stage.chat.answers()).toEqual([]);
  });
});
