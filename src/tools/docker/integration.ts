import * as z from "zod";
import { fromEnv, fromYaml } from "../../core/settings.ts";
import type { Endpoint } from "../http.ts";
import { ONLY, pemFile, proofsOf } from "../instances.ts";
import { defineIntegration } from "../integration.ts";

const host = z
  .string()
  .trim()
  .regex(
    /^unix:\/\/\/.+$|^tcp:\/\/[^/?#@]+:\d+\/?$/,
    "expected unix:///var/run/docker.sock or tcp://docker.example.com:2376",
  );

const folder = z.string().min(1);

const server = z.strictObject({
  host: host.describe("`unix:///var/run/docker.sock` or `tcp://host:2376`."),
  ca: pemFile.optional().describe("A PEM file with the authority that signed its certificate."),
  cert: pemFile.optional().describe("A PEM file with our certificate."),
  key: pemFile.optional().describe("A PEM file with our key."),
});

const settings = z.object({
  host: fromEnv(
    "DOCKER_HOST",
    host.optional(),
    "A Docker Engine or podman, `unix:///var/run/docker.sock` or `tcp://host:2376`. Whoever reaches it is root on its machine.",
    { unset: "its tools are not offered" },
  ),
  verify: fromEnv("DOCKER_TLS_VERIFY", z.string().optional(), "Any value turns TLS on.", {
    unset: "plain HTTP, unless `DOCKER_CERT_PATH` is set",
  }),
  certificates: fromEnv(
    "DOCKER_CERT_PATH",
    folder.optional(),
    "A folder with `ca.pem`, `cert.pem` and `key.pem` for TLS.",
    { unset: "this machine's authorities" },
  ),
  named: fromYaml(
    "integrations.docker",
    z
      .record(
        z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, "expected a short name such as prod"),
        server,
      )
      .default({}),
    "Several of them: `<name>: { host, ca, cert, key }`; any of the files turns TLS on.",
  ),
});
type Settings = z.infer<typeof settings>;

/** Containers, by the Docker Engine API: Docker itself, and podman. */
export const docker = defineIntegration<Settings>({
  name: "docker",
  settings,
  unavailable: ({ host: one, named }) =>
    one === undefined && Object.keys(named).length === 0
      ? "DOCKER_HOST is not set, and integrations.docker names no engine"
      : undefined,
  async tools(given) {
    const { createTools } = await import("./tools.ts");
    return createTools(endpointsIn(given));
  },
  async changes(given) {
    const { changeSource } = await import("./changes.ts");
    return changeSource(endpointsIn(given));
  },
  proofs: ({ host: one, named }) =>
    proofsOf(
      "docker",
      { ...(one !== undefined && { [ONLY]: one }), ...named },
      { tool: "docker_containers", args: {} },
    ),
});

function endpointsIn({
  host: one,
  verify,
  certificates,
  named,
}: Settings): Record<string, Endpoint> {
  const own = certificates === undefined ? {} : filesIn(certificates);
  const isTls = verify !== undefined || certificates !== undefined;
  return {
    ...(one !== undefined && { [ONLY]: endpointOf(one, isTls ? own : undefined) }),
    ...Object.fromEntries(
      Object.entries(named).map(([name, { host: at, ca, cert, key }]) => {
        const terms = termsOf({ ca, cert, key });
        return [name, endpointOf(at, Object.keys(terms).length > 0 ? terms : undefined)];
      }),
    ),
  };
}

type Terms = NonNullable<Endpoint["tls"]>;

function termsOf({ ca, cert, key }: Record<"ca" | "cert" | "key", string | undefined>): Terms {
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}

/** As Docker's own client reads them; one that is missing is done without. */
function filesIn(path: string): Terms {
  const read = (name: string) => pemFile.safeParse(`${path}/${name}.pem`).data;
  return termsOf({ ca: read("ca"), cert: read("cert"), key: read("key") });
}

/** `tls` undefined: plain HTTP. */
function endpointOf(at: string, tls: Terms | undefined): Endpoint {
  if (at.startsWith("unix://"))
    return { url: "http://docker/", socketPath: at.slice("unix://".length) };
  const { host: place } = new URL(at);
  return tls === undefined ? { url: `http://${place}/` } : { url: `https://${place}/`, tls };
}
