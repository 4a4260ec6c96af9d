import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadToolset } from "../../src/app/toolset.ts";
import { loadConfig } from "../../src/config/config.ts";

/** The tools of a program that every system is set up for. */
export async function everyTool() {
  const cluster = "clusters: [{ name: c, cluster: { server: 'https://127.0.0.1:1' } }]";
  const user = "users: [{ name: u, user: { token: a-long-enough-token } }]";
  const context = "contexts: [{ name: c, context: { cluster: c, user: u } }]\ncurrent-context: c";
  const kubeconfig = `apiVersion: v1\nkind: Config\n${cluster}\n${user}\n${context}\n`;
  const folder = await mkdtemp(join(tmpdir(), "skills-test-"));
  await writeFile(join(folder, "kubeconfig"), kubeconfig);
  const [http, token] = ["http://127.0.0.1:1", "a-long-enough-token"];
  const config = await loadConfig(
    {
      KUBECONFIG: join(folder, "kubeconfig"),
      PROMETHEUS_URL: http,
      ALERTMANAGER_URL: http,
      POSTGRES_URL: `postgres://reader:${token}@127.0.0.1:1/shop`,
      MYSQL_URL: `mysql://reader:${token}@127.0.0.1:1/shop`,
      POSTGRES_ADMIN_URL: `postgres://admin:${token}@127.0.0.1:1/shop`,
      MYSQL_ADMIN_URL: `mysql://admin:${token}@127.0.0.1:1/shop`,
      REDIS_TARGET_URL: "redis://127.0.0.1:1",
      RABBITMQ_URL: http,
      RABBITMQ_USER: "reader",
      RABBITMQ_PASSWORD: token,
      DOCKER_HOST: "unix:///run/none.sock",
      LOKI_URL: http,
      GITHUB_TOKEN: token,
      GITHUB_REPOSITORIES: "shop/web",
      GITLAB_TOKEN: token,
      GITLAB_PROJECTS: "shop/web",
      PAGERDUTY_TOKEN: token,
      SSH_HOSTS: "web-1",
    },
    { cwd: folder },
  );
  const toolset = await loadToolset(config);
  await rm(folder, { recursive: true });
  return toolset;
}
