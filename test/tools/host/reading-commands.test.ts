import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { approvalPolicy } from "../../../src/config/policy.ts";
import { decidePolicy } from "../../../src/approvals/policy.ts";
import { createDispatcher } from "../../../src/tools/dispatch.ts";
import { onlyReads } from "../../../src/tools/host/reading-commands.ts";
import { createRunCommand } from "../../../src/tools/host/run-command.ts";
import { encoderOf } from "../../fakes/encoder.ts";
import { commandLines, sharesOf } from "./shares.ts";
import { noWorld } from "../../fakes/tool-context.ts";

const ESCAPE_FORMS = commandLines(new URL("escapes.txt", import.meta.url));

const encode = (text: string) => text;
const dispatcher = createDispatcher({
  host: "stage",
  tools: [createRunCommand()],
  ...noWorld,
  encoder: encoderOf(encode),
});
const effectOf = (argv: readonly string[]) =>
  dispatcher.effectOf("run_command", { argv: [...argv] });

/** Command lines that are asked for at every incident. */
const USUAL = [
  "uptime",
  "/usr/bin/uptime -p",
  "nproc",
  "uname -a",
  "df -h",
  "df -hT --total",
  "free -m",
  "vmstat 1 5",
  "iostat -x 1 3",
  "lsblk -f",
  "dmesg -T --level=err,warn",
  "top -b -n 1",
  "ps -eo pid,user,etime,comm --sort=-pcpu",
  "pgrep -x nginx",
  "ss -tlnp",
  "netstat -tlnp",
  "lsof -P -n -i",
  "hostname -I",
  "lsof -nP -i:443",
  "lsof -nP -iTCP -sTCP:LISTEN",
  "ip -br addr",
  "ip route",
  "systemctl status nginx",
  "systemctl status --no-pager postgresql@15-main.service -n 50",
  "systemctl is-active nginx",
  "systemctl --failed",
  "systemctl show nginx -p NRestarts",
  "journalctl -u nginx -n 100",
  "journalctl -u nginx -n 100 --no-pager --since=today -p err",
  "journalctl -k -n 50",
  "docker ps -a",
  "docker stats --no-stream",
  "dpkg -s openssl",
];

describe("run_command", () => {
  test.each(USUAL)("%s only reads", (line) => {
    expect(effectOf(line.split(" "))).toBe("read");
  });

  test.each([
    "systemctl status system.slice",
    "systemctl status user.slice --lines=99",
    "systemctl status init.scope",
    "systemctl status session-1.scope",
    "systemctl status 1",
    "systemctl status nginx --full",
    "systemctl status nginx -l",
    "systemctl status",
    "journalctl -n 9",
    "journalctl -n 9999",
    "journalctl -u nginx",
    "journalctl -u nginx -n 1001",
    "journalctl -u system.slice -n 9",
    "journalctl --unit=user-1000.slice -n 9",
  ])("%s asks: it shows what many programs were started with or wrote", (line) => {
    expect(effectOf(line.split(" "))).toBe("destructive");
  });

  test.each([
    "netstat",
    "netstat -tlp",
    "netstat -r",
    "lsof -i",
    "lsof -P -i :443",
    "lsof -iTCP -sTCP:LISTEN",
    "hostname -f",
    "hostname -d",
    "hostname -i",
  ])("%s asks: it would ask the DNS", (line) => {
    expect(effectOf(line.split(" "))).toBe("destructive");
  });

  test("is destructive in every known form that starts, loads, writes or sends something: none runs unasked", () => {
    expect(ESCAPE_FORMS.length).toBeGreaterThan(400);
    const policy = approvalPolicy.parse({});
    const unasked = ESCAPE_FORMS.filter((argv) => {
      const effect = effectOf(argv);
      const call = { tool: "run_command", effect, args: { argv: [...argv] } };
      return effect !== "destructive" || decidePolicy(policy, call).kind !== "ask";
    });
    expect(unasked).toEqual([]);
  });

  test("of public collections: what only reads runs, everything else asks, nothing is denied", () => {
    const looked = commandLines(new URL("tldr-lines.txt", import.meta.url));
    expect(sharesOf(looked)).toEqual({ allow: 16, ask: 37, deny: 0 });
    expect(sharesOf(ESCAPE_FORMS)).toEqual({ allow: 0, ask: ESCAPE_FORMS.length, deny: 0 });
    const runs = (argv: string[]) => sharesOf([argv]).allow === 1;
    expect(looked.filter(runs).map((argv) => argv.join(" "))).toEqual(
      `df|df -h|df -i|free|free -m|free -h|vmstat 2 5|ip a|ip -br a|ip -br l|ip r|ip n|dmesg|systemctl --failed|systemctl status nginx|systemctl is-enabled nginx`.split(
        "|",
      ),
    );
  });

  test("with anything added that starts, names or addresses something is destructive", () => {
    const added = fc.constantFrom(
      ..."-F -D -K -M -C -N -E -- --exec --help --root=/tmp --file=/x -Hroot@x sh /etc/shadow * .. - @/x $(id) ; |".split(
        " ",
      ),
      "",
      "\n",
      "a b",
    );
    const usual = fc.constantFrom(...USUAL).map((line) => line.split(" "));
    fc.assert(
      fc.property(usual, added, fc.nat(), (argv, word, seed) => {
        const at = 1 + (seed % argv.length);
        expect(onlyReads(argv.toSpliced(at, 0, word))).toBe(false);
      }),
      { numRuns: 5_000 },
    );
  });

  test("without an argv that it could take is destructive", () => {
    for (const args of [{}, { argv: "uptime" }, { argv: ["uptime"], shell: true }, { argv: [7] }]) {
      expect(dispatcher.effectOf("run_command", args)).toBe("destructive");
    }
    expect(dispatcher.effectOf("no_such_tool", {})).toBe("destructive");
  });
});

describe("the rules of the documentation", () => {
  const decision = (rules: unknown[], argv: string[]) =>
    decidePolicy(approvalPolicy.parse({ rules }), {
      tool: "run_command",
      effect: effectOf(argv),
      args: { argv },
    });

  test("a rule of the tool's name still allows a command, and what needs two of a group needs them by run_command too", () => {
    const rules = [
      { match: { tool: "run_command", args: { argv: "systemctl restart *" } }, decide: "allow" },
      {
        match: { effect: "destructive" },
        decide: "ask",
        approvers: ["slack:group:S0SRE"],
        quorum: 2,
      },
    ];
    expect(decision(rules, ["systemctl", "restart", "nginx"]).kind).toBe("allow");
    for (const line of ["kill -9 1234", "rm -rf /srv", "kubectl delete ns prod", "sh -c id"]) {
      expect(decision(rules, line.split(" "))).toMatchObject({
        kind: "ask",
        quorum: 2,
        requesterMayApprove: false,
        approvers: ["slack:group:S0SRE"],
      });
    }
    expect(decision(rules, ["df", "-h"]).kind).toBe("allow");
  });

  test("a rule that asks or denies still holds for a command that only reads", () => {
    const asks = [{ match: { tool: "run_command" }, decide: "ask" }];
    expect(decision(asks, ["df", "-h"]).kind).toBe("ask");
    const denies = [
      { match: { tool: "run_command", args: { argv: "journalctl *" } }, decide: "deny" },
    ];
    expect(decision(denies, ["journalctl", "-u", "nginx", "-n", "5"]).kind).toBe("deny");
  });
});
