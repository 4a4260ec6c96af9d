/**
 * Records of threads and what people ask months later about the same cause, in other words. Two of them are about the same
 * service wherever a team has several troubles with one: the words of the service alone do not tell them apart.
 */

interface Alike {
  /** What was asked then, and what it was. */
  readonly question: string;
  readonly cause: string;
  readonly fix?: string;
  /** What is asked now. */
  readonly asked: readonly string[];
}

export const RECORDS: Readonly<Record<string, Alike>> = {
  diskFull: {
    question: "checkout answers 500 since the morning",
    cause: "/var/log on web-1 is full: debug logging of checkout was left on",
    fix: "Rotate the logs on web-1",
    asked: [
      "no space left on device on web-1",
      "disk usage of web-1 at 100%",
      "the log partition of the web server ran out of space",
      "checkout cannot write its log file",
    ],
  },
  certificate: {
    question: "customers see a security warning in the browser on shop.example.com",
    cause: "the TLS certificate of shop.example.com expired because the renewal timer was disabled",
    fix: "Restart certbot.timer",
    asked: [
      "certificate expired",
      "SSL error on the shop's website",
      "x509: certificate has expired or is not yet valid: shop.example.com",
      "browser says connection is not private",
    ],
  },
  oomKill: {
    question: "api pods restart every few minutes",
    cause:
      "the container api is OOMKilled: its memory limit of 256Mi is below what the new cache needs",
    fix: "Raise the memory limit of deployment/api",
    asked: [
      "exit code 137 in namespace shop",
      "pods of api are killed for memory",
      "CrashLoopBackOff of the api deployment",
      "out of memory, containers get killed",
    ],
  },
  dbConnections: {
    question: "orders are slow and some fail",
    cause:
      "PostgreSQL has no free connections: max_connections reached by idle sessions of the report worker",
    fix: "Restart report-worker",
    asked: [
      "FATAL: sorry, too many clients already",
      "connection pool of orders exhausted",
      "postgres refuses new connections",
      "idle in transaction sessions pile up in postgres",
    ],
  },
  dbLock: {
    question: "orders hang when they are paid",
    cause: "a migration holds an exclusive lock on table orders, and every update waits for it",
    fix: "Terminate backend 4711 of the migration",
    asked: [
      "updates of orders wait for a lock",
      "deadlock or lock wait in the orders table",
      "alter table blocks all writes",
      "payments hang, database sessions are waiting",
    ],
  },
  replication: {
    question: "reports show data of yesterday",
    cause:
      "the read replica db-2 lags by hours: its replication slot was inactive after a network fault",
    fix: "Restart the replica on db-2",
    asked: [
      "replica lag on db-2 grows",
      "standby is behind the primary",
      "pg_wal grows because of a replication slot",
      "reads return stale rows",
    ],
  },
  redisMemory: {
    question: "people are logged out all the time",
    cause: "redis reached maxmemory and evicts sessions: the cart cache has no expiry",
    fix: "Set a TTL on cart keys",
    asked: [
      "redis evicts keys",
      "OOM command not allowed when used memory > maxmemory",
      "sessions get lost, users have to log in again",
      "cache fills redis to the limit",
    ],
  },
  queue: {
    question: "mails arrive hours late",
    cause: "the queue mail has 40000 messages because one consumer hangs on a poison message",
    fix: "Move the poison message to the dead letter queue",
    asked: [
      "backlog of the mail queue",
      "consumers of rabbitmq do not keep up",
      "messages stay unacknowledged for hours",
      "newsletters are delivered late",
    ],
  },
  deploy: {
    question: "error rate of payments jumped at 14:05",
    cause: "release 2.31 of payments removed a column that the old pods still read; rolled back",
    fix: "Roll payments back to 2.30",
    asked: [
      "5xx after a deployment of payments",
      "payments fails since the new release",
      "column does not exist after the rollout",
      "should we roll back payments?",
    ],
  },
  dns: {
    question: "nothing in namespace shop can reach the outside",
    cause: "coredns pods crash since the configmap has a loop, so names do not resolve",
    fix: "Restore the configmap coredns",
    asked: [
      "could not resolve host in the cluster",
      "name resolution fails in pods",
      "coredns is crash looping",
      "getaddrinfo EAI_AGAIN in shop",
    ],
  },
  ingress: {
    question: "the site answers 502",
    cause:
      "nginx ingress points at a service without endpoints: the selector lost its label in the last change",
    fix: "Put the label back on service web",
    asked: [
      "502 bad gateway from nginx",
      "service web has no endpoints",
      "upstream connect error for the site",
      "label selector matches no pod",
    ],
  },
  nodeDown: {
    question: "half of the pods are pending",
    cause: "node worker-3 is NotReady: its kubelet ran out of disk for images",
    fix: "Prune images on worker-3",
    asked: [
      "node NotReady",
      "worker-3 left the cluster",
      "kubelet stopped posting node status",
      "pods pending because of disk pressure on a node",
    ],
  },
  cpuThrottle: {
    question: "search takes 5 s at noon",
    cause: "search is throttled: its CPU limit of 500m is reached while the index is rebuilt",
    fix: "Raise the CPU limit of search",
    asked: [
      "CPU throttling of search",
      "search latency is high at lunch time",
      "slow queries in search while reindexing",
      "container hits its cpu limit",
    ],
  },
  timeSkew: {
    question: "logins fail with an invalid token",
    cause: "the clock of auth-2 is 4 minutes ahead because chrony cannot reach its servers",
    fix: "Restart chronyd on auth-2",
    asked: [
      "token used before issued",
      "ntp drift on auth-2",
      "JWT invalid: clock skew",
      "time is wrong on one auth server",
    ],
  },
  apiLimit: {
    question: "shipping labels are not printed",
    cause:
      "the carrier's API answers 429: the retry loop of shipping sends every request five times",
    fix: "Turn retries of shipping off",
    asked: [
      "429 too many requests from the carrier",
      "rate limit of the shipping provider reached",
      "retry storm in shipping",
      "labels are missing for parcels",
    ],
  },
  firewall: {
    question: "backup of db-1 fails at night",
    cause: "port 8443 to the backup server is closed since the firewall change of the network team",
    fix: "Open port 8443 from db-1 to backup-1",
    asked: [
      "backup job times out",
      "connection to backup-1 refused on 8443",
      "no backups of the database for two nights",
      "firewall blocks db-1",
    ],
  },
  raid: {
    question: "storage-1 is slow",
    cause: "disk sdc of storage-1 has failed and the raid rebuilds",
    fix: "Replace sdc in storage-1",
    asked: [
      "degraded array md0",
      "smart errors of sdc",
      "high iowait on storage-1",
      "I/O errors in dmesg of the storage server",
    ],
  },
  cron: {
    question: "invoices of last night are missing",
    cause: "the cron job invoices did not run: its lock file was left by a crash",
    fix: "Remove the lock file of invoices",
    asked: [
      "nightly job did not run",
      "invoice generation was skipped",
      "stale lock file blocks a cron job",
      "why were no bills created?",
    ],
  },
  secret: {
    question: "uploads fail with access denied",
    cause: "the S3 key of uploads was rotated and the secret in the cluster was not updated",
    fix: "Update the secret uploads-s3",
    asked: [
      "403 from S3",
      "InvalidAccessKeyId in uploads",
      "credentials were rotated and now files cannot be stored",
      "access denied when people upload pictures",
    ],
  },
  kafka: {
    question: "the dashboard shows old numbers",
    cause: "consumer group analytics lags: a partition has no leader since broker-2 restarted",
    fix: "Elect a leader for the partition",
    asked: [
      "kafka consumer lag of analytics",
      "under-replicated partitions",
      "LEADER_NOT_AVAILABLE after a broker restart",
      "analytics does not get new events",
    ],
  },
  gc: {
    question: "catalog freezes for seconds",
    cause:
      "long garbage collection pauses of catalog: its heap is nearly full since prices are cached",
    fix: "Raise the heap of catalog",
    asked: [
      "full GC pauses in the catalog JVM",
      "java heap space in catalog",
      "catalog stops answering for some seconds",
      "price cache eats the heap",
    ],
  },
  flag: {
    question: "the new cart shows an empty page",
    cause: "feature flag cart-v2 was turned on for everybody before the API had it",
    fix: "Turn the flag cart-v2 off",
    asked: [
      "feature flag broke the cart",
      "blank page in the cart after a toggle",
      "cart-v2 enabled too early",
      "who turned on the new cart?",
    ],
  },
  migration: {
    question: "deploy of users hangs",
    cause: "the helm hook of users waits for a database migration that failed on a duplicate key",
    fix: "Delete the duplicate users and run the migration again",
    asked: [
      "helm upgrade timed out waiting for the hook",
      "unique constraint violated in the migration",
      "pre-upgrade job of users failed",
      "deployment of users is stuck",
    ],
  },
  pullLimit: {
    question: "new pods of billing do not start",
    cause: "ImagePullBackOff: the registry limits anonymous pulls of the base image",
    fix: "Add the pull secret to billing",
    asked: [
      "toomanyrequests: pull rate limit of the registry",
      "cannot pull image of billing",
      "ErrImagePull",
      "containers do not start because of the image",
    ],
  },
  fileHandles: {
    question: "gateway drops connections under load",
    cause: "too many open files: the limit of file descriptors of gateway is 1024",
    fix: "Raise LimitNOFILE of gateway",
    asked: [
      "EMFILE: too many open files",
      "gateway runs out of file descriptors",
      "accept failed on the gateway at peak time",
      "ulimit is too low",
    ],
  },
};
