import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createBackoff } from "../../../src/core/backoff.ts";
import { createNetwork } from "../../../src/net/dial.ts";
import { listenForRedirect } from "../../../src/net/redirect.ts";
import { createEncoder } from "../../../src/security/encoder.ts";
import { createSecretKeys } from "../../../src/team/secret-keys.ts";
import { createSecrets } from "../../../src/team/secrets.ts";
import { createToolForms } from "../../../src/team/tool-forms.ts";
import { createDispatcher } from "../../../src/tools/dispatch.ts";
import { openMcp } from "../../../src/tools/mcp/create.ts";
import { logIn, type LoginTerms } from "../../../src/tools/mcp/login.ts";
import { createLogins } from "../../../src/tools/mcp/login-record.ts";
import { httpServer } from "../../../src/tools/mcp/servers.ts";
import { serverSettings } from "../../../src/tools/mcp/settings.ts";
import { NOTHING_LENT } from "../../../src/tools/registry.ts";
import { createMemory } from "../../fakes/memory-journal.ts";
import { ASKER } from "../../fakes/asker.ts";
import { noWorld } from "../../fakes/tool-context.ts";
import { serveWithLogin } from "./authorization-server.ts";

const variable = (name: string) => `value-of-${name}`;
const network = () => createNetwork({ allow: [], local: true });

type Server = Awaited<ReturnType<typeof serveWithLogin>>;

/** A store, and processes that use it. */
async function store() {
  const folder = await mkdtemp(join(tmpdir(), "mcp-oauth-"));
  const memory = createMemory();
  const opened: { close(): Promise<void> }[] = [];
  onTestFinished(async () => {
    for (const each of opened) await each.close();
    await rm(folder, { recursive: true });
  });
  const openSecrets = async () => {
    const journal = memory.open();
    opened.push(journal);
    const file = join(folder, "key");
    const keys = createSecretKeys({ secret: undefined, older: undefined, file });
    return { journal, secrets: createSecrets(journal, keys) };
  };
  return openSecrets;
}

const settingsFor = ({ url, issuer }: Server, oauth: object = {}) =>
  serverSettings.parse({
    url,
    tools: { go: "read" },
    oauth: { servers: [issuer], port: 4000, ...oauth },
  });

/** Somebody logs in, as the command does. */
async function login(
  server: Server,
  openSecrets: Awaited<ReturnType<typeof store>>,
  more: Partial<LoginTerms> = {},
  oauth = {},
) {
  const { secrets } = await openSecrets();
  const { login: parts } = httpServer("web", settingsFor(server, oauth), {
    network,
    secrets: () => secrets,
    variable,
  });
  if (parts === undefined) throw new Error("there is no login");
  const asked: string[] = [];
  await logIn({
    ...parts,
    redirectUrl: "http://127.0.0.1:4000/callback",
    permit: async (origin) => (asked.push(origin), true),
    signIn: server.signIn,
    signal: AbortSignal.timeout(5_000),
    ...more,
  }).catch((error: Error) => {
    throw Object.assign(error, { asked });
  });
}

/** A process of the program, as far as this server goes. */
async function started(server: Server, openSecrets: Awaited<ReturnType<typeof store>>, oauth = {}) {
  const { journal, secrets } = await openSecrets();
  const forms = createToolForms(journal);
  const stopped = new AbortController();
  const live = openMcp(
    { web: settingsFor(server, oauth) },
    {
      ...NOTHING_LENT,
      forms: () => forms,
      secrets: () => secrets,
      network,
      variable,
      stopped: stopped.signal,
    },
    { seeMs: 2_000, waits: () => createBackoff(10, 10) },
  );
  onTestFinished(async () => {
    await live.close?.();
    stopped.abort();
  });
  await live.refresh([]);
  const encoder = createEncoder([]);
  const run = async (tool = "web_go") => {
    const dispatcher = createDispatcher({ ...noWorld, tools: live.tools, host: "here", encoder });
    const signal = AbortSignal.timeout(5_000);
    const { args } = await dispatcher.prepare(tool, {}, signal);
    return dispatcher.run(tool, args, {
      signal,
      startedAt: Date.now(),
      asker: ASKER,
      artifact: async () => new Uint8Array(),
      keep: async () => ({ id: "1", bytes: 1 }),
    });
  };
  return { live, run, secrets, journal };
}

describe("a server that wants a login", () => {
  test("says so until somebody logs in, which every process then uses, and no text of the store shows", async () => {
    const [server, openSecrets] = [await serveWithLogin(), await store()];
    const one = await started(server, openSecrets);
    expect(one.live.problems).toEqual([
      "web: go cannot be offered. web: nobody logged in yet. Run `npm start -s -- mcp login web`.",
    ]);
    await login(server, openSecrets);
    const two = await started(server, openSecrets);
    expect(await two.run()).toMatchObject({ outcome: "ok", text: "went" });
    // The first one's turn comes by itself: nothing was started anew.
    await expect
      .poll(async () => (await one.live.refresh([]), one.live.tools.length), { timeout: 5_000 })
      .toBe(3);
    expect(await one.run()).toMatchObject({ outcome: "ok" });
    const { text } = await two.run("mcp_status");
    expect(text).toMatch(/logged in until 20\S+ \S+ UTC, renewed automatically/);
    const kept = JSON.stringify(await two.journal.read("team:secret:mcp:web"));
    expect(kept).toMatch(/"kind":"secret"/);
    expect(kept).not.toMatch(/access-0|refresh-0|client-0/);
    // By the address that its own fake knows.
    expect(server.asked("/register")).toHaveLength(1);
    await createLogins(() => two.secrets, "web").replace(undefined);
    expect((await one.run()).text).toMatch(/nobody logged in yet/);
  });

  test("gets a renewed token, which of several processes one asks for", async () => {
    const [server, openSecrets] = [await serveWithLogin(), await store()];
    await login(server, openSecrets);
    const several = await Promise.all([1, 2, 3].map(() => started(server, openSecrets)));
    for (let round = 1; round <= 3; round += 1) {
      server.endTokens();
      const ran = await Promise.all(several.flatMap(({ run }) => [run(), run()]));
      expect(ran.map(({ outcome }) => outcome)).toEqual(Array(6).fill("ok"));
      expect(server.families).toMatchObject([{ isRevoked: false, used: { size: round } }]);
    }
  });

  test("gets one before the token ends", async () => {
    const [server, openSecrets] = [await serveWithLogin({ holds: 20 }), await store()];
    await login(server, openSecrets);
    const { run } = await started(server, openSecrets);
    expect(await run()).toMatchObject({ outcome: "ok" });
    expect(server.families[0]?.used.size).toBeGreaterThan(0);
  });

  test("whose authorization server is away costs no login, one that refuses says what to do; no token is told", async () => {
    const [server, openSecrets] = [await serveWithLogin(), await store()];
    await login(server, openSecrets);
    const { run, live } = await started(server, openSecrets);
    server.endTokens();
    server.trouble.push(...Array<number>(9).fill(503));
    const away = await run();
    expect(away).toMatchObject({
      outcome: "error",
      text: expect.stringMatching(/could not renew the login/),
    });
    expect(away.text).not.toMatch(/refresh-0/);
    server.trouble.length = 0;
    await expect.poll(async () => (await run()).outcome).toBe("ok");
    for (const family of server.families) [family.isRevoked, family.access] = [true, ""];
    const refused = await run();
    expect(refused.text).toMatch(
      /refused when it was to be renewed \(invalid_grant\).*mcp login web/,
    );
    expect(live.secrets.map(({ value }) => value).join()).toMatch(/refresh-0/);
    const before = server.asked("/token").length;
    await run();
    expect(server.asked("/token")).toHaveLength(before);
    await login(server, openSecrets);
    expect(await run()).toMatchObject({ outcome: "ok" });
  });

  test("that wants more rights for a call says which, and the next login asks for them", async () => {
    const [server, openSecrets] = [await serveWithLogin({ callScope: "write" }), await store()];
    await login(server, openSecrets);
    const { run } = await started(server, openSecrets);
    expect((await run()).text).toMatch(/more rights than the login has \(write\).*mcp login web/);
    await login(server, openSecrets);
    expect(server.families.at(-1)?.scope).toBe("read write");
    // The tools' list was asked for with the login of before.
    await expect.poll(async () => (await run()).outcome).toBe("ok");
  });

  test("can be told the program's own credentials, for whose scopes nobody is asked", async () => {
    const [server, openSecrets] = [await serveWithLogin({ callScope: "write" }), await store()];
    const oauth = { grant: "client_credentials", client: "known", secret: "CLIENT" };
    const { run } = await started(server, openSecrets, oauth);
    expect(await run()).toMatchObject({ outcome: "ok" });
    expect(server.families.at(-1)?.scope).toBe("read write");
    const unnamed = await started(server, openSecrets, { ...oauth, servers: [] });
    expect((await unnamed.run()).text).toMatch(/leads to http:.*name it in `oauth.servers`/);
  });
});

describe("a server that would have tokens sent to itself", () => {
  const own = { client: "known", secret: "CLIENT" };

  test.each([
    [
      "gets no code of whoever signs in elsewhere",
      { client: "known", servers: [] },
      /would go to http:/,
    ],
    ["gets no secret of a client", own, /secret .* is for http:\/\/127/],
  ])("%s", async (_, oauth, why) => {
    const [server, openSecrets] = [await serveWithLogin({ takesCodes: true }), await store()];
    const signIn: LoginTerms["signIn"] = async ({ searchParams }) =>
      new URL(`http://127.0.0.1/?code=x&state=${searchParams.get("state")}`);
    await expect(login(server, openSecrets, { signIn }, oauth)).rejects.toThrow(why);
    expect(server.took("/token")).toEqual([]);
  });

  test("gets no secret of the program either", async () => {
    const [server, openSecrets] = [await serveWithLogin({ takesCodes: true }), await store()];
    const { live } = await started(server, openSecrets, { ...own, grant: "client_credentials" });
    expect(live.problems.join()).toMatch(/secret .* is for http:\/\/127/);
    expect(server.took("/token")).toEqual([]);
  });
});

describe("a login", () => {
  const token = "http://127.0.0.1:1/token";
  test.each<[string, object, RegExp, Partial<LoginTerms>?, object?]>([
    [
      "at an address that nobody named is by https",
      { issuer: "http://10.0.0.7" },
      /leads to http:\/\/10.0.0.7, where no login/,
    ],
    [
      "goes to no inner address, whoever permits it",
      { issuer: "https://127.0.0.1:9" },
      /127.0.0.1 is a loopback address/,
    ],
    ["goes to no metadata service", { issuer: "https://169.254.169.254" }, /metadata services/],
    [
      "goes nowhere that was not permitted",
      { issuer: "https://auth.example" },
      /leads to https:\/\/auth.example/,
      { permit: async () => false },
    ],
    [
      "sends its code nowhere else",
      { metadata: { token_endpoint: token } },
      /its answer would go to http:\/\/127.0.0.1:1;/,
    ],
    [
      "registers nowhere else",
      { metadata: { registration_endpoint: "http://127.0.0.1:1/r" } },
      /leads to http:\/\/127.0.0.1:1,/,
    ],
    [
      "shows no address without https",
      { metadata: { authorization_endpoint: "http://evil.example/a" } },
      /evil.example, which is not https/,
    ],
    [
      "takes no answer to another login",
      {},
      /does not belong to this login/,
      { signIn: async () => new URL("http://127.0.0.1:4000/callback?code=x&state=other") },
    ],
    [
      "takes no answer of another authorization server",
      {},
      /That answer is from https:\/\/other/,
      {
        signIn: async (address) =>
          new URL(
            `http://127.0.0.1/?code=x&iss=https://other&state=${address.searchParams.get("state")}`,
          ),
      },
    ],
    [
      "tells that it was refused",
      {},
      /refused \(access_denied\)/,
      {
        signIn: async (address) =>
          new URL(
            `http://127.0.0.1/?error=access_denied&state=${address.searchParams.get("state")}`,
          ),
      },
    ],
    ["takes no token that no text could be kept free of", { tail: "x".repeat(8_200) }, /8 KiB/],
    [
      "tells it in plain text",
      {},
      /^The login was refused \(no\)$/,
      {
        signIn: async (address) =>
          new URL(`http://127.0.0.1/?error=no%1b[2J&state=${address.searchParams.get("state")}`),
      },
    ],
    [
      "tells that the client is not known",
      {},
      /invalid_client/,
      {},
      { client: "known", secret: "OTHER" },
    ],
  ])("%s", async (_, rules, why, more, oauth) => {
    const [server, openSecrets] = [await serveWithLogin(rules), await store()];
    await expect(
      login(
        server,
        openSecrets,
        { network: () => createNetwork({ allow: [], local: false }), ...more },
        oauth,
      ),
    ).rejects.toThrow(why);
    const { secrets } = await openSecrets();
    expect(await secrets.read("mcp:web")).toMatchObject({ value: undefined });
  });

  test("comes back to this machine alone, and only the answer to it is taken", async () => {
    const redirect = await listenForRedirect(
      0,
      ({ searchParams }) => searchParams.get("state") === "mine",
    );
    onTestFinished(() => redirect.close());
    expect((await fetch(`${redirect.url}?state=other&code=evil`)).status).toBe(404);
    expect((await fetch(redirect.url.replace("callback", "x?state=mine"))).status).toBe(404);
    expect((await fetch(`${redirect.url}?state=mine&code=good`)).status).toBe(200);
    expect((await redirect.came).searchParams.get("code")).toBe("good");
    await expect(listenForRedirect(Number(new URL(redirect.url).port), () => true)).rejects.toThrow(
      "cannot be listened on",
    );
  });

  test("for one address is not used for another, and can be read however long it shall hold", async () => {
    const [server, openSecrets] = [await serveWithLogin({ holds: 1e306 }), await store()];
    await login(server, openSecrets);
    const other = await serveWithLogin();
    const { live } = await started(other, openSecrets);
    expect(live.problems.join()).toContain(`the login is for ${server.url}`);
    expect(other.methods).toEqual([]);
  });
});
