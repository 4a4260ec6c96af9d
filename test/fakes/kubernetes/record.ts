import { readFileSync, writeFileSync } from "node:fs";
import https from "node:https";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { comparable, type Exchange, EXCHANGES, type Recorded, SEEDS } from "./exchanges.ts";

/** Asks a real API server: `node test/fakes/kubernetes/record.ts <admin's kubeconfig>` writes `recorded.json`. */

export interface Server {
  origin: string;
  tokens: Readonly<Record<string, string>>;
}

export async function ask({ origin, tokens }: Server, exchange: Exchange): Promise<Recorded> {
  const { about, as = "admin", method = "GET", path, headers = {}, body } = exchange;
  const authorization = `Bearer ${tokens[as] ?? "nobody-knows-this-token"}`;
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const length = sent === undefined ? {} : { "content-length": Buffer.byteLength(sent) };
  const { status, type, text } = await new Promise<{ status: number; type: string; text: string }>(
    (resolve, reject) => {
      const request = https.request(
        `${origin}${path}`,
        {
          method,
          rejectUnauthorized: false,
          agent: false,
          headers: { authorization, ...length, ...headers },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const { statusCode = 0, headers: given } = response;
            resolve({
              status: statusCode,
              type: given["content-type"] ?? "",
              text: Buffer.concat(chunks).toString(),
            });
          });
        },
      );
      request.on("error", reject);
      request.end(sent);
    },
  );
  return {
    about,
    status,
    contentType: type,
    body: comparable(type.startsWith("application/json") ? JSON.parse(text) : text),
  };
}

export async function askAll(server: Server): Promise<Recorded[]> {
  const headers = { "content-type": "application/json" };
  for (const { path, body } of SEEDS) {
    const seed = { about: "seed", method: "POST", path, headers, body };
    // A new namespace takes pods once its service account is there.
    while ((await ask(server, seed)).status === 403) await delay(20);
  }
  const recorded: Recorded[] = [];
  for (const exchange of EXCHANGES) recorded.push(await ask(server, exchange));
  return recorded;
}

/** Of a lab's API server, from the folder of its kubeconfigs. */
export function labServer(kubeconfig: string): Server {
  const read = (user: string) =>
    readFileSync(join(dirname(kubeconfig), `${user}.kubeconfig`), "utf8");
  const tokenOf = (user: string) => /token: (\S+?)[}\s]/.exec(read(user))?.[1] ?? "";
  return {
    origin: /server: "([^"]+)"/.exec(read("admin"))?.[1] ?? "",
    tokens: { admin: tokenOf("admin"), reader: tokenOf("reader") },
  };
}

if (import.meta.main) {
  const recorded = await askAll(labServer(process.argv[2] ?? ""));
  writeFileSync(
    join(import.meta.dirname, "recorded.json"),
    `${JSON.stringify(recorded, undefined, 2)}\n`,
  );
}
