import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/entry.ts";
import { shellWord } from "../../../src/tools/ssh/client.ts";
import { createSshTools } from "../../../src/tools/ssh/tools.ts";
import { hostContext, makeFolder, writeProgram } from "../host/context.ts";

/** A machine that is this one: a client that runs the line here, and says what it was called with. */
async function reached(script?: string) {
  const folder = await makeFolder();
  const own = `
printf '%s\\n' "$@" > ${folder}/called
case " $* " in *" -G "*) cat ${folder}/config; exit 0;; esac
for line; do :; done
exec sh -c "$line"`;
  await writeProgram(folder, "ssh", script ?? own);
  const say = (text: string) => writeFile(join(folder, "config"), text);
  await say("user deploy\nhostname 10.0.0.5\nport 2222\nproxyjump none\n");
  const tools = createSshTools(["web1", "deploy@db1"]);
  const ctx = hostContext(folder);
  const find = (name: string) => {
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    return tool;
  };
  const run = async (name: string, args: JsonObject) =>
    find(name).run(find(name).input.parse({ server: "web1", ...args }), ctx);
  const called = () => readFile(join(folder, "called"), "utf8");
  return { run, find, ctx, called, say };
}

describe("a machine over SSH", () => {
  test("is asked by one command, whose key has to be known and that reaches nothing else", async () => {
    const { run, called } = await reached();
    const { text } = await run("ssh_overview", {});
    expect(text).toMatch(/: .*Linux \S+, up \d/);
    const words = (await called()).split("\n");
    for (const option of [
      "BatchMode=yes",
      "StrictHostKeyChecking=yes",
      "ForwardAgent=no",
      "ClearAllForwardings=yes",
      "ControlPath=none",
    ])
      expect(words).toContain(option);
    expect(words.slice(words.indexOf("--"), words.indexOf("--") + 2)).toEqual(["--", "web1"]);
  });

  test("is the one behind what its configuration goes through", async () => {
    const { find, ctx, say } = await reached();
    const tool = find("ssh_run");
    const asked = tool.input.parse({ server: "web1", argv: ["uptime"] });
    const pinned = async (through: string) => {
      await say(`user deploy\nhostname 10.0.0.5\nport 22\n${through}\n`);
      return tool.pin?.(asked, ctx);
    };
    const by = "ssh -W [%h]:%p bastion";
    expect(await pinned(`proxycommand ${by}`)).toMatchObject({
      address: `deploy@10.0.0.5:22 through ${by}`,
    });
    expect(await pinned("proxyjump bastion")).toMatchObject({
      address: "deploy@10.0.0.5:22 through bastion",
    });
    expect(await pinned("proxycommand none")).toMatchObject({ address: "deploy@10.0.0.5:22" });
  });

  test.each([
    ["web2", false],
    ["-oProxyCommand=touch /tmp/x", false],
    ["deploy@db1", true],
  ])("is one that the configuration names: %s", async (server, ok) => {
    const { find } = await reached();
    expect(find("ssh_ports").input.safeParse({ server }).success).toBe(ok);
  });

  test.each([
    ["Host key verification failed.", "Compare it with the server's own"],
    ["deploy@web1: Permission denied (publickey).", "a key without a passphrase"],
    ["ssh: connect to host web1 port 22: Connection refused", "Check that the server is up"],
    ["ssh: Could not resolve hostname web1: Name or service not known", "Check its name"],
  ])("that is not reached says why: %s", async (said, help) => {
    const { run } = await reached(`echo ${shellWord(said)} >&2; exit 255`);
    await expect(run("ssh_ports", {})).rejects.toMatchObject({
      code: "CONNECTION_FAILED",
      message: expect.stringContaining(help),
    });
  });
});

describe("a command over SSH", () => {
  test("is what the card shows, each word one word whatever is in it", async () => {
    const { run, find, ctx } = await reached();
    const argv = ["printf", "%s|", "a b", "$(id)", "it's", "; rm -rf /", "`x`", "*", "-n", "\n"];
    const { text } = await run("ssh_run", { argv });
    expect(text).toContain("a b|$(id)|it's|; rm -rf /|`x`|*|-n|\n|");
    const tool = find("ssh_run");
    const input = await tool.pin?.(tool.input.parse({ server: "web1", argv }), ctx);
    const preview = await tool.preview?.(input, ctx);
    expect(preview?.lines[0]).toEqual({
      label: "Machine",
      value: "web1 (deploy@10.0.0.5:2222), from this machine",
    });
    expect(preview?.blastRadius).toContain("on web1");
  });

  test("is refused when its name means another machine than was shown", async () => {
    const { find, ctx, say } = await reached();
    const tool = find("ssh_run");
    const input = await tool.pin?.(tool.input.parse({ server: "web1", argv: ["reboot"] }), ctx);
    await tool.precheck?.(input, ctx);
    await say("user root\nhostname 10.0.0.9\nport 22\n");
    await expect(tool.precheck?.(input, ctx)).rejects.toMatchObject({
      code: "PRECHECK_FAILED",
      message: "web1 was deploy@10.0.0.5:2222 when it was shown, and is root@10.0.0.9:22 now.",
    });
  });

  test.each([
    [["uptime"], "read"],
    [["systemctl", "restart", "web"], "destructive"],
  ])("that reads alone needs nobody: %j", async (argv, effect) => {
    const { find } = await reached();
    const tool = find("ssh_run");
    expect(tool.effectOf?.(tool.input.parse({ server: "web1", argv }))).toBe(effect);
  });

  test.each(["odd", "git@host: Permission denied (publickey).", "Connection refused"])(
    "that ends with 255 itself is no failed connection, whatever it says: %s",
    async (said) => {
      const { run } = await reached();
      const argv = ["sh", "-c", `echo "${said}" >&2; exit 255`];
      const { text, failed } = await run("ssh_run", { argv });
      expect(text).toBe(`Exit code 255.\nStandard error:\n${said}`);
      expect(failed).toBe(true);
    },
  );

  test.each([
    [
      "while it ran",
      `printf '%s' "$line" | sed -n 's/.*echo \\([0-9a-f-]*\\) >&2.*/\\1/p' | head -1 >&2;`,
    ],
    ["before anything came back of it", ""],
  ])("whose connection breaks %s may have been done", async (_, begun) => {
    const broken = "client_loop: send disconnect: Connection reset by peer";
    const { run } = await reached(
      `for line; do :; done; ${begun} echo ${shellWord(broken)} >&2; exit 255`,
    );
    await expect(run("ssh_run", { argv: ["reboot"] })).rejects.toMatchObject({
      code: "ABORTED",
      message: expect.stringContaining(broken),
    });
  });
});

describe("a log over SSH", () => {
  test("is a unit's or a file's below /var/log, and no other", async () => {
    const { run, find } = await reached();
    expect(find("ssh_logs").input.safeParse({ server: "web1", path: "/etc/shadow" }).success).toBe(
      false,
    );
    expect(await run("ssh_logs", { path: "/var/log/../../etc/passwd" })).toMatchObject({
      failed: true,
      text: "/var/log/../../etc/passwd leads out of /var/log and was not read.",
    });
    expect(await run("ssh_logs", { path: "/var/log/none" })).toMatchObject({
      failed: true,
      text: "/var/log/none on web1 was not read: there is no such file",
    });
    await expect(run("ssh_logs", {})).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  test("is searched by a pattern, the newest last", async () => {
    const journal = `case "$*" in *journalctl*) printf 'one\\ntwo bad\\nthree\\nfour bad\\nfive bad\\n';; esac`;
    const { run } = await reached(journal);
    const { text } = await run("ssh_logs", { unit: "shop", since: "1h", lines: 2, grep: "bad$" });
    expect(text).toBe(
      '2 of the last 5 lines of unit shop on web1 match "bad$", newest last:\nfour bad\nfive bad',
    );
  });
});
