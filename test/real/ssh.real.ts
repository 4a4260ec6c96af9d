import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Program } from "../fakes/program.ts";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A real sshd on loopback that takes one key, and a client's configuration that knows it as `web1`. */
async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), "ssh-real-"));
  const path = (name: string) => join(folder, name);
  const key = (name: string) =>
    spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", path(name)]);
  key("host");
  key("own");
  const port = await freePort();
  const text = (name: string) => readFileSync(path(name), "utf8").trim();
  writeFileSync(path("authorized"), text("own.pub"), { mode: 0o600 });
  writeFileSync(path("known"), `[127.0.0.1]:${port} ${text("host.pub")}\n`);
  writeFileSync(
    path("sshd_config"),
    `ListenAddress 127.0.0.1:${port}\nHostKey ${path("host")}\nAuthorizedKeysFile ${path("authorized")}\nPidFile ${path("pid")}\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n`,
  );
  writeFileSync(
    path("config"),
    `Host web1\n  HostName 127.0.0.1\n  Port ${port}\n  User ${userInfo().username}\n  IdentityFile ${path("own")}\n  UserKnownHostsFile ${path("known")}\n`,
    { mode: 0o600 },
  );
  mkdirSync("/run/sshd", { recursive: true });
  const server = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", path("sshd_config")]);
  const log: string[] = [];
  server.stderr.on("data", (data: Buffer) => log.push(data.toString()));
  onTestFinished(async () => {
    const closed = once(server, "close");
    server.kill();
    await closed;
    rmSync(folder, { recursive: true });
  });
  await expect.poll(() => log.join("")).toContain("listening");
  return { config: path("config"), forget: () => writeFileSync(path("known"), "") };
}

test("another machine is looked at over SSH, acted on after an approval, and not at all under an unknown key", async () => {
  const server = await startServer();
  const program = new Program({ SSH_HOSTS: "web1", SSH_CONFIG: server.config });
  onTestFinished(() => program.remove());
  const ask = (text: string) => program.run(["ask", text]);
  const overview = await ask("run ssh_overview server=web1");
  expect(overview.out).toMatch(/Processors: \d+ core/);
  const read = await ask("run ssh_run server=web1 argv='[\"uptime\"]'");
  expect(read.out).toContain("load average");

  const asked = await ask(`run ssh_run server=web1 argv='["echo","it is done"]'`);
  expect(asked.code).toBe(3);
  expect(asked.err + asked.out).toMatch(/web1 \(\w+@127\.0\.0\.1:\d+\), from /);
  const thread = /--thread (\S+)/.exec(asked.err)?.[1] ?? "";
  const done = await program.run(["--thread", thread], "y\n");
  expect(done.out).toContain("it is done");

  server.forget();
  const unknown = await ask("run ssh_ports server=web1");
  expect(unknown.code).toBe(1);
  expect(unknown.out + unknown.err).toContain("Compare it with the server's own");
});
