import type { DatabaseParts } from "../databases.ts";
import type { Tool } from "../tool.ts";
import { createDiagnose } from "./diagnose.ts";
import { createEndSession } from "./end-session.ts";
import { createQuery } from "./query.ts";
import { createStatements } from "./statements.ts";
import { createTables } from "./tables.ts";

/** Every tool of MySQL and MariaDB. Sessions are ended on `admins` alone. */
export function createTools(readers: DatabaseParts, admins: DatabaseParts): readonly Tool[] {
  return [
    createDiagnose(readers, admins),
    createStatements(readers),
    createTables(readers),
    createQuery(readers),
    ...(Object.keys(admins.databases).length > 0 ? [createEndSession(admins)] : []),
  ];
}
