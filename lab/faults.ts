import type { Fault } from "./part.ts";
import { DATABASE_FAULTS } from "./faults/databases.ts";
import { KUBERNETES_FAULTS } from "./faults/kubernetes.ts";
import { MACHINE_FAULTS } from "./faults/machine.ts";
import { SHOP_FAULTS } from "./faults/shop.ts";

/** What can go wrong in the lab, over all its systems. */
export const FAULTS: readonly Fault[] = [
  ...SHOP_FAULTS,
  ...DATABASE_FAULTS,
  ...MACHINE_FAULTS,
  ...KUBERNETES_FAULTS,
];
