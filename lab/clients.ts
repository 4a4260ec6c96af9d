import pg from "pg";

/** What the sessions of faults call themselves. */
export const FAULTY_NAME = "lab-fault";

/** A connection to the lab's PostgreSQL, which trusts everybody. */
export async function openPostgres(
  port: number,
  user: string,
  { database = "shop", name = "lab" }: { database?: string; name?: string } = {},
): Promise<pg.Client> {
  const client = new pg.Client({
    host: "127.0.0.1",
    port,
    user,
    database,
    application_name: name,
    connectionTimeoutMillis: 5_000,
  });
  client.on("error", () => {});
  await client.connect();
  return client;
}
