import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createEncoder } from "../../../src/security/encoder.ts";
import { clustersIn } from "../../../src/tools/kubernetes/clusters.ts";
import { kubernetes } from "../../../src/tools/kubernetes/integration.ts";
import { inCluster, readKubeconfig } from "../../../src/tools/kubernetes/kubeconfig.ts";
import { createClusterTools } from "../../../src/tools/kubernetes/tools.ts";
import { startKubernetes } from "../../fakes/kubernetes/server.ts";
import { pem } from "../network/servers.ts";
import { call, dispatcherOf } from "./calls.ts";
import { cluster, seedShop } from "./world.ts";

/** How clusters are found, and how the bot makes itself known to them. */

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "watchkeeper-kubeconfig-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

interface Parts {
  server?: string;
  user?: object;
  cluster?: object;
  context?: object;
  name?: string;
}

function kubeconfig({
  server = "https://127.0.0.1:1",
  user = {},
  cluster: more = {},
  context = {},
  name = "lab",
}: Parts): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, ...more } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name, ...context } }],
    "current-context": name,
  });
}

function written(folder: string, text: string, name = "config"): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** A fake cluster and the tools by a kubeconfig with this user. */
async function reached(
  user: object,
  options: Parameters<typeof startKubernetes>[0] = {},
  more: object = {},
) {
  const fake = await startKubernetes(options);
  onTestFinished(() => fake.close());
  seedShop(fake);
  const path = written(scratch(), kubeconfig({ server: fake.origin, user, cluster: more }));
  const read = readKubeconfig(path);
  const encoder = createEncoder([]);
  const dispatcher = dispatcherOf(createClusterTools(read), encoder);
  return { fake, encoder, read, run: () => call(dispatcher, "kubernetes_get", { kind: "ns" }) };
}

describe("kubeconfig files", () => {
  test("are merged as kubectl does: what the first names counts", () => {
    const folder = scratch();
    const first = written(
      folder,
      kubeconfig({ server: "https://first.example", name: "a", context: { namespace: "shop" } }),
      "one",
    );
    const second = written(
      folder,
      JSON.stringify({
        ...JSON.parse(kubeconfig({ server: "https://second.example", name: "a" })),
        "current-context": "x",
      }),
      "two",
    );
    const third = written(
      folder,
      kubeconfig({ server: "https://third.example", name: "b" }),
      "three",
    );
    const { clusters, current, problems } = readKubeconfig([first, second, third].join(":"));
    expect(clusters.map(({ name, server, namespace }) => [name, server, namespace])).toEqual([
      ["a", "https://first.example", "shop"],
      ["b", "https://third.example", ""],
    ]);
    expect([current, problems]).toEqual(["a", []]);
  });

  test("that cannot be used say why, and never with a piece of themselves", () => {
    const folder = scratch();
    const broken = written(folder, "users: [{token: very-secret-token-1, ", "broken");
    const wrong = written(
      folder,
      JSON.stringify({ users: [{ name: "x", user: { token: 7 } }] }),
      "wrong",
    );
    const old = written(
      folder,
      kubeconfig({ user: { "auth-provider": { name: "gcp" } }, name: "old" }),
      "old",
    );
    const proxied = written(
      folder,
      kubeconfig({ cluster: { "proxy-url": "http://x" }, name: "proxied" }),
      "proxied",
    );
    const { clusters, problems } = readKubeconfig(
      [broken, wrong, old, proxied, join(folder, "absent")].join(":"),
    );
    expect(clusters).toEqual([]);
    expect(problems.join("\n")).not.toContain("very-secret");
    expect(problems).toEqual([
      `${broken}: it is no YAML`,
      expect.stringContaining("users.0.user.token"),
      expect.stringContaining("ENOENT"),
      "context old: auth-provider is not supported; kubectl dropped it too, use an exec plugin",
      "context proxied: proxy-url is not supported",
    ]);
  });

  test("without a context that can be used leave the tools out, and say so", async () => {
    const settings = (given: object) => kubernetes.settings.parse({ ...given });
    const why = async (given: object) => kubernetes.unavailable?.(settings(given), {} as never);
    expect(await why({})).toBe("KUBECONFIG is not set, and this is no pod with a service account.");
    const path = written(scratch(), kubeconfig({}));
    expect(await why({ kubeconfig: path })).toBeUndefined();
    expect(await why({ kubeconfig: `${path}x` })).toMatch(
      /names no cluster that can be used: .*ENOENT/,
    );
    expect(clustersIn(settings({ kubeconfig: path, contexts: ["prod"] }))).toMatchObject({
      clusters: [],
      problems: [expect.stringMatching(/^kubernetes.contexts names prod, and it has only /)],
    });
  });

  test("with several contexts make the cluster an argument, with one they do not", async () => {
    const folder = scratch();
    const both = [
      written(folder, kubeconfig({ name: "prod" }), "p"),
      written(folder, kubeconfig({ name: "lab" }), "l"),
    ].join(":");
    const fields = (paths: string) => {
      const [tool] = createClusterTools(readKubeconfig(paths));
      return tool?.input.safeParse({ namespace: "shop", instance: "lab" }).success;
    };
    expect(fields(both)).toBe(true);
    expect(fields(both.split(":")[0] ?? "")).toBe(false);
    const dispatcher = dispatcherOf(createClusterTools(readKubeconfig(both)));
    const { args } = await dispatcher.prepare(
      "kubernetes_overview",
      {},
      new AbortController().signal,
    );
    expect(args).toEqual({ instance: "prod" });
  });
});

describe("a credential", () => {
  test("that is a token or a password is sent, and held from then on", async () => {
    const { run, fake, encoder } = await reached({ token: "admin-token-of-the-fake" });
    expect((await run()).outcome).toBe("ok");
    expect(fake.asked[0]?.headers.authorization).toBe("Bearer admin-token-of-the-fake");
    expect(encoder.encode("so admin-token-of-the-fake it is")).toMatch(
      /^so \[secret:[\w.]+\] it is$/,
    );
    const basic = await reached({ username: "ana", password: "a-password-of-ana" });
    await basic.run();
    expect(basic.fake.asked[0]?.headers.authorization).toBe(
      `Basic ${btoa("ana:a-password-of-ana")}`,
    );
  });

  test("that stands in a file is read again for each request", async () => {
    const path = written(scratch(), "an-older-token-in-a-file\n", "token");
    const { run, fake } = await reached({ tokenFile: path });
    expect((await run()).text).toContain("401 Unauthorized");
    writeFileSync(path, "admin-token-of-the-fake\n");
    expect((await run()).outcome).toBe("ok");
    rmSync(path);
    expect((await run()).text).toContain("cannot be read");
    expect(fake.asked.length).toBe(3);
  });

  test("in whose name the kubeconfig acts is told to the cluster", async () => {
    const { run, fake } = await reached({ token: "admin-token-of-the-fake", as: "reader" });
    expect((await run()).text).toContain('User "reader" cannot list');
    expect(fake.asked[0]?.headers["impersonate-user"]).toBe("reader");
  });

  test("that is a certificate is shown in TLS, and the server's is checked", async () => {
    const tls = { key: pem("key"), cert: pem("valid") };
    const own = { "client-certificate-data": btoa(tls.cert), "client-key-data": btoa(tls.key) };
    const server = { tls: { ...tls, requestCert: true, rejectUnauthorized: false } };
    const user = { ...own, token: "admin-token-of-the-fake" };
    const trusted = {
      "certificate-authority-data": btoa(pem("authority")),
      "tls-server-name": "localhost",
    };
    expect((await (await reached(user, server, trusted)).run()).outcome).toBe("ok");
    const other = await (await reached(user, server)).run();
    expect(other.text).toMatch(/does not trust its certificate/);
    expect(
      (await (await reached(user, server, { "insecure-skip-tls-verify": true })).run()).outcome,
    ).toBe("ok");
  });
});

describe("a credential plugin", () => {
  function plugin(script: string, more: object = {}) {
    const folder = scratch();
    const path = written(
      folder,
      `#!/bin/sh\necho run >> ${join(folder, "runs")}\n${script}`,
      "plugin",
    );
    chmodSync(path, 0o755);
    const exec = {
      command: path,
      args: ["get-token", "--cluster", "a b;c"],
      env: [{ name: "PROFILE", value: "prod" }],
      apiVersion: "client.authentication.k8s.io/v1",
      ...more,
    };
    return {
      exec,
      runs: () => readFileSync(join(folder, "runs"), "utf8").split("\n").length - 1,
      folder,
    };
  }
  const printing = (status: object) =>
    `echo '${JSON.stringify({ kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1", status })}'`;

  test("is run without a shell, with its own variables and nothing of ours, and asked again only when the token ends", async () => {
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const { exec, runs, folder } = plugin(
      `env > $(dirname "$0")/env; printf '%s\\n' "$@" > $(dirname "$0")/args\n${printing({ token: "admin-token-of-the-fake", expirationTimestamp: later })}`,
      { provideClusterInfo: true },
    );
    const { run, fake } = await reached({ exec });
    await Promise.all([run(), run()]);
    expect((await run()).outcome).toBe("ok");
    expect(runs()).toBe(1);
    const env = readFileSync(join(folder, "env"), "utf8");
    expect(readFileSync(join(folder, "args"), "utf8")).toBe("get-token\n--cluster\na b;c\n");
    expect(env).toContain("PROFILE=prod");
    expect(JSON.parse(/KUBERNETES_EXEC_INFO=(.*)/.exec(env)?.[1] ?? "")).toMatchObject({
      spec: { interactive: false, cluster: { server: fake.origin } },
    });
    const names = env
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0]);
    expect(names.toSorted((a = "", b = "") => a.localeCompare(b))).toEqual(
      ["HOME", "KUBERNETES_EXEC_INFO", "LANG", "PATH", "PROFILE", "PWD"].filter((name) =>
        names.includes(name),
      ),
    );
  });

  test("whose token has ended, or is refused, is asked again", async () => {
    const soon = new Date(Date.now() + 30_000).toISOString();
    const ending = plugin(
      printing({ token: "admin-token-of-the-fake", expirationTimestamp: soon }),
    );
    const short = await reached({ exec: ending.exec });
    await short.run();
    await short.run();
    expect(ending.runs()).toBe(2);
    const refusedFirst = plugin(
      `[ $(wc -l < $(dirname "$0")/runs) = 1 ] && ${printing({ token: "a-token-that-has-ended" })} || ${printing({ token: "admin-token-of-the-fake" })}`,
    );
    const renewed = await reached({ exec: refusedFirst.exec });
    expect((await renewed.run()).outcome).toBe("ok");
    expect(refusedFirst.runs()).toBe(2);
  });

  test("that fails, prints something else or is not there says so, without what it printed", async () => {
    const texts: string[] = [];
    for (const script of ["echo no session >&2; exit 3", "echo a-token-in-the-clear"])
      texts.push((await (await reached({ exec: plugin(script).exec })).run()).text);
    texts.push(
      (await (await reached({ exec: { command: "no-such-plugin-anywhere", args: [] } })).run())
        .text,
    );
    expect(texts[0]).toMatch(/of context lab failed \(exit 3\): no session/);
    expect(texts[1]).toMatch(/printed no ExecCredential with a token or a certificate\.$/);
    expect(texts[2]).toMatch(/no-such-plugin-anywhere/);
    expect(texts.join()).not.toContain("in-the-clear");
  });
});

test("in a pod, its service account is the one cluster, in the pod's namespace", () => {
  const folder = scratch();
  mkdirSync(join(folder, "sa"));
  for (const [name, text] of Object.entries({ token: "t", namespace: "ops\n", "ca.crt": "PEM" }))
    written(join(folder, "sa"), text, name);
  expect(inCluster("10.96.0.1", "443", join(folder, "sa"))).toEqual({
    name: "in-cluster",
    server: "https://10.96.0.1:443",
    namespace: "ops",
    tls: { ca: "PEM" },
    tokenFile: join(folder, "sa/token"),
  });
  expect(inCluster("fd00::1", "6443", join(folder, "sa"))?.server).toBe("https://[fd00::1]:6443");
  expect(inCluster("10.96.0.1", "443", join(folder, "absent"))).toBeUndefined();
});

describe("in the name of whoever approved", () => {
  test("a change is made as their user of the cluster, and what only looks is not", async () => {
    const may = ({ user, verb }: { user: string; verb: string }) =>
      user === "ana@example.com" || verb === "get" || verb === "list";
    const { run, fake } = await cluster({ may, users: { "test:ana": "ana@example.com" } });
    const { outcome, preview } = await run("cordon", { node: "n1", action: "cordon" });
    expect(outcome).toBe("ok");
    expect(JSON.stringify(preview)).toContain(
      "not yet: it is done in the name of whoever approves it",
    );
    const sent = fake.asked.filter(({ url }) => !url.includes("dryRun"));
    expect(
      new Set(
        sent
          .filter(({ method }) => method === "PATCH")
          .map(({ headers }) => headers["impersonate-user"]),
      ),
    ).toEqual(new Set(["ana@example.com"]));
    expect(fake.asked[0]?.headers["impersonate-user"]).toBeUndefined();
  });

  test("nothing is done for somebody who has none", async () => {
    const { run, fake } = await cluster({ users: { "test:bob": "bob@example.com" } });
    const { outcome, text } = await run("cordon", { node: "n1", action: "cordon" });
    expect([outcome, text]).toEqual([
      "error",
      "kubernetes.users names no user for test:ana, so nothing was done.",
    ]);
    expect(fake.find("nodes", "", "n1")?.["spec"].unschedulable).toBeUndefined();
  });
});
