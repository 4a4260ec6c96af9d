import * as z from "zod";
import { fromEnv } from "../../core/settings.ts";
import type { Credential, Endpoint } from "../http.ts";
import {
  endpointsOf,
  instanceSettings,
  type InstanceSettings,
  ONLY,
  tenantName,
  variablesIn,
} from "../instances.ts";
import { defineIntegration } from "../integration.ts";
import type { LogServer } from "./source.ts";

const loki = instanceSettings({
  name: "loki",
  title: "Grafana Loki",
  prefix: "LOKI",
  tenants: true,
});
const elasticsearch = instanceSettings({
  name: "elasticsearch",
  title: "Elasticsearch or OpenSearch",
  prefix: "ELASTICSEARCH",
  token: "An API key in its encoded form",
});
const victorialogs = instanceSettings({
  name: "victorialogs",
  title: "VictoriaLogs",
  prefix: "VICTORIALOGS",
});

const settings = z.object({
  lokiUrl: loki.url,
  lokiToken: loki.token,
  lokiUser: loki.user,
  lokiPassword: loki.password,
  lokiTenant: fromEnv("LOKI_TENANT", tenantName.optional(), "The tenant, where Loki has several."),
  lokiNamed: loki.named,
  elasticsearchUrl: elasticsearch.url,
  elasticsearchToken: elasticsearch.token,
  elasticsearchUser: elasticsearch.user,
  elasticsearchPassword: elasticsearch.password,
  elasticsearchNamed: elasticsearch.named,
  victorialogsUrl: victorialogs.url,
  victorialogsToken: victorialogs.token,
  victorialogsUser: victorialogs.user,
  victorialogsPassword: victorialogs.password,
  victorialogsNamed: victorialogs.named,
});
type Settings = z.infer<typeof settings>;

interface LogSystem extends Pick<LogServer, "system" | "title"> {
  prefix: string;
  tenant?: string | undefined;
  credential?: (token: string) => Credential;
  /** As `instances.ts` reads them. */
  own: InstanceSettings;
}

function systemsIn(all: Settings): LogSystem[] {
  return [
    {
      system: "loki",
      title: "Loki",
      prefix: "LOKI",
      tenant: all.lokiTenant,
      own: {
        url: all.lokiUrl,
        token: all.lokiToken,
        user: all.lokiUser,
        password: all.lokiPassword,
        named: all.lokiNamed,
      },
    },
    {
      system: "elasticsearch",
      title: "Elasticsearch",
      prefix: "ELASTICSEARCH",
      credential: apiKey,
      own: {
        url: all.elasticsearchUrl,
        token: all.elasticsearchToken,
        user: all.elasticsearchUser,
        password: all.elasticsearchPassword,
        named: all.elasticsearchNamed,
      },
    },
    {
      system: "victorialogs",
      title: "VictoriaLogs",
      prefix: "VICTORIALOGS",
      own: {
        url: all.victorialogsUrl,
        token: all.victorialogsToken,
        user: all.victorialogsUser,
        password: all.victorialogsPassword,
        named: all.victorialogsNamed,
      },
    },
  ];
}

function apiKey(secret: string): Credential {
  return { kind: "header", name: "authorization", secret: `ApiKey ${secret}` };
}

interface Servers {
  servers: LogServer[];
  endpoints: Record<string, Endpoint>;
}

/** `loki`, or `loki-prod` for one that the yaml names so. */
function serversIn(all: Settings, variable: (name: string) => string): Servers {
  const found: Servers = { servers: [], endpoints: {} };
  for (const { system, title, prefix, tenant, credential, own } of systemsIn(all)) {
    for (const [key, endpoint] of Object.entries(endpointsOf(own, variable, credential))) {
      const isOnly = key === ONLY;
      const name = isOnly ? system : `${system}-${key}`;
      found.servers.push({
        system,
        title,
        name,
        prefix: isOnly ? prefix : undefined,
        tenant: isOnly ? tenant : own.named[key]?.tenant,
      });
      found.endpoints[name] = endpoint;
    }
  }
  return found;
}

/** Servers that hold logs. What stands on this machine itself is the host's to read. */
export const logs = defineIntegration<Settings>({
  name: "logs",
  settings,
  variables: (all) => systemsIn(all).flatMap(({ own }) => variablesIn(own)),
  unavailable: (all) =>
    serversIn(all, () => "").servers.length === 0
      ? "LOKI_URL, ELASTICSEARCH_URL and VICTORIALOGS_URL are not set, and integrations names no server of logs"
      : undefined,
  async tools(all, { variable }) {
    const { createSearchLogs } = await import("./search-logs.ts");
    const { servers, endpoints } = serversIn(all, variable);
    return [createSearchLogs(servers, endpoints)];
  },
  proofs: (all) => {
    const { servers } = serversIn(all, () => "");
    return servers.map(({ name }) => ({
      subject: name,
      tool: "search_logs",
      args: { since: "5m", lines: 1, ...(servers.length > 1 && { source: name }) },
    }));
  },
});
