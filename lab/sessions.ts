import { FAULTY_NAME, openPostgres } from "./clients.ts";

/** Sessions with the lab's PostgreSQL, one a query, that stay open: `node lab/sessions.ts <port> <query…>` */

const [port = "0", ...queries] = process.argv.slice(2);
const { SESSIONS_USER: user = "postgres", SESSIONS_NAME: name = FAULTY_NAME } = process.env;
for (const query of queries) {
  const client = await openPostgres(Number(port), user, { name }).catch(() => undefined);
  // The server has no room for more.
  if (client === undefined) break;
  // One that waits for another's lock answers when that is gone.
  client.query(query).catch(() => {});
}
setInterval(() => {}, 60_000);
