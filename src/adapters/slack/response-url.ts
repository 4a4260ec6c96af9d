import { platformFetch } from "../shared/fetch.ts";

/** A person who has seen that it takes long waits no longer for a request that hangs. */
const RESPOND_MS = 5_000;

/** Answers an interaction by the address that Slack sent with it: good for five answers within 30 minutes. */
export async function respond(url: string, answer: object): Promise<void> {
  const response = await platformFetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(answer),
    redirect: "error",
    signal: AbortSignal.timeout(RESPOND_MS),
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
}
