import { FAULTY_NAME, openPostgres } from "./clients.ts";

/**
 * Sessions with the lab's PostgreSQL, one a query, that stay open: `node lab/sessions.ts <port> <query…>`.
 * The second begins once the first query of several is answered, so that it holds what the others wait for.
 */

const [port = "0", ...queries] = process.argv.slice(2);
const { SESSIONS_USER: user = "postgres", SESSIONS_NAME: name = FAULTY_NAME } = process.env;
for (const [index, query] of queries.entries()) {
  const client = await openPostgres(Number(port), user, { name }).catch(() => undefined);
  // The server has no room for more.
  if (client === undefined) break;
  // One that waits for another's lock answers when that is gone.
  const answered = client.query(query).catch(() => {});
  if (index === 0 && queries.length > 1) await answered;
}
setInterval(() => {}, 60_000);
