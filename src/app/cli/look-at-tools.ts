import type { Config } from "../../config/config.ts";
import { createNetwork, type Network } from "../../net/dial.ts";
import type { Secrets } from "../../team/secrets.ts";
import { createLaunch } from "../../tools/process.ts";
import { loadToolset, type Toolset } from "../toolset.ts";
import { storedForms, storedSecrets } from "./stored-team.ts";

interface Looked {
  toolset: Toolset;
  network: Network;
  secrets: Secrets;
}

/** The tools of a configuration that nothing is served with: `look` reads them, and what they opened is closed behind it. */
export async function* lookAtTools<T>(
  config: Config,
  look: (looked: Looked) => AsyncIterable<T>,
): AsyncIterable<T> {
  const network = createNetwork({ allow: [], local: false });
  const ending = new AbortController();
  const [forms, secrets] = [storedForms(config), storedSecrets(config)];
  const toolset = await loadToolset(config, {
    forms: () => forms,
    secrets: () => secrets,
    launch: createLaunch(),
    network: () => network,
    stopped: ending.signal,
  });
  try {
    yield* look({ toolset, network, secrets });
  } finally {
    await Promise.all(toolset.live.map(async (each) => each.close?.()));
    ending.abort();
  }
}
