import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nameProblem, readSkillText } from "../../src/skills/skill-text.ts";

const front = (lines: string, body = "Do it.") => `---\n${lines}\n---\n${body}\n`;
const fine = "name: web\ndescription: For the web.";

describe("a SKILL.md that keeps the rules", () => {
  test.each([
    ["with what is required", front(fine)],
    [
      "with every field",
      front(
        `${fine}\nlicense: MIT\ncompatibility: Needs git\nmetadata:\n  author: ana\n  version: "1.0"\nallowed-tools: Bash(git:*) Read`,
      ),
    ],
    ["with line ends of Windows", front(fine).replaceAll("\n", "\r\n")],
    ["with spaces behind the dashes", front(fine).replaceAll("---", "---  ")],
    ["with dashes in its body", front(fine, "Do it.\n\n---\n\nname: other")],
    ["with a description in several lines", front("name: web\ndescription: >-\n  For\n  the web.")],
  ])("is loaded without a problem: %s", async (_, text) => {
    const { skill, problems } = await readSkillText(text, "web");
    expect(problems).toEqual([]);
    expect(skill).toMatchObject({ name: "web", description: "For the web." });
    expect(skill?.body).toMatch(/^Do it\./);
  });

  test.each(["a", "pdf-processing", "a1-b2", "x".repeat(64), "größe", "日本語", "7"])(
    "may be called %s",
    (name) => expect(nameProblem(name)).toBeUndefined(),
  );
});

describe("a SKILL.md that does not keep them, but can be used, is loaded with a warning that names the line", () => {
  const long = "d".repeat(1_025);
  test.each<[string, string, number, RegExp, string?]>([
    [
      "another name than its folder's",
      "name: site\ndescription: For.",
      2,
      /name of its folder/,
      "site",
    ],
    [
      "a name with capitals",
      "name: Web-Site\ndescription: For.",
      2,
      /lower-case letters/,
      "Web-Site",
    ],
    ["a name with an underscore", "name: web_site\ndescription: For.", 2, /lower-case/, "web_site"],
    [
      "a name of 65 characters",
      `name: ${"n".repeat(65)}\ndescription: For.`,
      2,
      /longer than 64/,
      "n".repeat(65),
    ],
    ["a name with two hyphens", "name: web--site\ndescription: For.", 2, /hyphen/, "web--site"],
    ["a name that ends in a hyphen", "name: web-\ndescription: For.", 2, /hyphen/, "web-"],
    [
      "a name that begins with a hyphen",
      "name: -web\ndescription: For.",
      2,
      /hyphen.*loaded as web$/,
    ],
    [
      "a name of several words",
      "name: The Web\ndescription: For.",
      2,
      /lower-case.*loaded as web$/,
    ],
    ["a name that would end a tag", `name: 'x"><b'\ndescription: For.`, 2, /loaded as web$/],
    [
      "a name with characters that are drawn as nothing",
      'name: "we\\u3164b\\ufe0f"\ndescription: For.',
      2,
      /loaded as web$/,
    ],
    ["no name", "description: For.", 1, /name: missing.*loaded as web$/],
    ["a number as name", "name: 12\ndescription: For.", 2, /name: missing.*loaded as web$/],
    [
      "a name nobody would write",
      `name: ${"n".repeat(300)}\ndescription: For.`,
      2,
      /loaded as web$/,
    ],
    ["a description of 1025 characters", `name: web\ndescription: ${long}`, 3, /longer than 1024/],
    ["a license that is not text", `${fine}\nlicense: [MIT]`, 4, /license: expected a text/],
    ["an empty compatibility", `${fine}\ncompatibility: ""`, 4, /1 to 500/],
    ["a compatibility of 501", `${fine}\ncompatibility: ${"c".repeat(501)}`, 4, /1 to 500/],
    ["a number in metadata", `${fine}\nmetadata:\n  version: 1.0`, 4, /metadata: .*quotes/],
    ["a list as allowed-tools", `${fine}\nallowed-tools: [Read]`, 4, /allowed-tools: .*spaces/],
    ["fields of its own", `${fine}\ncategory: web\nindex: 1`, 4, /no field category, index/],
  ])("%s", async (_, lines, line, text, name = "web") => {
    const { skill, problems } = await readSkillText(front(lines), "web");
    expect(problems).toEqual([{ line, text: expect.stringMatching(text) }]);
    expect(skill?.name).toBe(name);
  });

  test.each([
    ["no instructions", "", 5],
    ["more than 500 lines", "x\n".repeat(501), 5],
    ["more bytes than a result shows", "x".repeat(14_001), 5],
  ])("a body with %s", async (_, body, line) => {
    const { skill, problems } = await readSkillText(front(fine, body), "web");
    expect(skill?.body).toBe(body.trim());
    expect(problems).toMatchObject([{ line }]);
  });
});

describe("a SKILL.md that cannot be used is left out, and why is said with the line", () => {
  test.each<[string, string, number, RegExp]>([
    ["nothing in it", "", 1, /expected ---/],
    ["no frontmatter", "# Web\n", 1, /expected ---/],
    ["something before the frontmatter", `\n${front(fine)}`, 1, /expected ---/],
    ["a frontmatter without an end", `---\n${fine}\n`, 1, /no end/],
    ["no description", front("name: web"), 1, /description: expected a text/],
    ["an empty description", front('name: web\ndescription: " "'), 3, /description: expected/],
    [
      "a description of invisible characters",
      front('name: web\ndescription: "\\u200b"'),
      3,
      /expected/,
    ],
    ["a description that is a list", front("name: web\ndescription: [a]"), 3, /expected a text/],
    ["yaml that is none", front("name: web\ndescription: a: b: c"), 3, /cannot be read as yaml/],
    ["the same key twice", front("name: web\nname: web\ndescription: For."), 3, /yaml/],
    ["a list as frontmatter", front("- name"), 1, /expected name: and description:/],
    ["an empty frontmatter", "---\n---\nDo it.", 1, /expected name: and description:/],
    ["an alias to nowhere", front("name: *web\ndescription: For."), 1, /yaml/],
    ["aliases that multiply", front(bomb()), 1, /yaml/],
  ])("%s", async (_, text, line, why) => {
    const { skill, problems } = await readSkillText(text, "web");
    expect(skill).toBeUndefined();
    expect(problems[0]).toEqual({ line, text: expect.stringMatching(why) });
  });

  test("neither name nor folder is one that can be called by", async () => {
    const { skill, problems } = await readSkillText(front("name: a b\ndescription: For."), "c d");
    expect(skill).toBeUndefined();
    expect(problems).toMatchObject([{ line: 2 }]);
  });
});

describe("for every text", () => {
  const letter = fc.constantFrom("a", "b", "z", "0", "9", "-");
  test("a name is right exactly if it is words of small letters and digits with single hyphens between", () => {
    fc.assert(
      fc.property(fc.array(letter, { maxLength: 70 }), (letters) => {
        const name = letters.join("");
        const isRight = /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) && name.length <= 64;
        expect(nameProblem(name) === undefined).toBe(isRight);
      }),
    );
  });

  test("a name that a skill gets fits a tag, a list and a call, whatever stands in the file", async () => {
    const any = fc.string({ unit: "binary", maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(any, any, async (name, folder) => {
        const text = front(`name: ${JSON.stringify(name)}\ndescription: For.`);
        const { skill, problems } = await readSkillText(text, folder);
        if (skill === undefined) expect(problems.length).toBeGreaterThan(0);
        else expect(skill.name).toMatch(/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,127}$/u);
        if (problems.length === 0) expect(nameProblem(skill?.name ?? "")).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  test("nothing throws, and a description is one line", async () => {
    const piece = fc.constantFrom(
      "---\n",
      "name: ",
      "description: ",
      "web",
      "\n",
      "\r\n",
      "&a ",
      "*a",
      "- ",
      "{",
      "}",
      "[",
      "'",
      '"',
      "|\n  x",
      "<<: ",
      "\u202e",
      "\0",
      ": ",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 25 }), async (pieces) => {
        const { skill, problems } = await readSkillText(`---\n${pieces.join("")}`, "web");
        expect(skill === undefined ? problems.length : 1).toBeGreaterThan(0);
        expect(skill?.description ?? "one").toMatch(/^\S(?:.*\S)?$/u);
      }),
      { numRuns: 500 },
    );
  });
});

function bomb(): string {
  const list = (name: string, of: string) =>
    `${name}: &${name} [${Array(20).fill(`*${of}`).join()}]`;
  return `a: &a [x]\n${list("b", "a")}\n${list("c", "b")}\n${list("d", "c")}\nname: web\ndescription: For.`;
}
