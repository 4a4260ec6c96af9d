import { ago, type Json } from "./incident-workload.ts";

function node(name: string, more: Json = {}): Json {
  const { spec, status, metadata, ...rest } = more as Record<string, Json | undefined>;
  return {
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
      },
      ...metadata,
    },
    spec: { podCIDR: "10.244.1.0/24", ...spec },
    status: {
      allocatable: { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "40Gi" },
      capacity: { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "40Gi" },
      conditions: [
        { type: "MemoryPressure", status: "False", reason: "KubeletHasSufficientMemory" },
        { type: "DiskPressure", status: "False", reason: "KubeletHasNoDiskPressure" },
        { type: "PIDPressure", status: "False", reason: "KubeletHasSufficientPID" },
        {
          type: "Ready",
          status: "True",
          reason: "KubeletReady",
          message: "kubelet is posting ready status",
        },
      ],
      ...status,
    },
    ...rest,
  };
}

function systemPod(
  name: string,
  labels: Record<string, string>,
  owner?: { kind: string; name: string },
): Json {
  return {
    kind: "Pod",
    metadata: {
      name,
      namespace: "kube-system",
      labels,
      ...(owner !== undefined && { ownerReferences: [{ ...owner, controller: true }] }),
    },
    spec: {
      nodeName: "control-plane",
      containers: [{ name: "main", image: "registry.k8s.io/x:v1" }],
    },
    status: {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [
        {
          name: "main",
          ready: true,
          restartCount: 0,
          state: { running: { startedAt: ago("30d") } },
        },
      ],
    },
  };
}

export function healthyCluster(namespace: string): Json[] {
  return [
    { kind: "Namespace", metadata: { name: namespace }, status: { phase: "Active" } },
    node("control-plane", {
      metadata: {
        labels: {
          "kubernetes.io/hostname": "control-plane",
          "node-role.kubernetes.io/control-plane": "",
        },
      },
      spec: { taints: [{ key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" }] },
    }),
    node("worker-1"),
    node("worker-2"),
    { kind: "ServiceAccount", metadata: { name: "default" } },
    { kind: "ConfigMap", metadata: { name: "kube-root-ca.crt" }, keys: ["ca.crt"] },
    {
      kind: "StorageClass",
      metadata: {
        name: "standard",
        annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
      },
      provisioner: "rancher.io/local-path",
      volumeBindingMode: "WaitForFirstConsumer",
    },
    { kind: "IngressClass", metadata: { name: "nginx" } },
    systemPod("kube-apiserver-control-plane", { component: "kube-apiserver" }),
    systemPod("kube-scheduler-control-plane", { component: "kube-scheduler" }),
    systemPod("kube-controller-manager-control-plane", { component: "kube-controller-manager" }),
    systemPod("etcd-control-plane", { component: "etcd" }),
    systemPod(
      "coredns-5d78c9869d-abcde",
      { "k8s-app": "kube-dns" },
      { kind: "ReplicaSet", name: "coredns-5d78c9869d" },
    ),
    systemPod(
      "kube-proxy-k2l4m",
      { "k8s-app": "kube-proxy" },
      { kind: "DaemonSet", name: "kube-proxy" },
    ),
    {
      kind: "Deployment",
      metadata: { name: "coredns", namespace: "kube-system", generation: 1 },
      spec: { replicas: 1 },
      status: { observedGeneration: 1, replicas: 1, readyReplicas: 1, availableReplicas: 1 },
    },
    {
      kind: "DaemonSet",
      metadata: { name: "kube-proxy", namespace: "kube-system", generation: 1 },
      spec: {},
      status: {
        observedGeneration: 1,
        desiredNumberScheduled: 1,
        currentNumberScheduled: 1,
        numberReady: 1,
      },
    },
    {
      kind: "Service",
      metadata: { name: "kube-dns", namespace: "kube-system" },
      spec: {
        clusterIP: "10.96.0.10",
        selector: { "k8s-app": "kube-dns" },
        ports: [
          { name: "dns", port: 53, protocol: "UDP" },
          { name: "dns-tcp", port: 53, protocol: "TCP" },
        ],
      },
    },
    {
      kind: "Endpoints",
      metadata: { name: "kube-dns", namespace: "kube-system" },
      subsets: [{ addresses: [{ ip: "10.244.0.2" }], ports: [{ port: 53 }] }],
    },
  ];
}
