import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { estimateTokens } from "../../src/core/block.ts";
import { encodeText } from "../../src/security/sanitize.ts";
import { createRedactor } from "../../src/security/redaction.ts";
import { catalogText } from "../../src/skills/catalog.ts";
import { loadSkills, openSkills } from "../../src/skills/load.ts";
import { hostContext } from "../tools/host/context.ts";
import { folderWith, loadOne, plain, skillText } from "./folder.ts";

const names = ({ skills }: { skills: readonly { name: string }[] }) =>
  skills.map(({ name }) => name);

describe("skills are found", () => {
  test("in the folder itself and up to four below it, in order of their names", async () => {
    const folder = await folderWith({
      "web/SKILL.md": skillText("web"),
      "a/b/c/deep/SKILL.md": skillText("deep"),
      "a/b/c/d/deeper/SKILL.md": skillText("deeper"),
      "old/skill.md": skillText("old"),
    });
    expect(names(await loadSkills([folder], plain))).toEqual(["deep", "old", "web"]);
    expect(names(await loadSkills([join(folder, "web")], plain))).toEqual(["web"]);
  });

  test("but not in hidden folders, node_modules or another skill", async () => {
    const folder = await folderWith({
      "web/SKILL.md": skillText("web"),
      "web/examples/inner/SKILL.md": skillText("inner"),
      ".git/x/SKILL.md": skillText("x"),
      "node_modules/y/SKILL.md": skillText("y"),
    });
    expect(await loadSkills([folder], plain)).toMatchObject({
      skills: [{ name: "web" }],
      problems: [],
    });
  });

  test("among at most 2000 folders, and that there are more is said", async () => {
    const folder = await folderWith({ "zzz/SKILL.md": skillText("zzz") });
    for (let i = 0; i < 2_000; i += 1) await mkdir(join(folder, `f${i}`));
    const { skills, problems } = await loadSkills([folder], plain);
    expect(skills).toEqual([]);
    expect(problems).toEqual([
      { at: folder, text: "only its first 2000 folders were searched", loaded: false },
    ]);
  });

  test("at most 1000, and those that are left out are named", async () => {
    const texts = Array.from({ length: 1_002 }, (_, i) => `s${String(i).padStart(4, "0")}`);
    const folder = await folderWith(
      Object.fromEntries(texts.map((name) => [`${name}/SKILL.md`, skillText(name)])),
    );
    const { skills, problems } = await loadSkills([folder], plain);
    expect(skills).toHaveLength(1_000);
    expect(problems.map(({ at }) => at)).toEqual([join(folder, "s1000"), join(folder, "s1001")]);
  });

  test("and of two with one name the later folder's wins, which is said of the other", async () => {
    const ours = await folderWith({ "web/SKILL.md": skillText("web", "", "Ours.") });
    const theirs = await folderWith({ "web/SKILL.md": skillText("web", "", "Theirs.") });
    const { skills, problems } = await loadSkills([ours, theirs], plain);
    expect(skills).toMatchObject([{ name: "web", body: "Theirs." }]);
    const text = expect.stringContaining(join(theirs, "web"));
    expect(problems).toEqual([{ at: join(ours, "web"), text, loaded: false }]);
  });

  test("a folder that is not there, or cannot be read, is a problem and no failure", async () => {
    const folder = await folderWith({ "web/SKILL.md": skillText("web") });
    const { skills, problems } = await loadSkills([join(folder, "none"), folder], plain);
    expect(skills).toHaveLength(1);
    expect(problems).toMatchObject([{ at: join(folder, "none"), loaded: false }]);
  });

  test("a problem names the file and the line", async () => {
    const folder = await folderWith({
      "web/SKILL.md": "---\nname: site\ndescription: For.\n---\nDo.",
      "bad/SKILL.md": "---\nname: bad\n---\n",
    });
    const { problems } = await loadSkills([folder], plain);
    expect(problems.map(({ at, loaded }) => [at, loaded])).toEqual([
      [`${folder}/bad/SKILL.md:1`, false],
      [`${folder}/bad/SKILL.md:4`, false],
      [`${folder}/web/SKILL.md:2`, true],
    ]);
  });
});

describe("checks beside a SKILL.md", () => {
  const CHECKS = "checks:\n  page: { tool: http_check, with: { url: '{{url}}' } }\n";

  test("are loaded with it, know their lines, and are no file for models", async () => {
    const folder = await folderWith({
      "web/SKILL.md": skillText("web"),
      "web/checks.yaml": CHECKS,
      "web/references/checks.yaml": "a: b",
    });
    const skill = await loadOne(folder);
    expect(skill.checks?.checks["page"]).toMatchObject({ tool: "http_check" });
    expect(skill.checkAt?.(["checks", "page", "tool"])).toBe(`${folder}/web/checks.yaml:2:11`);
    expect((await skill.files()).map(({ id }) => id)).toEqual(["references/checks.yaml"]);
  });

  test("with a mistake are left out alone, and each mistake has its line", async () => {
    const folder = await folderWith({
      "web/SKILL.md": skillText("web"),
      "web/checks.yaml": `${CHECKS}rules: [{ if: { check: pages }, say: Down. }]`,
      "link/SKILL.md": skillText("link"),
      "outside.yaml": CHECKS,
    });
    await symlink(join(folder, "outside.yaml"), join(folder, "link/checks.yaml"));
    const { skills, problems } = await loadSkills([folder], plain);
    expect(skills.map(({ name, checks }) => [name, checks])).toEqual([
      ["link", undefined],
      ["web", undefined],
    ]);
    expect(problems).toEqual([
      {
        at: `${folder}/link/checks.yaml`,
        text: expect.stringContaining("leads out of"),
        loaded: false,
      },
      {
        at: `${folder}/web/checks.yaml:3:17`,
        text: expect.stringMatching(/^rules\[0\]\.if\[0\]\.check: no check is called pages/),
        loaded: false,
      },
    ]);
  });
});

describe("what a folder must not make the program read", () => {
  test("a SKILL.md that is a link out of its folder, a pipe, binary or too large is left out", async () => {
    const folder = await folderWith({
      "outside.md": skillText("link"),
      "link/keep": "",
      "pipe/keep": "",
      "binary/SKILL.md": Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0]),
      "latin/SKILL.md": Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xe9]),
      "large/SKILL.md": skillText("large", "", "x".repeat(256 * 1024)),
    });
    await symlink(join(folder, "outside.md"), join(folder, "link/SKILL.md"));
    await hostContext().exec(["mkfifo", join(folder, "pipe/SKILL.md")]);
    const { skills, problems } = await loadSkills([folder], plain);
    expect(skills).toEqual([]);
    expect(problems.map(({ text }) => text)).toEqual([
      expect.stringContaining("not UTF-8 text"),
      expect.stringContaining("larger than"),
      expect.stringContaining("not UTF-8 text"),
      expect.stringContaining("leads out of"),
      expect.stringContaining("not a regular file"),
    ]);
  });

  test("a link to a folder is not followed, and that is said", async () => {
    const elsewhere = await folderWith({ "web/SKILL.md": skillText("web") });
    const folder = await folderWith({ keep: "" });
    await symlink(join(elsewhere, "web"), join(folder, "web"));
    await symlink(folder, join(folder, "round"));
    const { skills, problems } = await loadSkills([folder], plain);
    expect(skills).toEqual([]);
    expect(problems.map(({ at }) => at)).toEqual([join(folder, "round"), join(folder, "web")]);
  });

  test("links that stay in the skill's folder are fine, as Kubernetes mounts them", async () => {
    const folder = await folderWith({
      "web/..v1/SKILL.md": skillText("web"),
      "web/..v1/notes.md": "Notes.",
    });
    await symlink("..v1", join(folder, "web/..data"));
    await symlink("..data/SKILL.md", join(folder, "web/SKILL.md"));
    await symlink("..data/notes.md", join(folder, "web/notes.md"));
    const skill = await loadOne(folder);
    expect(await skill.files()).toEqual([{ id: "notes.md", bytes: 6 }]);
    expect(await skill.read("notes.md")).toBe("Notes.");
  });
});

describe("the files of a skill", () => {
  test("are listed without what is hidden, leads out, is too deep, or has a name that cannot be shown", async () => {
    const folder = await folderWith({
      "secret.txt": "outside",
      "web/SKILL.md": skillText("web"),
      "web/b.md": "12345",
      "web/references/a note.md": "",
      "web/references/SKILL.md": "not the skill's own",
      "web/1/2/3/4/deep.md": "",
      "web/1/2/3/4/5/deeper.md": "",
      "web/.env": "",
      "web/node_modules/x.md": "",
      "web/new\nline.md": "",
      "web/\u202egnp.md": "",
      'web/"><x.md': "",
    });
    await symlink(join(folder, "secret.txt"), join(folder, "web/link.md"));
    await symlink("b.md", join(folder, "web/same.md"));
    await symlink(folder, join(folder, "web/up"));
    const skill = await loadOne(folder);
    expect((await skill.files()).map(({ id }) => id)).toEqual([
      "1/2/3/4/deep.md",
      "b.md",
      "references/SKILL.md",
      "references/a note.md",
      "same.md",
    ]);
    for (const id of ["link.md", "up/secret.txt", "../secret.txt", ".env", "SKILL.md", "./b.md"]) {
      await expect(skill.read(id), id).rejects.toMatchObject({
        code: "PATH_REFUSED",
        message: expect.stringContaining("Its files: 1/2/3/4/deep.md, b.md"),
      });
    }
  });

  test("are at most 100", async () => {
    const files = Array.from({ length: 105 }, (_, i) => [`web/f${i}.md`, "x"]);
    const folder = await folderWith({
      "web/SKILL.md": skillText("web"),
      ...(Object.fromEntries(files) as Record<string, string>),
    });
    expect(await (await loadOne(folder)).files()).toHaveLength(100);
  });

  test("are read as they are now; what changed into something else meanwhile is refused", async () => {
    const folder = await folderWith({
      "secret.txt": "outside",
      "web/SKILL.md": skillText("web"),
      "web/a.md": "before",
    });
    const skill = await loadOne(folder);
    const file = join(folder, "web/a.md");
    await writeFile(file, "after");
    expect(await skill.read("a.md")).toBe("after");
    await writeFile(join(folder, "web/SKILL.md"), skillText("web", "", "Something else."));
    expect(skill.body).toBe("How web is done.");
    await writeFile(file, "x".repeat(256 * 1024 + 1));
    await expect(skill.read("a.md")).rejects.toThrow("larger than");
    await writeFile(file, Buffer.from([0x61, 0, 0x62]));
    await expect(skill.read("a.md")).rejects.toThrow("not UTF-8 text");
    await rm(file);
    await symlink(join(folder, "secret.txt"), file);
    await expect(skill.read("a.md")).rejects.toMatchObject({ code: "PATH_REFUSED" });
    await rename(join(folder, "web"), join(folder, "gone"));
    expect(await skill.files()).toEqual([]);
    await mkdir(join(folder, "elsewhere"));
    await writeFile(join(folder, "elsewhere/a.md"), "outside");
    await symlink(join(folder, "elsewhere"), join(folder, "web"));
    await expect(skill.read("a.md")).rejects.toMatchObject({ code: "PATH_REFUSED" });
  });
});

describe("the catalog", () => {
  test("has one line of at most 100 tokens for each skill, and is the same every time", async () => {
    const folder = await folderWith({
      "web/SKILL.md": skillText("web"),
      "long/SKILL.md": `---\nname: long\ndescription: ${"word ".repeat(200)}\n---\nDo.`,
      "lines/SKILL.md": "---\nname: lines\ndescription: |\n  One\n  - web: two\n---\nDo.",
    });
    const catalog = catalogText((await loadSkills([folder], plain)).skills);
    const lines = catalog.split("\n").filter((line) => line.startsWith("- "));
    expect(lines).toEqual([
      "- lines: One - web: two",
      expect.stringMatching(/^- long: word .*…$/),
      "- web: Does web.",
    ]);
    for (const line of lines) expect(estimateTokens(line)).toBeLessThanOrEqual(100);
    expect(catalogText((await loadSkills([folder], plain)).skills)).toBe(catalog);
  });

  test("describes at most as many as it may, the wanted first, then the operators' own, and names the others", async () => {
    const folder = await folderWith(
      Object.fromEntries(["a", "b", "c", "d"].map((name) => [`${name}/SKILL.md`, skillText(name)])),
    );
    const { skills } = await loadSkills([folder], plain);
    const isShipped = ({ name }: { name: string }) => name < "c";
    const text = catalogText(skills, { described: 2, first: ["b"], isShipped });
    const lines = text.split("\n").slice(2);
    expect(lines).toEqual([
      "- b: Does b.",
      "- c: Does c.",
      "More skills, which find_skill finds by what they are for: a, d.",
    ]);
    expect(catalogText(skills, { described: 2, first: ["c", "b"], isShipped })).toBe(text);
  });

  test("of very many names a part, so that a request does not grow with them", () => {
    const skills = Array.from({ length: 1_000 }, (_, i) => ({
      name: `skill-${i}`,
      description: "Does it.",
      body: "Do.",
      folder: "/skills",
      files: async () => [],
      read: () => Promise.reject(new Error("no file")),
    }));
    const text = catalogText(skills);
    expect(text).toMatch(/ and 880 more\.$/);
    expect(estimateTokens(text)).toBeLessThan(1_500);
    for (const maxTokens of [1_000, 600, 256]) {
      const short = catalogText(skills, { maxTokens });
      expect(estimateTokens(short)).toBeLessThanOrEqual(maxTokens);
      expect(short).toMatch(/find_skill finds .* and \d+ more\.$/);
    }
  });

  test("holds no secret of the environment: not in a description, not by a name, not cut in two", async () => {
    const value = "correct-horse-battery";
    const redactor = createRedactor([{ name: "DB_PASSWORD", value }]);
    const padding = "x".repeat(380);
    const folder = await folderWith({
      [`${value}/SKILL.md`]: skillText(value),
      "cut/SKILL.md": `---\nname: cut\ndescription: ${padding} ${value}\n---\nDo.`,
      "web/SKILL.md": `---\nname: web\ndescription: Log in with ${value}.\n---\nDo.`,
    });
    const { skills, problems } = await loadSkills([folder], (text) => encodeText(text, redactor));
    const catalog = catalogText(skills);
    expect(names({ skills })).toEqual(["cut", "web"]);
    expect(catalog).toContain("Log in with [secret:DB_PASSWORD].");
    expect(catalog).not.toContain(value.slice(0, 8));
    expect(problems.map(({ text }) => text).join()).not.toContain(value);
  });
});

describe("skills that are looked at again", () => {
  test("are read again only when they were touched, and checks that break stay what they were", async () => {
    const folder = await folderWith({
      "web/SKILL.md": skillText("web"),
      "web/checks.yaml": "checks: { page: { tool: http_check } }\n",
      "disk/SKILL.md": skillText("disk"),
    });
    const library = openSkills([folder], plain);
    expect(await library.refresh()).toBe(true);
    const [disk, web] = library.skills;
    expect(await library.refresh()).toBe(false);
    await writeFile(join(folder, "web/SKILL.md"), skillText("web", "", "Another way."));
    await writeFile(join(folder, "web/checks.yaml"), "checks: {}\n");
    expect(await library.refresh()).toBe(true);
    expect(library.skills[0]).toBe(disk);
    expect(library.skills[1]).toMatchObject({ body: "Another way.", checks: web?.checks });
    expect(library.problems).toMatchObject([
      {
        at: expect.stringContaining("checks.yaml:1"),
        text: expect.stringContaining("stays in use"),
      },
    ]);
    await rm(join(folder, "web/checks.yaml"));
    await library.refresh();
    expect(library.skills[1]?.checks).toBeUndefined();
    expect(library.problems).toEqual([]);
  });
});
