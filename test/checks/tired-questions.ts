import type { Asked } from "./plain-questions.ts";

/**
 * Twenty lines as somebody types them at three in the morning, with no model: half a command, half a sentence, a habit from a shell.
 * Each with the call that answers it, or `says:` and what the bot has to say in place of a call. Written before the program was changed for them.
 */
export const TIRED_QUESTIONS: readonly Asked[] = [
  ["what incidents are open", "incident_search status=open"],
  ["any incidents open rn?", "incident_search status=open"],
  ["show me open incidents pls", "incident_search status=open"],
  ["have we had this disk incident before", "incident_search"],
  ["list alerts", "prometheus_alerts"],
  ["whats alerting", "prometheus_alerts"],
  ["anything firing?", "prometheus_alerts"],
  ["is 6379 open on cache-1", "tcp_check host=cache-1 port=6379"],
  ["port 443 on shop.example.invalid?", "tcp_check host=shop.example.invalid port=443"],
  ["nc -zv db-1 5432", "tcp_check host=db-1 port=5432"],
  [
    "curl -I https://shop.example.invalid/health",
    "http_check url=https://shop.example.invalid/health",
  ],
  ["is java still running", "host_processes"],
  ["is there a python process", "host_processes"],
  ["kubectl get pods -n shop", "kubernetes_get kind=pods namespace=shop"],
  ["kubectl get nodes", "kubernetes_get kind=nodes"],
  ["systemctl status nginx", "service_status name=nginx"],
  ["journalctl -u nginx", "search_host_logs unit=nginx"],
  ["restart checkout", "says:run restart_service"],
  [
    "incidnt open checkout is down",
    "says:Did you mean `incident open checkout is down`? I did nothing.",
  ],
  ["pods not ready in prod", "kubernetes_diagnose"],
];
