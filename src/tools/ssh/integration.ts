import * as z from "zod";
import { fromEnv } from "../../core/settings.ts";
import { listOf } from "../accounts.ts";
import { defineIntegration } from "../integration.ts";

const server = z
  .string()
  .regex(
    /^[A-Za-z0-9_](?:[\w.-]*[A-Za-z0-9_])?(?:@[A-Za-z0-9_](?:[\w.-]*[A-Za-z0-9_])?)?$/,
    "expected a name as ssh takes it, such as web1 or deploy@web1.example.com",
  );

/** Other machines, by the system's SSH client. */
export const ssh = defineIntegration({
  name: "ssh",
  settings: z.object({
    servers: fromEnv(
      "SSH_HOSTS",
      listOf(server, ""),
      "The machines that tools may reach over SSH, with commas between, as you name them to `ssh`: `web1, deploy@db1`. No others are.",
      { unset: "its tools are not offered" },
    ),
    config: fromEnv(
      "SSH_CONFIG",
      z.string().min(1).optional(),
      "A configuration file for the SSH client, in place of `~/.ssh/config` of the user that the program runs as.",
    ),
  }),
  unavailable: ({ servers }) =>
    servers.length === 0 ? "SSH_HOSTS is not set: no machine may be reached" : undefined,
  async tools({ servers, config }) {
    const { createSshTools } = await import("./tools.ts");
    return createSshTools(servers, { config });
  },
  proofs: ({ servers }) =>
    servers.map((each) => ({ subject: `ssh ${each}`, tool: "ssh_ports", args: { server: each } })),
});
