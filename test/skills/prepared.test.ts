import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkProblems } from "../../src/app/check-tools.ts";
import { loadSkills, openSkills } from "../../src/skills/load.ts";
import { type Prepared, prepare, preparedFrom } from "../../src/skills/prepared.ts";
import { folderWith, plain, skillText } from "./folder.ts";

const SHIPPED = join(import.meta.dirname, "../../skills");
const CHECKS = "checks:\n  page: { tool: http_chek, with: { url: '{{url}}' } }\n";

/** What the build writes down, read back. */
async function preparedOf(folder: string) {
  const loaded = await loadSkills([folder], plain);
  const prepared: Prepared = JSON.parse(JSON.stringify(prepare(loaded)));
  return { folder, prepared };
}

async function folderOfTwo() {
  const folder = await folderWith({
    "disk/SKILL.md": skillText("disk"),
    "web/SKILL.md": skillText("web", "allowed-tools: http_check\n"),
    "web/checks.yaml": CHECKS,
  });
  return { folder, prepared: await preparedOf(folder) };
}

describe("skills that the build read", () => {
  test("are those that are read from the files, with every place", async () => {
    const library = openSkills([SHIPPED], plain, await preparedOf(SHIPPED));
    await library.refresh();
    const read = await loadSkills([SHIPPED], plain);
    expect(library.problems).toEqual([]);
    expect(library.skills.every(({ isAsShipped }) => isAsShipped === true)).toBe(true);
    const plainly = {
      isAsShipped: undefined,
      checkAt: undefined,
      files: undefined,
      read: undefined,
    };
    expect(library.skills.map((each) => ({ ...each, ...plainly }))).toEqual(
      read.skills.map((each) => ({ ...each, ...plainly })),
    );
    // Without tools each check is a problem, told with its place.
    const problems = checkProblems(library.skills, [], []);
    expect(problems).toEqual(checkProblems(read.skills, [], []));
    expect(problems.length).toBeGreaterThan(50);
    for (const { skills } of [library, read])
      expect(await skills[0]?.files()).toEqual(await read.skills[0]?.files());
  });

  test("are read as every other once a file of theirs is changed, and no longer when it is as it was", async () => {
    const { folder, prepared } = await folderOfTwo();
    const library = openSkills([folder], plain, prepared);
    await library.refresh();
    const [disk, web] = library.skills;
    expect(web).toMatchObject({ isAsShipped: true, allowed: { at: `${folder}/web/SKILL.md:4` } });
    expect(web?.checkAt?.(["checks", "page", "with", "none"])).toBe(
      `${folder}/web/checks.yaml:2:28`,
    );
    expect(await library.refresh()).toBe(false);

    await writeFile(join(folder, "web/checks.yaml"), `${CHECKS}# changed\n`);
    expect(await library.refresh()).toBe(true);
    expect(library.skills).toEqual([disk, expect.not.objectContaining({ isAsShipped: true })]);
    expect(library.skills[1]?.checks).toEqual(web?.checks);

    await writeFile(join(folder, "web/checks.yaml"), "checks: {}\n");
    await library.refresh();
    expect(library.problems).toMatchObject([{ at: expect.stringContaining("checks.yaml:1") }]);

    await writeFile(join(folder, "web/checks.yaml"), CHECKS);
    await writeFile(join(folder, "web/hints.yaml"), "hints: [{ for: { service: a }, use: [x] }]");
    await library.refresh();
    expect(library.skills[1]).toMatchObject({ hints: [{ use: ["x"] }] });

    await rm(join(folder, "web/hints.yaml"));
    await library.refresh();
    expect(library.skills[1]).toMatchObject({ isAsShipped: true, checks: web?.checks });
    expect(library.problems).toEqual([]);
  });

  test("are not taken for those of another folder, nor is what has a mistake prepared", async () => {
    const { folder, prepared } = await folderOfTwo();
    const other = openSkills([join(folder, "web")], plain, prepared);
    await other.refresh();
    expect(other.skills).toMatchObject([{ name: "web" }]);
    expect(other.skills[0]).not.toHaveProperty("isAsShipped");
    await writeFile(join(folder, "web/SKILL.md"), skillText("wrong"));
    expect(Object.values((await preparedOf(folder)).prepared)).toMatchObject([{ name: "disk" }]);
  });

  test("hold no secret of the environment either", async () => {
    const { folder, prepared } = await folderOfTwo();
    const library = openSkills([folder], (text) => text.replace(/Does web|disk/, "[secret]"), {
      ...prepared,
    });
    await library.refresh();
    expect(library.skills.map(({ description }) => description)).toEqual(["[secret]."]);
    expect(library.problems).toMatchObject([{ text: "its name holds a secret" }]);
  });
});

test("a damaged file of the build counts for nothing: the skills are read from their own", async () => {
  for (const text of ["", "{", "null", "[]", "7", '{"a":null}', '{"a":{"name":5}}'])
    expect(preparedFrom(text)).toEqual({});
  const { prepared } = await preparedOf(SHIPPED);
  const whole = JSON.parse(JSON.stringify(prepared));
  expect(preparedFrom(JSON.stringify(whole))).toEqual(whole);
  const [hash = ""] = Object.keys(whole);
  const damaged = preparedFrom(JSON.stringify({ ...whole, [hash]: { ...whole[hash], body: 5 } }));
  expect(Object.keys(damaged)).toHaveLength(Object.keys(whole).length - 1);
  const library = openSkills([SHIPPED], plain, { folder: SHIPPED, prepared: damaged });
  await library.refresh();
  expect(library.problems).toEqual([]);
  expect(library.skills).toHaveLength(Object.keys(whole).length);
});
