import type { Asker } from "../../src/tools/tool.ts";

/** Ana, in a public thread. */
export const ASKER: Asker = {
  key: "test:thread",
  call: "r1.t1",
  account: "test:ana",
  person: "ana",
  name: "ana",
  timezone: async () => "UTC",
  audience: async () => undefined,
  tenants: async () => ["test"],
  outside: async () => false,
  link: undefined,
};
