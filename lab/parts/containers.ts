import {
  existsSync,
  mkdirSync,
  copyFileSync,
  chmodSync,
  writeFileSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import type { Lab } from "../lab.ts";
import type { Part } from "../part.ts";

const NAMES = "cart mailer search payments images gateway".split(" ");

/** Podman, which answers Docker's API, with an image of busybox alone and some containers of it. */
export const containers: Part = {
  name: "containers",
  packages: { podman: "podman", runc: "runc", "busybox-static": "busybox" },
  missing: () => (process.getuid?.() === 0 ? undefined : "containers are started as root here"),
  async start(lab) {
    const folder = lab.place("podman");
    const env = environment(folder);
    const socket = join(folder, "podman.sock");
    if (!existsSync(join(folder, "tiny.tar"))) makeImage(lab, folder);
    if (!lab.isRunning("podman"))
      lab.run(
        "podman",
        ["podman", ...storage(folder), "system", "service", "--time=0", `unix://${socket}`],
        { env },
      );
    await lab.until("podman", async () => existsSync(socket));
    if (!podman(lab, "images").includes("localhost/tiny"))
      podman(lab, "import", join(folder, "tiny.tar"), "localhost/tiny:1");
    for (const name of NAMES) startContainer(lab, name, `echo ${name} listens; exec sleep 100000`);
    lab.state.variables["DOCKER_HOST"] = `unix://${socket}`;
  },
  stop(lab) {
    if (existsSync(join(lab.folder, "podman/storage")))
      podman(lab, "rm", "--all", "--force", "--time", "0");
  },
};

/** Starts a container anew; there is one of each name. */
export function startContainer(lab: Lab, name: string, script: string): void {
  podman(lab, "rm", "--force", "--ignore", "--time", "0", name);
  podman(
    lab,
    "run",
    "--detach",
    "--name",
    name,
    "--restart",
    "no",
    "localhost/tiny:1",
    "/bin/sh",
    "-c",
    script,
  );
}

function podman(lab: Lab, ...words: string[]): string {
  const folder = join(lab.folder, "podman");
  return lab.output(["podman", ...storage(folder), ...words], { env: environment(folder) });
}

function storage(folder: string): string[] {
  return [
    "--root",
    join(folder, "storage"),
    "--runroot",
    join(folder, "run"),
    "--storage-driver",
    "vfs",
  ];
}

function environment(folder: string): Record<string, string> {
  const file = join(folder, "containers.conf");
  writeFileSync(
    file,
    `[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]\nnetns = "host"\nlog_driver = "k8s-file"\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n`,
  );
  return { CONTAINERS_CONF: file };
}

function makeImage(lab: Lab, folder: string): void {
  const root = join(folder, "root");
  mkdirSync(join(root, "bin"), { recursive: true });
  const busybox = lab.output(["which", "busybox"]).trim();
  copyFileSync(busybox, join(root, "bin/busybox"));
  chmodSync(join(root, "bin/busybox"), 0o755);
  for (const tool of ["sh", "sleep", "echo", "true", "false"])
    if (!existsSync(join(root, "bin", tool))) symlinkSync("busybox", join(root, "bin", tool));
  lab.output(["tar", "-C", root, "-cf", join(folder, "tiny.tar"), "."]);
}
