import { mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { outgoingOfGit } from "../../../src/app/outgoing.ts";
import { loadToolset, problemsOf } from "../../../src/app/toolset.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { loadSkills } from "../../../src/skills/load.ts";
import { createExec } from "../../../src/tools/process.ts";
import { type GitSkills, openGitSkills } from "../../../src/tools/skills/git-skills.ts";
import { startProxy } from "../../fakes/connect-proxy.ts";
import { nothingHeld } from "../../fakes/encoder.ts";
import { folderWith, plain, skillText } from "../../skills/folder.ts";
import { gitServer } from "./git-server.ts";

const NEVER = "0123456789012345678901234567890123456789";
const WEB = { "skills/web/SKILL.md": skillText("web"), "README.md": "Ours." };

type Options = Partial<Parameters<typeof openGitSkills>[1]>;

/** Opens what is wanted as a start does, and says what came of it. */
async function opened(wanted: GitSkills[], options: Options = {}) {
  const dataDir = options.dataDir ?? (await folderWith({ keep: "" }));
  const exec = createExec({ encoder: nothingHeld });
  const source = openGitSkills(wanted, { dataDir, exec, protocols: ["http"], ...options });
  onTestFinished(async () => source.close?.());
  await source.refresh([]);
  const names = async () =>
    (await loadSkills([...source.folders], plain)).skills.map(({ name }) => name);
  return { dataDir, source, names, problems: () => source.problems.join("\n") };
}

const kept = async (dataDir: string) => readdir(join(dataDir, "skills-git")).catch(() => []);

test("skills are fetched at exactly the commit that is named, also after its branch moved on", async () => {
  const { url, first, change } = await gitServer(WEB);
  const second = await change("skills/web/SKILL.md", skillText("web", "", "Another way."));
  const bodies = async (commit: string) => {
    const { source, problems } = await opened([{ url, commit, path: "skills" }]);
    expect(problems()).toBe("");
    return (await loadSkills([...source.folders], plain)).skills.map(({ body }) => body);
  };
  expect(await bodies(first)).toEqual(["How web is done."]);
  expect(await bodies(second)).toEqual(["Another way."]);
});

test("a copy that is there is used without asking the server again, and none of git's own files are in it", async () => {
  const { url, first, asked, change } = await gitServer(WEB);
  const wanted = [{ url, commit: first }];
  const { dataDir, source } = await opened(wanted);
  const [folder = ""] = source.folders;
  expect(new Set(await readdir(folder))).toEqual(new Set(["README.md", "skills"]));
  expect(await kept(dataDir)).toHaveLength(1);
  await change("skills/web/SKILL.md", skillText("web", "", "Another way."));
  const before = asked.length;
  const again = await opened(wanted, { dataDir });
  expect(await again.names()).toEqual(["web"]);
  expect(asked).toHaveLength(before);
  const away = await opened(wanted, { dataDir, exec: () => Promise.reject(new Error("no git")) });
  expect([await away.names(), away.problems()]).toEqual([["web"], ""]);
});

test("a repository that is one skill has the repository's name as its folder's", async () => {
  const { url, first } = await gitServer({ "SKILL.md": skillText("ops-skills") });
  const { source, problems } = await opened([{ url: url.replace("/.git", ""), commit: first }]);
  expect(problems()).toBe("");
  const { skills, problems: mistakes } = await loadSkills([...source.folders], plain);
  expect([skills.map(({ name }) => name), mistakes]).toEqual([["ops-skills"], []]);
});

test("a commit that is not there is named, leaves nothing behind, and keeps the others' skills", async () => {
  const { url, first } = await gitServer(WEB);
  const { dataDir, names, problems } = await opened([
    { url, commit: first, path: "skills" },
    { url, commit: NEVER, name: "newer runbooks" },
  ]);
  expect(await names()).toEqual(["web"]);
  expect(problems()).toMatch(/^newer runbooks: git fetch ended with 128: (?:fatal|error): .*0123/);
  expect(await kept(dataDir)).toHaveLength(1);
});

test("the hash of a tag is no commit", async () => {
  const { url, git } = await gitServer(WEB);
  git("tag", "--annotate", "--message=One", "v1");
  const { source, problems } = await opened([{ url, commit: git("rev-parse", "v1") }]);
  expect([...source.folders]).toEqual([]);
  expect(problems()).toContain("is not a commit");
});

test("without git, over another protocol, and at a server that never answers, it says so in time", async () => {
  const { url, first } = await gitServer(WEB);
  const path = await folderWith({ keep: "" });
  const wanted = [{ url, commit: first }];
  const noGit = await opened(wanted, { exec: createExec({ encoder: nothingHeld, path }) });
  expect(noGit.problems()).toContain("git is not installed here.");
  const secure = await opened(wanted, { protocols: ["https", "ssh"] });
  expect(secure.problems()).toContain("transport 'http' not allowed");
  const silent = await gitServer(WEB, { hangs: true });
  const late = await opened([{ url: silent.url, commit: silent.first }], { timeoutMs: 300 });
  expect(late.problems()).toContain("time was up");
  expect(await kept(late.dataDir)).toEqual([]);
});

test("what is larger than the limit is not kept, packed or not", async () => {
  const text = "a".repeat(300_000);
  const { url, first } = await gitServer({ ...WEB, "large.md": text });
  const { dataDir, problems } = await opened([{ url, commit: first }], { maxBytes: 200_000 });
  expect(problems()).toContain("It is larger than 200000 bytes.");
  expect(await kept(dataDir)).toEqual([]);
});

test("what failed is tried again later, without anybody waiting for it", async () => {
  const { url, repository, change, git } = await gitServer(WEB);
  const second = await change("skills/web/SKILL.md", skillText("web", "", "Another way."));
  await mkdir(join(repository, "elsewhere"));
  git("update-ref", "HEAD", "HEAD~1");
  const commit = second;
  const offline = { isOff: true };
  const real = createExec({ encoder: nothingHeld });
  const { source, names, problems } = await opened([{ url, commit, path: "skills" }], {
    againMs: 0,
    exec: (...call) => (offline.isOff ? Promise.reject(new Error("It is away.")) : real(...call)),
  });
  expect([await names(), problems()]).toEqual([[], expect.stringContaining("It is away.")]);
  offline.isOff = false;
  await source.refresh([]);
  await source.idle();
  expect([await names(), problems()]).toEqual([["web"], ""]);
  expect(await source.refresh([])).toBe(true);
});

test("a link in the repository leads nowhere: not as the folder of skills, and not as a skill's file", async () => {
  const { url, repository, change } = await gitServer(WEB);
  const outside = await folderWith({ "web/SKILL.md": skillText("web"), secret: "hunter2" });
  await symlink(outside, join(repository, "out"));
  await symlink(join(outside, "secret"), join(repository, "skills/web/secret.md"));
  const commit = await change("README.md", "With links.");
  const { source, problems } = await opened([
    { url, commit, path: "out", name: "out" },
    { url, commit, path: "skills" },
  ]);
  expect(problems()).toBe("out: It has no folder out of its own.");
  const [web] = (await loadSkills([...source.folders], plain)).skills;
  expect(await web?.files()).toEqual([]);
  await expect(web?.read("secret.md")).rejects.toMatchObject({ code: "PATH_REFUSED" });
});

test("nothing in a repository is run by fetching it", async () => {
  const { url, change, repository, git } = await gitServer({
    ...WEB,
    ".gitattributes": "* filter=run\n",
    ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch ran"\n',
  });
  git("config", "filter.run.smudge", `touch ${join(repository, "ran")}`);
  const commit = await change("README.md", "With filters.");
  const { source, problems } = await opened([{ url, commit }]);
  expect(problems()).toBe("");
  const [folder = ""] = source.folders;
  expect(await readFile(join(folder, "README.md"), "utf8")).toBe("With filters.");
  expect(await readdir(repository)).not.toContain("ran");
});

test.each([
  [{ url: "http://git.example.com/a", commit: NEVER }, "expected https://"],
  [{ url: "ext::sh -c id", commit: NEVER }, "expected https://"],
  [{ url: "https://bot:hunter2@git.example.com/a", commit: NEVER }, "without a password"],
  [{ url: "ssh://-oProxyCommand=id/a", commit: NEVER }, "expected https://"],
  [{ url: "https://git.example.com/a", commit: "main" }, "40 digits"],
  [{ url: "https://git.example.com/a", commit: NEVER.slice(1) }, "40 digits"],
  [{ url: "https://git.example.com/a", commit: NEVER, path: "../a" }, "expected a folder"],
  [{ url: "https://git.example.com/a", commit: NEVER, path: "/etc" }, "expected a folder"],
])("%j is refused at the start", async (entry, why) => {
  await expect(configured(entry)).rejects.toThrow(why);
});

/** A configuration with this entry of `skills.git`. */
async function configured(entry: object) {
  const cwd = await folderWith({ "w.yaml": JSON.stringify({ skills: { git: [entry] } }) });
  return loadConfig({ WATCHKEEPER_CONFIG: "w.yaml", DATA_DIR: "data" }, { cwd });
}

test("the program's runs have the skills, may run their scripts, and a failure is one of its problems", async () => {
  const server = await gitServer({
    ...WEB,
    "skills/web/scripts/a.sh": "echo a",
    "skills/http-5xx/SKILL.md": skillText("http-5xx", "", "Our way."),
  });
  const url = "https://127.0.0.1:1/ops-skills";
  const entry = { url, commit: server.first, path: "skills" };
  const config = await configured(entry);
  const { live, skills: before } = await loadToolset(config);
  expect(problemsOf(live).join()).toMatch(
    /^skills\.git https:\/\/127\.0\.0\.1:1\/.*git fetch ended/,
  );
  expect(before.map(({ name }) => name)).not.toContain("web");
  const real = createExec({ encoder: nothingHeld });
  await opened([entry], {
    dataDir: config.dataDir,
    exec: (argv, call) =>
      real(
        argv.map((each) => (each === url ? server.url : each)),
        call,
      ),
  });
  const { live: after, skills, tools } = await loadToolset(config);
  expect(problemsOf(after)).toEqual([]);
  expect(after).toHaveLength(1);
  expect(skills.find(({ name }) => name === "http-5xx")?.body).toBe("Our way.");
  expect(skills.map(({ name }) => name)).toContain("web");
  expect(tools.map(({ name }) => name)).toContain("run_skill_script");
});

test("git goes through the configured proxy, trusts the configured authorities too, and leaves neither behind", async () => {
  const proxy = await startProxy(1, () => 403);
  const authority = fileURLToPath(new URL("../../net/certificates/authority.pem", import.meta.url));
  const config = await loadConfig({
    HTTPS_PROXY: proxy.url.replace("//", "//ana:word@"),
    NODE_EXTRA_CA_CERTS: authority,
  });
  const { env, authorities } = outgoingOfGit(config.values);
  const real = createExec({ encoder: nothingHeld });
  let trusted = "";
  const { problems, dataDir } = await opened(
    [{ url: "https://git.shop.test/ops", commit: NEVER }],
    {
      protocols: ["https"],
      env,
      ...(authorities && { authorities }),
      async exec(argv, call) {
        trusted = await readFile(call?.env?.["GIT_SSL_CAINFO"] ?? "", "utf8");
        return real(argv, call);
      },
    },
  );
  expect(problems()).toMatch(/403/);
  expect(new Set(proxy.asked.map(({ target }) => target))).toEqual(new Set(["git.shop.test:443"]));
  expect(trusted).toContain((await readFile(authority, "utf8")).trim());
  expect(trusted.match(/BEGIN CERTIFICATE/g)?.length).toBeGreaterThan(50);
  expect(await kept(dataDir)).toEqual([]);
});
