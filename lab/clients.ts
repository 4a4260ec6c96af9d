import pg from "pg";

/** A connection to the lab's PostgreSQL, which trusts everybody. */
export async function openPostgres(
  port: number,
  user: string,
  database = "shop",
): Promise<pg.Client> {
  const client = new pg.Client({
    host: "127.0.0.1",
    port,
    user,
    database,
    connectionTimeoutMillis: 5_000,
  });
  client.on("error", () => {});
  await client.connect();
  return client;
}
