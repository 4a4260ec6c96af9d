import http from "node:http";
import pg from "pg";

/** The lab's shop. What is wrong with it is told to it: POST /fault?latencyMs=…&errors=…&memoryMb=… */

const { PORT = "0", POSTGRES_PORT = "5432", VERSION = "v1" } = process.env;
const pool = new pg.Pool({
  host: "127.0.0.1",
  port: Number(POSTGRES_PORT),
  user: "shop",
  database: "shop",
  max: 5,
  connectionTimeoutMillis: 2_000,
});
pool.on("error", () => {});

const fault = { latencyMs: 0, errors: 0, held: [] as Buffer[] };
const counts = new Map<string, number>();
let [seconds, requests] = [0, 0];

function log(level: string, text: string): void {
  process.stdout.write(`${new Date().toISOString()} ${level} shop ${text}\n`);
}

async function order(): Promise<{ status: number; text: string }> {
  if (Math.random() < fault.errors) {
    log(
      "ERROR",
      `checkout failed: TypeError: Cannot read properties of undefined (reading 'price') at checkout (${VERSION})`,
    );
    return { status: 500, text: "checkout failed" };
  }
  try {
    const { rows } = await pool.query("SELECT count(*) AS n FROM orders WHERE id > 199990");
    return { status: 200, text: `${rows[0].n} orders` };
  } catch (error) {
    log("ERROR", `database: ${error instanceof Error ? error.message : String(error)}`);
    return { status: 503, text: "database unavailable" };
  }
}

function metrics(): string {
  const lines = [...counts].map(
    ([code, n]) => `shop_requests_total{code="${code}",version="${VERSION}"} ${n}`,
  );
  return [
    "# TYPE shop_requests_total counter",
    ...lines,
    "# TYPE shop_request_seconds summary",
    `shop_request_seconds_sum ${seconds}`,
    `shop_request_seconds_count ${requests}`,
    "# TYPE process_resident_memory_bytes gauge",
    `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
    "# TYPE shop_build_info gauge",
    `shop_build_info{version="${VERSION}"} 1`,
    "",
  ].join("\n");
}

function setFault(query: URLSearchParams): void {
  fault.latencyMs = Number(query.get("latencyMs") ?? fault.latencyMs);
  fault.errors = Number(query.get("errors") ?? fault.errors);
  const memoryMb = query.get("memoryMb");
  // Bounded: the lab's machine is other people's too.
  if (memoryMb !== null)
    fault.held = [Buffer.alloc(Math.min(Number(memoryMb), 512) * 1024 * 1024, 1)];
}

async function answer(response: http.ServerResponse): Promise<void> {
  const began = performance.now();
  await new Promise((resolve) => setTimeout(resolve, fault.latencyMs));
  const { status, text } = await order();
  counts.set(String(status), (counts.get(String(status)) ?? 0) + 1);
  seconds += (performance.now() - began) / 1_000;
  requests += 1;
  response.writeHead(status).end(text);
}

/** What an operator may look at and set: the shipped packs are written for it. */
const settings: Record<string, unknown> = { workers: 4, checkout: "on" };

async function orders(state: string | null): Promise<string> {
  const { rows } = await pool.query(
    "SELECT state, count(*)::int AS count, min(id)::text AS oldest FROM orders WHERE $1::text IS NULL OR state = $1 GROUP BY state ORDER BY oldest",
    [state],
  );
  return JSON.stringify({ orders: rows });
}

async function admin(url: URL, request: http.IncomingMessage, response: http.ServerResponse) {
  try {
    if (url.pathname === "/admin/orders") {
      response.end(await orders(url.searchParams.get("state")));
      return;
    }
    const body = (await request.toArray()).join("");
    if (request.method === "PUT") Object.assign(settings, JSON.parse(body));
    response.end(JSON.stringify(settings));
  } catch (error) {
    response.writeHead(500).end(error instanceof Error ? error.message : String(error));
  }
}

http
  .createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://shop");
    if (url.pathname === "/metrics") response.end(metrics());
    else if (url.pathname.startsWith("/admin/")) void admin(url, request, response);
    else if (url.pathname === "/healthz") response.end("ok");
    else if (url.pathname === "/fault" && request.method === "POST") {
      setFault(url.searchParams);
      response.end("ok");
    } else void answer(response);
  })
  .listen(Number(PORT), "127.0.0.1", () => log("INFO", `${VERSION} listens on ${PORT}`));
