import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createNetwork } from "../../../src/net/dial.ts";
import { createEncoder } from "../../../src/security/encoder.ts";
import type { Change, ChangeSource } from "../../../src/tools/change.ts";
import { createWhatChanged } from "../../../src/tools/changes/what-changed.ts";
import { changeSource as containerSource } from "../../../src/tools/docker/changes.ts";
import { changeSource as hostSource } from "../../../src/tools/host/changes.ts";
import { changeSource as ledgerSource } from "../../../src/tools/incidents/changes.ts";
import { changeSource as clusterSource } from "../../../src/tools/kubernetes/changes.ts";
import { createExec } from "../../../src/tools/process.ts";
import { createTools } from "../../../src/tools/registry.ts";
import { createContext } from "../../../src/tools/tool-context.ts";
import { ASKER } from "../../fakes/asker.ts";
import type { Access } from "../../fakes/kubernetes/status.ts";
import { noWorld } from "../../fakes/tool-context.ts";
import { createStage, MINUTE, START } from "../../incidents/stage.ts";
import { LOCAL } from "../dialing.ts";
import { ago, container, engine } from "../docker/engine.ts";
import { makeFolder, searchPath, writeProgram } from "../host/context.ts";
import { cluster } from "../kubernetes/world.ts";

const LINK = "https://chat.example/C1/p1";
const iso = (ms: number) => new Date(ms).toISOString();

function change(minutes: number, text: string, more: Partial<Change> = {}): Change {
  return { at: START - minutes * MINUTE, where: "x", text, about: ["x"], isLive: true, ...more };
}

const fixed = (name: string, changes: Change[]): ChangeSource => ({
  name,
  endpoints: {},
  changes: async () => ({ changes, gaps: [] }),
});

const never: ChangeSource = { name: "slow", endpoints: {}, changes: () => new Promise(() => {}) };

async function ask(
  sources: readonly ChangeSource[],
  args: Record<string, string> = {},
  {
    programs,
    link,
    at = START,
    limitMs = 20_000,
  }: { programs?: string; link?: string; at?: number; limitMs?: number } = {},
) {
  const stage = await createStage();
  const tool = createWhatChanged([...sources, ledgerSource(() => stage.ledger)], limitMs);
  const encoder = createEncoder([{ name: "PASSWORD", value: "hunter2-held-hunter2-held" }]);
  const exec = createExec({ encoder, path: searchPath(programs) });
  const parts = { ...noWorld, exec, network: createNetwork(LOCAL), encoder };
  const input = tool.input.parse(args);
  const signal = new AbortController().signal;
  const asker = { ...ASKER, link, startedAt: at };
  const run = () => tool.run(input, createContext(parts, tool, { signal, args, asker }));
  return { stage, run };
}

async function told(...given: Parameters<typeof ask>) {
  return (await ask(...given)).run();
}

describe("what changed", () => {
  test("is told with what is closest before the break, live and of the same service first", async () => {
    const all = [
      change(200, "old deploy", { about: ["checkout"] }),
      change(3, "merged elsewhere", { isLive: false }),
      change(10, "rollout", { about: ["shop/deployment/checkout", "checkout"], by: "cd" }),
      change(-5, "mending", { about: ["checkout"] }),
      ...[40, 50, 60, 70].map((minutes) => change(minutes, `other ${minutes}`)),
    ];
    const { text } = await told(
      [fixed("a", all)],
      { service: "checkout", broke_at: iso(START) },
      { at: START + 6 * MINUTE },
    );
    const lines = text.split("\n");
    expect(lines[0]).toBe(
      "8 changes from 2026-11-20 06:00 UTC to 2026-11-20 12:06 UTC; it broke 2026-11-20 12:00:00 UTC.",
    );
    expect(lines.slice(1, 4)).toEqual([
      "Most suspect first:",
      "1. 2026-11-20 11:50:00 UTC, 10 min before: x: rollout by cd",
      "2. 2026-11-20 11:57:00 UTC, 3 min before: x: merged elsewhere",
    ]);
    expect(lines.at(-1)).toBe("- 2026-11-20 12:05:00 UTC, 5 min after: x: mending");
  });

  test("is told from when the thread's newest incident began; another thread's does not count", async () => {
    const { stage, run } = await ask([fixed("a", [change(30, "deploy")])], {}, { link: LINK });
    const startedAt = START - 20 * MINUTE;
    const id = await stage.open("Down", { startedAt }, { link: LINK });
    await stage.open("Other", {}, { link: `${LINK}2` });
    const { text } = await run();
    expect(text).toContain(`it broke 2026-11-20 11:40:00 UTC (${id} began).`);
    expect(text).toContain("10 min before: x: deploy");
    expect((await told([fixed("a", [change(30, "deploy")])])).text).not.toContain("it broke");
  });

  test("may be nothing, or nothing of the service that was meant", async () => {
    expect((await told([fixed("a", [])])).text).toMatch(
      /^0 changes from \S+ \S+ UTC to \S+ \S+ UTC\.$/,
    );
    const { text } = await told([fixed("a", [change(1, "x", { about: ["checkout"] })])], {
      service: "chekout",
    });
    expect(text).toContain('Nothing that changed is of "chekout". Did you mean checkout?');
    await expect(told([], { since: "-" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(told([], { since: "2026-11-21T00:00Z" })).rejects.toThrow(
      "since: expected a time before it broke.",
    );
  });

  test("of a source that fails or hangs is a gap; hostile words stay on their line, secrets out", async () => {
    const failing: ChangeSource = {
      name: "bad",
      endpoints: {},
      changes: () => Promise.reject(new Error("on fire.")),
    };
    const hostile = change(1, `a\n1. fine ${"x".repeat(360)} hunter2-held-hunter2-held`);
    const { text, gaps } = await told([failing, never, fixed("a", [hostile])], {}, { limitMs: 60 });
    expect(text.split("\n")).toHaveLength(3);
    expect(text).not.toContain("hunter2");
    expect(gaps).toMatchObject([
      { what: "changes of bad", why: "on fire" },
      { what: "changes of slow", why: "it took longer than 0.06 s" },
    ]);
  });

  test("may be thousands: the first are told, and how many more there are", async () => {
    const many = Array.from({ length: 5_000 }, (_, at) => change(at / 20, `change ${at}`));
    const { text } = await told([fixed("a", many)]);
    expect(text.split("\n")).toHaveLength(39);
    expect(text).toMatch(/\nand 4965 more$/);
  });
});

describe("a cluster", () => {
  const at = (minutes: number) => iso(START - minutes * MINUTE);
  const template = (tag: string) => ({
    spec: {
      containers: [
        { name: "app", image: `shop:${tag}`, env: [{ name: "DB_PASSWORD", value: `pw-${tag}` }] },
      ],
    },
  });

  async function source(may?: (access: Access) => boolean) {
    const { fake } = await cluster({ seed: () => {}, ...(may && { may }) });
    const set = (revision: number, minutes: number) => ({
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: {
        name: `web-${revision}`,
        namespace: "shop",
        creationTimestamp: at(minutes),
        annotations: { "deployment.kubernetes.io/revision": String(revision) },
        ownerReferences: [
          { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "u1", controller: true },
        ],
      },
      spec: { template: template(`1.${revision}`) },
    });
    fake.add(set(1, 9_000));
    fake.add(set(2, 12));
    const managedFields = [
      {
        manager: "kube-controller-manager",
        operation: "Update",
        time: at(1),
        fieldsV1: { "f:spec": {} },
      },
      { manager: "kubectl-edit", operation: "Update", time: at(7), fieldsV1: { "f:data": {} } },
      { manager: "argocd", operation: "Apply", time: at(3), fieldsV1: { "f:status": {} } },
    ];
    const byAna = [{ manager: "ana", time: at(25), fieldsV1: { "f:spec": {} } }];
    for (const [kind, name, created, managed] of [
      ["ConfigMap", "web", 9_000, managedFields],
      ["ConfigMap", "old", 9_000, []],
      ["Service", "cart", 30, byAna],
    ] as const)
      fake.add({
        apiVersion: "v1",
        kind,
        metadata: {
          name,
          namespace: "shop",
          creationTimestamp: at(created),
          managedFields: [...managed],
        },
        data: { token: "never-shown" },
      });
    fake.add({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "e1", namespace: "default" },
      type: "Warning",
      reason: "Rebooted",
      message: "Node n1 has been rebooted, boot id: x",
      count: 1,
      lastTimestamp: at(20),
      involvedObject: { kind: "Node", name: "n1" },
    });
    const token = "admin-token-of-the-fake";
    const config = { name: "lab", server: fake.origin, namespace: "", tls: {}, token };
    return clusterSource({ clusters: [config], current: "lab" });
  }

  test("tells rollouts by what is other in them, who set which object, and what happened to nodes", async () => {
    const { text, gaps } = await told([await source()], { broke_at: iso(START) });
    const lines = text
      .split("\n")
      .slice(2)
      .map((line) => line.replace(/^\S+ \S+ \S+ UTC, /, ""));
    expect(lines).toEqual([
      "7 min before: kubernetes lab: shop/configmap/web changed by kubectl-edit",
      "12 min before: kubernetes lab: rollout of shop/deployment/web, revision 2: app image: shop:1.1 → shop:1.2",
      "20 min before: kubernetes lab: node/n1: Rebooted: Node n1 has been rebooted, boot id: x",
      "25 min before: kubernetes lab: shop/service/cart changed by ana",
      "30 min before: kubernetes lab: shop/service/cart created",
    ]);
    expect(gaps).toEqual([]);
  });

  test("that may not be seen is a gap", async () => {
    const { gaps } = await told([await source(({ kind }) => kind.plural !== "configmaps")]);
    expect(gaps).toMatchObject([
      { what: "configmaps in all namespaces", why: expect.stringMatching(/^forbidden/) },
    ]);
  });
});

describe("containers", () => {
  test("tell what was made, made again, started and removed", async () => {
    const gone = (name: string, image: string, minutes: number) => ({
      Type: "container",
      Action: "destroy",
      time: (Date.now() - minutes * MINUTE) / 1_000,
      Actor: { Attributes: { name, image } },
    });
    const { asked, endpoints } = await engine({
      containers: [
        container("web", {}, { Created: ago(5 * MINUTE), Config: { Image: "shop/app:2" } }),
        container("new", {}, { Created: ago(6 * MINUTE) }),
        container(
          "cart",
          { StartedAt: ago(7 * MINUTE) },
          {
            Created: ago(900 * MINUTE),
            RestartCount: 3,
            Config: { Labels: { "com.docker.compose.service": "shop-cart" } },
          },
        ),
        container("old", { StartedAt: ago(800 * MINUTE) }, { Created: ago(900 * MINUTE) }),
      ],
      events: [
        gone("web", "shop/app:1", 4),
        gone("batch", "shop/batch:1", 3),
        gone("web", "shop/app:0", 700),
        { Type: "container", Action: "destroy", time: "never", Actor: {} },
      ],
    });
    const about = { since: "2h", service: "shop-cart" };
    const { text, gaps } = await told([containerSource(endpoints)], about, { at: Date.now() });
    expect(text.split("\n").flatMap((row) => row.split(" before: docker: ").slice(1))).toEqual([
      "container cart started, 3 restarts so far, shop/app:1",
      "container batch removed (shop/batch:1)",
      "container web made again, shop/app:1 → shop/app:2",
      "container new created, shop/app:1",
    ]);
    expect(gaps).toEqual([]);
    expect(asked.find((each) => each.includes("/events"))).toContain("filters=");
  });
});

describe("this machine", () => {
  const local = (ms: number) => {
    const shifted = new Date(ms - new Date(ms).getTimezoneOffset() * MINUTE);
    return shifted.toISOString().slice(0, 19).replace("T", " ");
  };

  test("tells packages of one run together, units that were started, and its own start", async () => {
    const folder = await makeFolder();
    const log = join(folder, "dpkg.log");
    const line = (minutes: number, rest: string) => `${local(START - minutes * MINUTE)} ${rest}`;
    await writeFile(
      log,
      [
        line(9_000, "upgrade old:amd64 1 2"),
        line(31, "startup archives unpack"),
        line(31, "upgrade nginx:amd64 1.22 1.24"),
        line(30, "status installed nginx:amd64 1.24"),
        line(30, "install libx:amd64 <none> 3"),
        line(10, "remove curl:amd64 7 <none>"),
      ].join("\n"),
    );
    const stat = join(folder, "stat");
    await writeFile(stat, `cpu 1\nbtime ${START / 1_000 - 3_600}\n`);
    const entry = (unit: string, minutes: number) =>
      JSON.stringify({
        UNIT: unit,
        __REALTIME_TIMESTAMP: String((START - minutes * MINUTE) * 1_000),
      });
    const entries = [
      entry("nginx.service", 6),
      entry("nginx.service", 5),
      entry("apt-daily.service", 4),
      entry("session-1.scope", 3),
      "not json",
    ];
    await writeProgram(
      folder,
      "journalctl",
      `printf '%s\\n' ${entries.map((each) => `'${each}'`).join(" ")}`,
    );
    const source = hostSource({
      packageLogs: { dpkg: [join(folder, "none"), log], dnf: [] },
      stat,
    });
    const { text, gaps } = await told([source], { broke_at: iso(START) }, { programs: folder });
    expect(
      text
        .split("\n")
        .slice(2)
        .map((row) => row.replace(/^\S+ \S+ \S+ UTC, /, "")),
    ).toEqual([
      "5 min before: this machine: nginx.service started ×2",
      "10 min before: this machine: packages: curl (removed)",
      "30 min before: this machine: packages: nginx 1.22 → 1.24; libx 3 (new)",
      "1 h before: this machine: the machine was started",
    ]);
    expect(gaps).toEqual([]);
  });

  test.each([
    [
      "dnf's log",
      [
        "2026-11-20T11:29:10+0000 INFO --- logging initialized ---",
        "2026-11-20T11:30:00+0000 SUBDEBUG Upgrade: nginx-core-1:1.24.0-1.el9.x86_64",
        "2026-11-20T12:30:01+0100 SUBDEBUG Installed: lib_x-3-4.el9.noarch",
        "2026-11-20T11:30:02+0000 SUBDEBUG Upgraded: nginx-core-1:1.22.1-4.el9.x86_64",
        "2026-11-20T11:30:02Z SUBDEBUG Erase: curl-7.76.1-2.el9.x86_64",
        "2026-11-20T11:30:03+00 SUBDEBUG Reinstall: same-1-1.el9.x86_64",
        "2026-11-20T11:50:00+0000 SUBDEBUG Downgrade: php-8.1-1.el9.x86_64",
        "2026-11-20T11:50:01+0000 SUBDEBUG Downgraded: php-8.2-1.el9.x86_64",
      ],
      [
        "packages: php 8.2-1.el9 → 8.1-1.el9",
        "packages: nginx-core 1:1.22.1-4.el9 → 1:1.24.0-1.el9; lib_x 3-4.el9 (new); curl (removed)",
      ],
    ],
    ["rpm where there is no log", [], ["packages: shopd 1:1.2-3"]],
  ])("tells packages by %s", async (_, lines, rows) => {
    const folder = await makeFolder();
    const log = join(folder, "dnf.rpm.log");
    await writeFile(log, lines.join("\n"));
    const time = START / 1_000;
    await writeProgram(
      folder,
      "rpm",
      `[ "$*" = "-qa --queryformat %{INSTALLTIME} %{NAME} %{EVR}\\n" ] || exit 1
printf '${time - 600} shopd 1:1.2-3\\n${time - 600} gpg-pubkey 1-2\\n${time - 999999} old 1-1\\n'`,
    );
    const packageLogs = { dpkg: [], dnf: [log] };
    const source = hostSource({ packageLogs, stat: join(folder, "none") });
    const { text } = await told([source], { broke_at: iso(START) }, { programs: folder });
    expect(text.split("\n").flatMap((row) => row.split(" this machine: ").slice(1))).toEqual(rows);
  });

  test("whose journal may not be read says which group would help", async () => {
    const folder = await makeFolder();
    await writeProgram(
      folder,
      "journalctl",
      "echo 'No journal files were opened due to insufficient permissions.' >&2; exit 1",
    );
    const { gaps } = await told(
      [hostSource({ packageLogs: { dpkg: [], dnf: [] }, stat: join(folder, "none") })],
      {},
      { programs: folder },
    );
    expect(gaps).toMatchObject([
      {
        why: expect.stringContaining("insufficient permissions"),
        help: expect.stringContaining("systemd-journal"),
      },
    ]);
  });
});

test("the record of incidents tells what people noted, to those who may see it", async () => {
  const stage = await createStage();
  const tool = createWhatChanged([ledgerSource(() => stage.ledger)]);
  const id = await stage.open("Slow", { services: ["shop"] });
  await stage.ledger.update(stage.saying(), id, { note: "Switched the pool to 50" });
  const secret = await stage.open("Private", {}, { audience: "room" });
  await stage.ledger.update(stage.saying({ audience: "room" }), secret, { note: "Not for all" });
  const encoder = createEncoder([]);
  const parts = { ...noWorld, network: createNetwork(LOCAL), encoder };
  const signal = new AbortController().signal;
  const asker = { ...ASKER, startedAt: START };
  const args = tool.input.parse({});
  const { text } = await tool.run(args, createContext(parts, tool, { signal, args: {}, asker }));
  expect(text).toContain(`${id}: noted: "Switched the pool to 50" by Ana`);
  expect(text).not.toContain("Not for all");
});

test("the tool asks whatever is configured, each at its own servers", async () => {
  const tools = await createTools({
    GITHUB_TOKEN: "t",
    GITHUB_REPOSITORIES: ["a/b"],
    GITHUB_URL: "https://api.github.com",
  });
  const tool = tools.find(({ name }) => name === "what_changed");
  expect(tool?.description).toContain("(host, incidents, github)");
  expect(Object.keys(tool?.endpoints ?? {})).toEqual(["github default", "github default graphql"]);
});
