/**
 * Two more questions for each of the labelled records, in the words of somebody who is on call and knows nothing of the record. They were
 * written in one go, without a look at what is found for them, and nothing is tuned to them: what was chosen on the first
 * set is checked here.
 */
export const SECOND: Readonly<Record<string, readonly [string, string]>> = {
  diskFull: [
    "web-1 cannot write any more, df shows 100%",
    "debug output of the shop eats all the space",
  ],
  certificate: [
    "the shop's https certificate ran out",
    "certbot did not renew, chrome shows NET::ERR_CERT_DATE_INVALID",
  ],
  oomKill: ["api containers die with OOMKilled", "kubernetes keeps restarting the api, reason 137"],
  dbConnections: [
    "remaining connection slots are reserved for superusers",
    "orders cannot get a database connection",
  ],
  dbLock: [
    "paying for an order never returns, a query waits on another one",
    "ALTER TABLE orders has been running for an hour and everything stands still",
  ],
  replication: ["the standby does not follow the primary", "numbers in reporting are a day old"],
  redisMemory: [
    "customers have to sign in again every few minutes",
    "evicted_keys of redis climbs",
  ],
  queue: [
    "order confirmations reach customers far too late",
    "one worker of the mail queue is stuck and the rest waits",
  ],
  deploy: ["payments returns errors since 2.31 went out", "pods read a column that was dropped"],
  dns: ["pods in shop cannot resolve names", "no such host errors everywhere, coredns restarts"],
  ingress: [
    "bad gateway on the main page, nginx says no live upstreams",
    "the service selector does not match the pods",
  ],
  nodeDown: ["a kubernetes worker is not ready", "pods cannot be scheduled, a kubelet is gone"],
  cpuThrottle: [
    "search becomes slow around midday",
    "container_cpu_cfs_throttled of search is high",
  ],
  timeSkew: [
    "people cannot log in, the token is not valid yet",
    "clocks of the auth servers differ by minutes",
  ],
  apiLimit: [
    "the parcel service rejects us with 429",
    "no shipping label comes out, we call the carrier too often",
  ],
  firewall: [
    "dumps of db-1 have not been stored since the network change",
    "cannot reach the backup host on port 8443",
  ],
  raid: ["a drive of the storage server died", "storage-1 waits for I/O all the time, md resyncs"],
  cron: [
    "accounting has no invoices from tonight",
    "a leftover lock keeps the scheduled task from starting",
  ],
  secret: [
    "pictures cannot be uploaded, S3 says forbidden",
    "the access key in the cluster is an old one",
  ],
  kafka: ["analytics lags behind, a broker was restarted", "a topic's partition lost its leader"],
  gc: ["the product catalog hangs in garbage collection", "OutOfMemoryError in catalog"],
  flag: [
    "the shopping cart is blank for everybody",
    "somebody enabled the new cart before the backend was ready",
  ],
  migration: [
    "rolling out users does not finish, a hook is waiting",
    "duplicate key value breaks the schema change of users",
  ],
  pullLimit: [
    "billing cannot start, the image is not pulled",
    "docker hub refuses anonymous downloads",
  ],
  fileHandles: [
    "the gateway rejects sockets when traffic is high",
    "open files limit of the gateway process is reached",
  ],
};
