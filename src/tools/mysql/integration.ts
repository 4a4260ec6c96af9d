import { type DatabaseSystem, databaseSettings, databaseWords, serversIn } from "../databases.ts";
import { defineIntegration } from "../integration.ts";

const MYSQL: DatabaseSystem = {
  name: "mysql",
  prefix: "MYSQL",
  protocols: ["mysql:", "mariadb:"],
  tls: {
    parameter: "ssl-mode",
    values: {
      DISABLED: "off",
      PREFERRED: "unverified",
      REQUIRED: "unverified",
      VERIFY_CA: "verified",
      VERIFY_IDENTITY: "verified",
    },
  },
  defaults: { user: "root", database: "" },
  about: {
    url: "A MySQL or MariaDB to look at, `mysql://user:password@host:3306/database`. Its user needs `PROCESS`.",
    admin:
      "The same server with a user that has `CONNECTION ADMIN`: for ending sessions, and for looking when no other user gets a connection.",
  },
};

/** MySQL 8.0.22 and newer, MariaDB 10.5 and newer: who does what, who waits for whom, what is slow, what grows. */
export const mysql = defineIntegration({
  name: "mysql",
  settings: databaseSettings(MYSQL),
  ...databaseWords(MYSQL),
  async tools(settings, { variable }) {
    const { readers, admins } = serversIn(MYSQL, settings, variable);
    const { createTools } = await import("./tools.ts");
    return createTools(readers, admins);
  },
});
