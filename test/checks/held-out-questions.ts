import type { Asked } from "./plain-questions.ts";

/** Written before the matching was changed, and not looked at while it was: what the others were tuned for is measured by these. */

export const HELD_OUT_QUESTIONS: readonly Asked[] = [
  ["status.example.invalid unreachable?", "http_check url=https://status.example.invalid"],
  ["is www.example.invalid alive", "http_check url=https://www.example.invalid"],
  ["does https://auth.example.invalid answer", "http_check url=https://auth.example.invalid"],
  ["telnet redis-1:6379 works?", "tcp_check host=redis-1 port=6379"],
  ["can we connect to 10.1.2.3 on port 22", "tcp_check host=10.1.2.3 port=22"],
  ["nslookup api.example.invalid", "dns_lookup name=api.example.invalid"],
  ["ssl cert for www.example.invalid still valid?", "http_check url=https://www.example.invalid"],
  ["is docker running", "docker_diagnose"],
  ["postfix down?", "service_status name=postfix"],
  ["why is apache2 failing", "service_status name=apache2"],
  ["is / full", "disk_usage"],
  ["out of inodes?", "disk_usage"],
  ["who uses the most memory", "host_processes sort=memory"],
  ["cpu usage", "host_overview"],
  ["anything deployed since this morning?", "what_changed"],
  ["what was changed in the last 2 hours", "what_changed since=2h"],
  ["pods in ns payments not starting", "kubernetes_diagnose namespace=payments"],
  ["any crashlooping pods", "kubernetes_diagnose"],
  ["is a node notready", "kubernetes_diagnose"],
  ["redis memory?", "redis_diagnose"],
  ["who holds locks in postgres", "postgres_diagnose"],
  ["is the api slow again", "prometheus_alerts"],
  ["last errors of checkout", "search_host_logs"],
  ["kubernets pods pendng", "kubernetes_diagnose"],
  ["ist der Server überlastet", "host_overview"],
  ["no funciona shop.example.invalid", "http_check url=https://shop.example.invalid"],
];

export const HELD_OUT_NO_QUESTIONS: readonly string[] = [
  "cheers mate",
  "book a table for six",
  "who wrote this runbook?",
  "what's for lunch",
  "deploy the new version to production",
  "sing me a song about certificates",
  "how does dns work",
  "kill the long query",
  "see you tomorrow",
  "muchas gracias",
  "is the coffee machine free",
  "what is your name",
];
