import { type DatabaseSystem, databaseSettings, databaseWords, serversIn } from "../databases.ts";
import { defineIntegration } from "../integration.ts";

const POSTGRES: DatabaseSystem = {
  name: "postgres",
  prefix: "POSTGRES",
  protocols: ["postgres:", "postgresql:"],
  tls: {
    parameter: "sslmode",
    values: {
      disable: "off",
      allow: "unverified",
      prefer: "unverified",
      require: "unverified",
      "no-verify": "unverified",
      "verify-ca": "verified",
      "verify-full": "verified",
    },
  },
  defaults: { user: "postgres", database: "postgres" },
  about: {
    url: "A PostgreSQL to look at, `postgres://user:password@host:5432/database`. Its role needs `pg_monitor`.",
    admin:
      "The same server with a role that has `pg_signal_backend`: for ending sessions, and for looking when no other role gets a connection.",
  },
};

/** PostgreSQL 12 and newer: who does what, who waits for whom, what is slow, what grows. */
export const postgres = defineIntegration({
  name: "postgres",
  settings: databaseSettings(POSTGRES),
  ...databaseWords(POSTGRES),
  async tools(settings, { variable }) {
    const { readers, admins } = serversIn(POSTGRES, settings, variable);
    const { createTools } = await import("./tools.ts");
    return createTools(readers, admins);
  },
});
