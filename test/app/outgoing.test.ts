import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { examineOutgoing } from "../../src/app/cli/examine-outgoing.ts";
import { connectAsConfigured } from "../../src/app/outgoing.ts";
import { loadConfig } from "../../src/config/config.ts";

const AUTHORITY = fileURLToPath(new URL("../net/certificates/authority.pem", import.meta.url));

async function fileWith(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "outgoing-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "file"), text);
  return join(folder, "file");
}

test("doctor names the proxies without their passwords, what goes past them, and the authorities", async () => {
  const config = await loadConfig({
    https_proxy: "http://ana:s3cret-word@proxy.test:3128",
    HTTP_PROXY: "https://plain.test",
    NO_PROXY: ".svc,10.0.0.0/8",
    NODE_EXTRA_CA_CERTS: AUTHORITY,
  });
  const past = "it is not used for this machine, .svc, 10.0.0.0/8";
  expect([...examineOutgoing(config)].map(({ state, text }) => `${state}: ${text}`)).toEqual([
    `ok: HTTPS_PROXY is proxy.test:3128, with a name and a password; ${past}`,
    `ok: HTTP_PROXY is plain.test:443 by TLS; ${past}`,
    "ok: 1 certificate of NODE_EXTRA_CA_CERTS is trusted besides the usual ones",
  ]);
  expect(config.secrets.map(({ value }) => value)).toContain("s3cret-word");
  expect([...examineOutgoing(await loadConfig({}))]).toEqual([]);
});

test("a proxy from a file reaches every client by the environment, and what is no proxy is refused at the start", async () => {
  const path = await fileWith("http://proxy.test:3128\n");
  const env = {};
  await connectAsConfigured(await loadConfig({ HTTPS_PROXY_FILE: path }), undefined, env);
  expect(env).toEqual({ HTTPS_PROXY: "http://proxy.test:3128" });
  await expect(loadConfig({ HTTPS_PROXY: "socks5://ana:word@proxy.test" })).rejects.toThrow(
    /^The configuration has a mistake:\n- HTTPS_PROXY: .*expected an HTTP proxy such as [^\n]*$/,
  );
});

test("authorities that came after Node started, as by .env, are trusted too; those that cannot be read end a start", async () => {
  const usual = tls.getCACertificates("default");
  onTestFinished(() => tls.setDefaultCACertificates(usual));
  const given = await loadConfig({ NODE_EXTRA_CA_CERTS: AUTHORITY });
  const prints = (all: string[]) =>
    new Set(all.map((each) => new X509Certificate(each).fingerprint));
  const trusted = () => prints(tls.getCACertificates("default"));
  const [ours = ""] = prints([readFileSync(AUTHORITY, "utf8")]);
  await connectAsConfigured(given, AUTHORITY, {});
  expect(trusted()).not.toContain(ours);
  await connectAsConfigured(given, undefined, {});
  expect(trusted()).toEqual(prints(usual).add(ours));
  const broken = await fileWith("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  const cut = await loadConfig({ NODE_EXTRA_CA_CERTS: broken });
  await expect(connectAsConfigured(cut, undefined, {})).rejects.toThrow(/^NODE_EXTRA_CA_CERTS: /);
  for (const path of [await fileWith("no certificate"), "/nowhere/at/all.pem"]) {
    const config = await loadConfig({ NODE_EXTRA_CA_CERTS: path });
    await expect(connectAsConfigured(config, path, {})).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/^NODE_EXTRA_CA_CERTS: expected the path of a file/),
    });
    expect([...examineOutgoing(config)]).toMatchObject([{ state: "broken" }]);
  }
});
