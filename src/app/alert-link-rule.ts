import type { Config } from "../config/config.ts";
import { createLinkRule, type LinkRule } from "../core/links.ts";
import { settingsOf } from "../core/settings.ts";
import { alertmanager } from "../tools/alertmanager/integration.ts";
import { grafana } from "../tools/grafana/integration.ts";
import type { InstanceSettings } from "../tools/instances.ts";
import { prometheus } from "../tools/prometheus/integration.ts";

/**
 * Which addresses that an alert names may be clicked on its message: `links.allow`, and hosts of the monitoring that the configuration
 * names. A monitoring system wrote them, and they lead to the operators' own servers, which learn nothing from a click that they
 * do not know. No rule for what a model writes: that may carry anything it read.
 */
export function alertLinkRule({ links, values }: Pick<Config, "links" | "values">): LinkRule {
  const systems: InstanceSettings[] = [
    settingsOf(prometheus, values),
    settingsOf(grafana, values),
    settingsOf(alertmanager, values),
  ];
  const hosts = systems.flatMap(({ url, named }) =>
    [url, ...Object.values(named).map((each) => each.url)].flatMap((each) => hostOf(each) ?? []),
  );
  return createLinkRule([...links.allow, ...hosts]);
}

function hostOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : URL.parse(url)?.host;
}
