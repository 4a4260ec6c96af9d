import { install } from "../install.ts";

/** What the tests against real servers need beside npm. */
export function setup(): void {
  const hasKubernetes = process.env["LAB_KUBERNETES"] !== undefined;
  install({
    "nginx-light": "nginx",
    "openssh-client": "ssh",
    "openssh-server": "sshd",
    "redis-server": "redis-server",
    prometheus: "prometheus",
    systemd: "systemd-analyze",
    "prometheus-alertmanager": "prometheus-alertmanager",
    "prometheus-node-exporter": "prometheus-node-exporter",
    "victoria-metrics": "victoria-metrics",
    "rabbitmq-server": "rabbitmq-server",
    "mariadb-server": "mariadbd",
    podman: "podman",
    runc: "runc",
    "busybox-static": "busybox",
    postgresql: "/usr/lib/postgresql/15/bin/postgres",
    ...(hasKubernetes && { "etcd-server": "etcd" }),
  });
  if (!hasKubernetes) {
    console.log(
      "Missing: Kubernetes. LAB_KUBERNETES names no folder with a script that starts it.",
    );
  }
}
