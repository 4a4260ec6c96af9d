import { expect, test } from "vitest";
import { noteHeard, nothingHeard } from "../../src/approvals/heard.ts";
import type { Entry } from "../../src/core/entry.ts";

const BOB = { account: "test:bob", name: "bob" };

function edit(seq: number, host: string): Entry {
  return {
    seq,
    at: seq,
    id: `click:${seq}`,
    kind: "click",
    actor: BOB,
    action: "a1",
    revision: 1,
    choice: { kind: "edit", args: { host, port: 443 } },
    via: "button",
  };
}

test("who edits an action wrote what they changed, and not what the form held", () => {
  const heard = nothingHeard();
  noteHeard(heard, {
    seq: 1,
    at: 1,
    id: "propose:a1",
    kind: "action_proposed",
    run: "r1",
    call: "r1.t1",
    action: "a1",
    revision: 1,
    tool: "tcp_check",
    effect: "read",
    args: { host: "evil.test", port: 80 },
    digest: "",
    preview: { lines: [], blastRadius: "", undo: "" },
    approvers: { kind: "anyone" },
    quorum: 1,
    barred: [],
    expiresAt: 1,
  });
  noteHeard(heard, edit(2, "evil.test"));
  expect([...(heard.places.get("test:bob")?.hosts ?? [])]).toEqual([]);
  noteHeard(heard, edit(3, "shop.test"));
  expect([...(heard.places.get("test:bob")?.hosts ?? [])]).toEqual(["shop.test"]);
});

test("who silences alerts or opens their incident by a button named none of the places in their labels", () => {
  const heard = nothingHeard();
  const args = { matchers: '["url=https://evil.test/x"]', title: "https://evil.test/x is down" };
  for (const [at, tool] of ["alertmanager_silence", "incident_open", "http_check"].entries()) {
    const hosts = () => [...(heard.places.get("test:bob")?.hosts ?? [])];
    expect(hosts()).toEqual([]);
    noteHeard(heard, {
      seq: at + 1,
      at,
      id: `msg:${at}`,
      kind: "command",
      actor: BOB,
      text: `/run ${tool} "https://evil.test/x"`,
      command: { name: "run", tool, args },
    });
    expect(heard.authors.has("test:bob")).toBe(true);
    expect(hosts().includes("evil.test")).toBe(tool === "http_check");
  }
});

test("of what is over nothing is kept but who wrote, which places, and which tools answered", () => {
  const heard = nothingHeard();
  for (let n = 0; n < 1_000; n += 1) {
    const call = { run: "r1", call: `r1.t${n}` };
    const at = { seq: 2 * n + 1, at: n };
    noteHeard(heard, {
      ...at,
      id: `s${n}`,
      kind: "tool_started",
      ...call,
      tool: "log",
      effect: "read",
      digest: "",
    });
    noteHeard(heard, {
      ...at,
      seq: 2 * n + 2,
      id: `f${n}`,
      kind: "tool_finished",
      ...call,
      outcome: "ok",
      text: "",
    });
  }
  expect(heard.calls.size).toBe(0);
  expect([...heard.results]).toEqual([["log", 2]]);
});

test("a read without a start of its own has its result all the same", () => {
  const heard = nothingHeard();
  const call = { run: "r1", call: "r1.t1", tool: "log" };
  const at = { seq: 1, at: 1, id: "f" };
  noteHeard(heard, { ...at, kind: "tool_finished", ...call, outcome: "ok", text: "" });
  expect([...heard.results]).toEqual([["log", 1]]);
});
