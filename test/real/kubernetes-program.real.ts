import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Program } from "../fakes/program.ts";
import { startKubernetes } from "../fakes/kubernetes/server.ts";
import { seedShop } from "../tools/kubernetes/world.ts";

/** The program itself, with a kubeconfig. */

const TOKEN = "admin-token-of-the-fake";

/** With two contexts: `lab`, where a fake answers, and `away`, where nothing listens. */
async function begin(token: string) {
  const fake = await startKubernetes();
  onTestFinished(() => fake.close());
  seedShop(fake);
  const kubeconfig = (folder: string) => join(folder, "kubeconfig");
  const first = new Program();
  onTestFinished(() => first.remove());
  const program = new Program({ KUBECONFIG: kubeconfig(first.folder) });
  onTestFinished(() => program.remove());
  const names = { lab: fake.origin, away: "http://127.0.0.1:9" };
  writeFileSync(
    kubeconfig(first.folder),
    JSON.stringify({
      clusters: Object.entries(names).map(([name, server]) => ({ name, cluster: { server } })),
      users: [{ name: "bot", user: { token } }],
      contexts: Object.keys(names).map((name) => ({
        name,
        context: { cluster: name, user: "bot" },
      })),
      "current-context": "lab",
    }),
  );
  return { fake, program };
}

test("doctor tries each cluster, and what is wrong with one is no news of the others", async () => {
  const { program } = await begin(TOKEN);
  const { out, code } = await program.run(["doctor"]);
  expect(out).toMatch(/^ok +kubernetes lab +Yes: list pods in all namespaces$/m);
  expect(out).toMatch(/^BROKEN +kubernetes away +POST .*: connection refused by 127\.0\.0\.1:9/m);
  expect(code).toBe(1);
});

test("doctor says what a cluster has against the credential, and never the credential", async () => {
  const { program } = await begin("a-token-that-has-ended");
  const { out } = await program.run(["doctor"]);
  expect(out).toMatch(/^BROKEN +kubernetes lab +.*401 Unauthorized/m);
  expect(out).not.toContain("a-token-that-has-ended");
});

test("a question is answered, with findings as data for scripts", async () => {
  const { program } = await begin(TOKEN);
  const ask = "run kubernetes_diagnose namespace=shop";
  const { out, code } = await program.run(["ask", "--json", ask]);
  expect(code).toBe(0);
  const { findings } = JSON.parse(out);
  expect(findings[0]).toMatchObject({
    object: { kind: "Deployment", namespace: "shop", name: "web" },
    severity: "error",
  });
  expect(findings[0].cause).toMatch(/^CrashLoopBackOff/);
});

test("a change waits for its card, which shows the dry run, and happens once it is approved", async () => {
  const { program, fake } = await begin(TOKEN);
  const asked = await program.run([
    "ask",
    "run kubernetes_scale workload=web namespace=shop replicas=4",
  ]);
  expect(asked.code).toBe(3);
  expect(fake.find("deployments", "shop", "web")?.["spec"].replicas).toBe(2);
  const thread = /--thread (\S+)/.exec(asked.err)?.[1] ?? "";
  const { out } = await program.run(["--thread", thread], "y\n");
  expect(out).toMatch(/spec\.replicas: 2 → 4[^]*Verified/);
  expect(fake.find("deployments", "shop", "web")?.["spec"].replicas).toBe(4);
});

test("a change is made in the name of whoever approved it, where they have one in the cluster", async () => {
  const { program, fake } = await begin(TOKEN);
  const { username } = userInfo();
  const yaml = `kubernetes: { users: { "terminal:${username}": ana@example.com } }`;
  writeFileSync(join(program.folder, "watchkeeper.yaml"), yaml);
  const asked = await program.run(["ask", "run kubernetes_cordon node=n1 action=cordon"]);
  const thread = /--thread (\S+)/.exec(asked.err)?.[1] ?? "";
  const { out } = await program.run(["--thread", thread], "y\n");
  // The fake lets nobody but admin do anything.
  expect(out).toContain('User "ana@example.com" cannot');
  expect(fake.asked.at(-1)?.headers["impersonate-user"]).toBe("ana@example.com");
});
