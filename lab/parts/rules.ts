/** The lab's alerting rules: the shop's own, and those that a Prometheus usually has beside them. */

/** What has to hold, for how long, how grave it is, and what is said then. */
type Rule = readonly [name: string, expr: string, holds: string, severity: string, summary: string];

const HERE = "{{ $labels.instance }}";
const ERRORS = 'sum by (version) (rate(shop_requests_total{code=~"5.."}[20s]))';

const SHOP: readonly Rule[] = [
  ["TargetDown", "up == 0", "2s", "critical", `{{ $labels.job }} on ${HERE} does not answer`],
  [
    "ShopErrors",
    `${ERRORS} / sum by (version) (rate(shop_requests_total[20s])) > 0.1`,
    "2s",
    "critical",
    "More than a tenth of the shop's requests fail: version {{ $labels.version }}",
  ],
  [
    "ShopSlow",
    "rate(shop_request_seconds_sum[20s]) / rate(shop_request_seconds_count[20s]) > 1",
    "2s",
    "warning",
    "The shop takes more than a second for a request",
  ],
  [
    "ShopMemory",
    'process_resident_memory_bytes{job="shop"} > 3e8',
    "2s",
    "warning",
    "The shop uses more than 300 MB",
  ],
  ["WebDown", "probe_success == 0", "2s", "critical", `${HERE} is down for its users`],
];

const DISK = 'fstype!~"tmpfs|overlay|squashfs|ramfs"';

const MACHINES: readonly Rule[] = [
  [
    "NodeFilesystemAlmostOutOfSpace",
    `node_filesystem_avail_bytes{${DISK}} / node_filesystem_size_bytes{${DISK}} * 100 < 3 and node_filesystem_readonly{${DISK}} == 0`,
    "30m",
    "critical",
    `A filesystem of ${HERE} has less than 3 % of its space left`,
  ],
  [
    "NodeFilesystemSpaceFillingUp",
    `node_filesystem_avail_bytes{${DISK}} / node_filesystem_size_bytes{${DISK}} * 100 < 15 and predict_linear(node_filesystem_avail_bytes{${DISK}}[6h], 4 * 60 * 60) < 0`,
    "1h",
    "warning",
    `A filesystem of ${HERE} is full within 4 hours`,
  ],
  [
    "NodeFilesystemAlmostOutOfFiles",
    `node_filesystem_files_free{${DISK}} / node_filesystem_files{${DISK}} * 100 < 3`,
    "1h",
    "critical",
    `A filesystem of ${HERE} has less than 3 % of its inodes left`,
  ],
  [
    "NodeNetworkReceiveErrs",
    "rate(node_network_receive_errs_total[2m]) / rate(node_network_receive_packets_total[2m]) > 0.01",
    "1h",
    "warning",
    `An interface of ${HERE} reports many receive errors`,
  ],
  [
    "NodeNetworkTransmitErrs",
    "rate(node_network_transmit_errs_total[2m]) / rate(node_network_transmit_packets_total[2m]) > 0.01",
    "1h",
    "warning",
    `An interface of ${HERE} reports many transmit errors`,
  ],
  [
    "NodeHighNumberConntrackEntriesUsed",
    "node_nf_conntrack_entries / node_nf_conntrack_entries_limit > 0.75",
    "10m",
    "warning",
    `${HERE} uses more than 75 % of its conntrack entries`,
  ],
  [
    "NodeMemoryHighUtilization",
    "100 - node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes * 100 > 95",
    "15m",
    "warning",
    `${HERE} uses more than 95 % of its memory`,
  ],
  [
    "NodeMemoryMajorPagesFaults",
    "rate(node_vmstat_pgmajfault[5m]) > 500",
    "15m",
    "warning",
    `${HERE} reads memory back from disk all the time`,
  ],
  [
    "NodeSystemSaturation",
    "node_load1 / count without (cpu, mode) (node_cpu_seconds_total{mode='idle'}) > 20",
    "15m",
    "warning",
    `${HERE} has more work than its cores take`,
  ],
  [
    "NodeFileDescriptorLimit",
    "node_filefd_allocated * 100 / node_filefd_maximum > 90",
    "15m",
    "critical",
    `${HERE} opens the last of its file descriptors`,
  ],
  [
    "NodeDiskIOSaturation",
    "rate(node_disk_io_time_weighted_seconds_total[5m]) > 20",
    "30m",
    "warning",
    `A disk of ${HERE} has a long queue`,
  ],
  [
    "NodeClockSkewDetected",
    "abs(node_timex_offset_seconds) > 0.5",
    "10m",
    "warning",
    `The clock of ${HERE} is off`,
  ],
  [
    "NodeRAIDDiskFailure",
    'node_md_disks{state="failed"} > 0',
    "1m",
    "warning",
    `An array of ${HERE} lost a disk`,
  ],
  [
    "NodeSystemdServiceFailed",
    'node_systemd_unit_state{state="failed"} == 1',
    "5m",
    "warning",
    `A unit of ${HERE} failed`,
  ],
];

const MONITORING: readonly Rule[] = [
  [
    "PrometheusBadConfig",
    "max_over_time(prometheus_config_last_reload_successful[5m]) == 0",
    "10m",
    "critical",
    "Prometheus could not reload its configuration",
  ],
  [
    "PrometheusRuleFailures",
    "increase(prometheus_rule_evaluation_failures_total[5m]) > 0",
    "15m",
    "critical",
    "Prometheus cannot evaluate some of its rules",
  ],
  [
    "PrometheusNotificationQueueRunningFull",
    "predict_linear(prometheus_notifications_queue_length[5m], 60 * 30) > min_over_time(prometheus_notifications_queue_capacity[5m])",
    "15m",
    "warning",
    "Prometheus will lose alerts within 30 min",
  ],
  [
    "PrometheusNotIngestingSamples",
    "sum by (instance) (rate(prometheus_tsdb_head_samples_appended_total[5m])) <= 0",
    "10m",
    "warning",
    "Prometheus takes no samples in",
  ],
  [
    "PrometheusDuplicateTimestamps",
    "rate(prometheus_target_scrapes_sample_duplicate_timestamp_total[5m]) > 0",
    "10m",
    "warning",
    "Prometheus drops samples with timestamps that it has already",
  ],
  [
    "PrometheusTSDBCompactionsFailing",
    "increase(prometheus_tsdb_compactions_failed_total[3h]) > 0",
    "4h",
    "warning",
    "Prometheus cannot compact its blocks",
  ],
  [
    "PrometheusErrorSendingAlerts",
    "rate(prometheus_notifications_errors_total[5m]) / rate(prometheus_notifications_sent_total[5m]) * 100 > 3",
    "15m",
    "critical",
    "Prometheus cannot send some alerts to an Alertmanager",
  ],
  [
    "PrometheusTargetLimitHit",
    "increase(prometheus_target_scrape_pool_exceeded_target_limit_total[5m]) > 0",
    "15m",
    "warning",
    "Prometheus leaves targets out, as there are too many",
  ],
];

const POSTGRES: readonly Rule[] = [
  [
    "PostgresTooManyConnections",
    "sum by (instance) (pg_stat_activity_count) > 0.97 * max by (instance) (pg_settings_max_connections)",
    "5m",
    "critical",
    `PostgreSQL on ${HERE} has hardly a connection left`,
  ],
  [
    "PostgresReplicationLag",
    "pg_replication_lag > 300",
    "5m",
    "warning",
    `A replica on ${HERE} is 5 min behind`,
  ],
  [
    "PostgresDeadLocks",
    "increase(pg_stat_database_deadlocks[5m]) > 5",
    "5m",
    "warning",
    `Transactions on ${HERE} wait for each other`,
  ],
  [
    "PostgresHighRollbackRate",
    "rate(pg_stat_database_xact_rollback[5m]) > 0.5 * rate(pg_stat_database_xact_commit[5m]) > 5",
    "5m",
    "warning",
    `Half of the transactions on ${HERE} are rolled back`,
  ],
];

/** JSON is YAML. */
export const RULES = JSON.stringify({
  groups: Object.entries({
    shop: SHOP,
    machines: MACHINES,
    monitoring: MONITORING,
    postgres: POSTGRES,
  }).map(([name, rules]) => ({ name, rules: rules.map((rule) => ruleOf(name, rule)) })),
});

function ruleOf(group: string, [alert, expr, holds, severity, summary]: Rule): object {
  const labels = {
    severity,
    ...(group === "shop" && alert !== "TargetDown" && { service: "shop" }),
  };
  return { alert, expr, for: holds, labels, annotations: { summary } };
}
