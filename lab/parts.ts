import { install } from "../test/install.ts";
import type { Part } from "./part.ts";
import { containers } from "./parts/containers.ts";
import { mariadb, postgres, redis } from "./parts/databases.ts";
import { kubernetes } from "./parts/kubernetes.ts";
import { metrics } from "./parts/metrics.ts";
import { rabbitmq } from "./parts/queues.ts";
import { shop } from "./parts/shop.ts";

/** In the order in which they need each other. */
export const PARTS: readonly Part[] = [
  postgres,
  mariadb,
  redis,
  rabbitmq,
  shop,
  metrics,
  containers,
  kubernetes,
];

export function installParts(parts: readonly Part[]): void {
  install(Object.assign({}, ...parts.map(({ packages }) => packages)));
}
