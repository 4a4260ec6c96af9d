import { randomBytes } from "node:crypto";
import type { ExecResult } from "../../tool.ts";

/**
 * What is asked of a Linux machine, in one go and by nothing that a small one lacks: its parts say nothing where a program or a
 * file is missing. Command lines and environments of processes are not read: they may hold secrets.
 */
const PARTS: readonly [name: string, command: string][] = [
  ["name", "uname -n; uname -sr"],
  ["os", "cat /etc/os-release"],
  ["uptime", "cat /proc/uptime"],
  ["load", "cat /proc/loadavg"],
  ["memory", "cat /proc/meminfo"],
  ["kills", "grep '^oom_kill ' /proc/vmstat"],
  ["pressure", 'for each in cpu io memory; do sed "s/^/$each /" /proc/pressure/$each; done'],
  ["mounts", "cat /proc/self/mounts"],
  ["space", "timeout 5 df -P -k"],
  ["inodes", "timeout 5 df -P -i"],
  ["handles", "cat /proc/sys/fs/file-nr"],
  [
    "tracked",
    "cat /proc/sys/net/netfilter/nf_conntrack_count /proc/sys/net/netfilter/nf_conntrack_max",
  ],
  ["failed", "timeout 5 systemctl --failed --no-legend --plain --no-pager"],
  [
    "killed",
    "timeout 5 journalctl -k -q --no-pager -o short-iso -g 'Out of memory' -n 3 --since -24h",
  ],
  ["restart", "cat /var/run/reboot-required /var/run/reboot-required.pkgs"],
  ["clock", "timeout 5 timedatectl show -p NTPSynchronized"],
  ["processes", "ps -eo pid=,user=,rss=,etimes=,stat=,comm="],
  ["programs", "ls -l /proc/[0-9]*/exe"],
  ["sockets", "timeout 5 ss -Hltunp"],
  ["cpu1", "grep '^cpu' /proc/stat"],
  ["disks1", "cat /proc/diskstats"],
  ["times1", "cat /proc/[0-9]*/stat"],
  ["wait", "sleep 1"],
  ["cpu2", "grep '^cpu' /proc/stat"],
  ["disks2", "cat /proc/diskstats"],
  ["times2", "cat /proc/[0-9]*/stat"],
];

export type Answers = ReadonlyMap<string, string>;

/** Two samples of some thousand processes are a megabyte. */
export const SURVEY_LIMITS = { maxBytes: 8 * 1024 * 1024, timeoutMs: 25_000 };

export interface Questions {
  /** For `sh -c`. */
  script: string;
  read(answer: Pick<ExecResult, "stdout">): Answers;
}

/** A script whose parts nothing that a machine says can end: the mark between them is another each time. */
export function createQuestions(): Questions {
  const mark = `@@${randomBytes(12).toString("hex")}`;
  const lines = PARTS.map(([name, command]) => `echo; echo "${mark} ${name}"; ${command}`);
  const script = `export LC_ALL=C; exec 2>/dev/null\n${lines.join("\n")}\nexit 0`;
  return {
    script,
    read({ stdout }) {
      const parts = stdout.split(`\n${mark} `).slice(1);
      return new Map(
        parts.map((part) => {
          const end = part.indexOf("\n");
          return [part.slice(0, end), part.slice(end + 1).trimEnd()];
        }),
      );
    },
  };
}
