import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanText, confusables, encodeText, exactText } from "../../src/security/sanitize.ts";
import { capText } from "../../src/core/text.ts";
import { seeded } from "../core/seeded.ts";
import { cpuMs } from "../cpu-time.ts";

const CASES = 200_000;
/** The fuzzing takes one or two seconds each, more on a busy machine. */
const SLOW_MS = 120_000;

/** What hides, moves, joins or imitates, in pieces that the generators put together. */
const PIECES = [
  'a b 1 { } [ ] " : , . \\ / u 0 \\u \\u{ \\u200b \\u{200b} u200b {5c} 005c \\\\ \\" d83d \\ud83d',
  "\u001b \u001b[ \u001b] \u001b[31m \u001b]8;;x\u0007 \u001bP \u001b\\ \u001b(B 31m 0;",
  "\u0000 \u0007 \b \u001f \u007f \u0090 \u009b \u009c \u009d \u009f",
  "\u00ad \u034f \u061c \u115f \u180e \u200b \u200d \u200f \u202e \u2060 \u2066 \u2069 \u3164 \ufe0f \ufeff",
  "\uffa0 \ufff9 \uffff \u{e0041} \u{e007f} \u{e0100} \u{1d173} \u2800 \ud83d \ude00 \udfff",
  "\u{1f468}\u200d\u{1f469} \u{1f3fb} \u{1f1e8} \u2764\ufe0f e\u0301 \u00e9 \u212a \u212b \u1112\u1161 \ud558",
  "\u05d0 \u0627 \u0430 \u03bf \uff41 \u{1d41a} \u65e5 \ue000 \u{10ffff} \u0378",
]
  .flatMap((line) => line.split(" "))
  .concat(
    "\n",
    "\t",
    "\r",
    "\r\n",
    "\v",
    "\f",
    "\u0085",
    " ",
    "\u00a0",
    "\u2003",
    "\u2028",
    "\u3000",
  );

function texts(seed: number, longest: number): () => string {
  const random = seeded(seed);
  return () => Array.from({ length: random.int(longest) }, () => random.pick(PIECES)).join("");
}

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.constantFrom(...PIECES)).map((pieces) => pieces.join("")),
);

describe("cleanText", () => {
  test("takes escape sequences out, with what they carry, and leaves the text", () => {
    expect(
      cleanText(
        "\u001b[1;31mred\u001b[0m \u001b]8;;https://evil.example\u0007docs\u001b]8;;\u001b\\",
      ),
    ).toBe("red docs");
    expect(
      cleanText("\u009b31mred\u009b0m \u009d0;title\u009cend \u001bPq#1\u001b\\.\u001b(B"),
    ).toBe("red end .");
    expect(cleanText("\u001b\u200b[31mred")).toBe("red");
  });

  test("an escape sequence that never ends hides nothing after it", () => {
    expect(cleanText("\u001b]0;title\nALERT disk full\n")).toBe("0;title\nALERT disk full\n");
    expect(cleanText("\u001bPfirst\u001b]second")).toBe("firstsecond");
  });

  test("makes one kind of line end, and shows what a carriage return would have overwritten", () => {
    expect(cleanText("a\r\nb\rc\u0085d\u2028e\ff\n\tg")).toBe("a\nb\nc\nd\ne\nf\n\tg");
  });

  test("takes out what cannot be seen and keeps emoji legible", () => {
    expect(
      cleanText(
        "pa\u200bss\u2060wo\u00adrd \u202egpj.exe\u2069 \ufeff\u{e0041}\u{e0042}\ufff9x\u0000\b",
      ),
    ).toBe("password gpj.exe x");
    expect(
      cleanText(
        "\u2764\ufe0f \u{1f468}\u200d\u{1f469} \u{1f44d}\u{1f3fb} \u{1f1ea}\u{1f1f8} niño 日本",
      ),
    ).toBe("\u2764 \u{1f468}\u{1f469} \u{1f44d}\u{1f3fb} \u{1f1ea}\u{1f1f8} niño 日本");
    expect(cleanText("a\ud83db\udc00")).toBe("a\ufffdb\ufffd");
  });

  test(
    "leaves nothing hidden and nothing more to clean, whatever comes in",
    () => {
      const hidden = /[^\n\t\P{C}]|[\p{Default_Ignorable_Code_Point}\u2028\u2029]/u;
      const make = texts(1, 12);
      for (let i = 0; i < CASES; i += 1) {
        const cleaned = cleanText(make());
        // Private use and unassigned characters are category C too, and stay.
        if (hidden.test(cleaned.replaceAll(/[\p{Co}\p{Cn}]/gu, "")))
          expect(cleaned).toBe("free of hidden characters");
        if (cleanText(cleaned) !== cleaned) expect(cleanText(cleaned)).toBe(cleaned);
      }
      fc.assert(fc.property(text, (any) => cleanText(cleanText(any)) === cleanText(any)));
    },
    SLOW_MS,
  );

  test(
    "takes time in proportion to the text",
    async () => {
      for (const piece of ["\u001b]", "\u001b[1", "\u009d\u00e9", "\u001b ", "\u200b\r"]) {
        expect(await cpuMs(() => cleanText(piece.repeat(200_000)))).toBeLessThan(2_000);
      }
    },
    SLOW_MS,
  );
});

/** Reads what exactText wrote. That this works shows that no two texts are displayed alike. */
function read(exact: string): string {
  return exact.replaceAll(
    /\\u\{([0-9a-f]+)\}|\\u(?!00[01])([0-9a-f]{4})|\\[^]/g,
    (token, control, unit) => {
      const code: string | undefined = control ?? unit;
      return code === undefined ? token : String.fromCharCode(Number.parseInt(code, 16));
    },
  );
}

describe("exactText", () => {
  test("shows JSON as JSON of the same value, with the unseen made visible", () => {
    const value = {
      a: "x\u200by \u202e é e\u0301\u00a0\\u200b",
      "\u2066k": ["日本", "\u{1f44d}\ufe0f", "\n\u0001\u007f"],
    };
    const exact = exactText(JSON.stringify(value));
    expect(JSON.parse(exact)).toEqual(value);
    expect(exact).toBe(
      String.raw`{"a":"x\u200by \u202e é e\u0301\u00a0\\u200b","\u2066k":["日本","` +
        "\u{1f44d}" +
        String.raw`\ufe0f","\n\u0001\u007f"]}`,
    );
  });

  test("escapes letters that change the order or the identity of others", () => {
    expect(exactText("\u05d0\u0627")).toBe(String.raw`\u05d0\u0627`);
    expect(exactText("\u212a\u1112\u1161\u2800")).toBe(String.raw`\u212a\u1112\u1161\u2800`);
  });

  test(
    "never shows two texts alike, and shows nothing that would have to be cleaned",
    () => {
      const make = texts(2, 8);
      for (let i = 0; i < CASES; i += 1) {
        const original = make();
        const exact = exactText(original);
        if (read(exact) !== original) expect(read(exact)).toBe(original);
        if (cleanText(exact) !== exact) expect(cleanText(exact)).toBe(exact);
        if (exact.normalize("NFC") !== exact) expect(exact.normalize("NFC")).toBe(exact);
      }
      fc.assert(fc.property(text, text, (a, b) => a === b || exactText(a) !== exactText(b)));
      fc.assert(
        fc.property(text, (any) => read(exactText(any)) === any && !/[\n\t]/.test(exactText(any))),
      );
    },
    SLOW_MS,
  );

  test("of any JSON value it is JSON of that value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), text, (value, any) => {
        const json = JSON.stringify([value, any.toWellFormed()]);
        expect(JSON.parse(exactText(json))).toEqual(JSON.parse(json));
      }),
    );
  });
});

describe("confusables", () => {
  test("names the characters of a word that mixes scripts", () => {
    expect(confusables("kubectl delete ns pr\u043ed")).toBe(
      'Not what it looks like: "pr\u043ed" contains U+043E \u043e (Cyrillic).',
    );
    expect(
      confusables("login at p\u200b\u0430ypal.example, \u03a9mega, \uff4bubectl and \u{1d41a}dmin"),
    ).toMatch(/U\+0430.*Cyrillic.*U\+03A9.*Greek.*U\+FF4B.*styled/);
  });

  test("names a word of nothing but look-alikes, unless the text is in that script", () => {
    expect(confusables("ssh \u0440\u0430\u0443\u0440\u0430")).toContain("U+0440");
    expect(confusables("перезапустить сервис \u0440\u0430\u0443\u0440\u0430")).toBeUndefined();
  });

  test("a note in that script beside it takes no name out, and what is long is read once", async () => {
    const name = "\u0440\u0430\u0443\u0440\u0430";
    expect(confusables(`${name}\nперезапустить сервис`)).toContain("U+0440");
    const alike = "асеорхуѕіјһԁ";
    const word = (n: number) =>
      Array.from({ length: 5 }, (_, i) => alike[Math.floor(n / 12 ** i) % 12]).join("");
    const words = Array.from({ length: 12_000 }, (_, n) => word(n));
    const long = `${words.join(" ")} привет`;
    expect(confusables(long)).toBeUndefined();
    expect(await cpuMs(() => confusables(long))).toBeLessThan(2_000);
  });

  test.each([
    ["\u0251dmin", "U+0251"],
    ["deploy \u0261it", "U+0261"],
    ["\u054d\u054f", "U+054D"],
    ["restart \u13aa\u13a2\u13a0", "U+13AA"],
    ["\u2ca3\u2c9f\u2ca3", "U+2CA3"],
    ["\ua4e1\ua4f3\ua4d6", "U+A4E1"],
    ["\u0433\u0443\u0441", "U+0433"],
    ["prod\u202etxt.exe", "U+202E"],
    ["ns\u2066", "U+2066"],
    ["a\u00adb", "U+00AD"],
    ["na\u200cme", "U+200C"],
    ["run\u{e0041}", "U+E0041"],
  ])("marks %j", (odd, character) => {
    expect(confusables(odd)).toContain(character);
  });

  test("raises no false alarm in an ordinary sentence, and few of a short word that stands alone", () => {
    const sentences = [
      "Größere Änderung am Übergabepunkt: Straße prüfen, Fußgänger, Öl, süß",
      "Redémarrer le nœud près de l\u2019hôte dès que possible, façade, Noël, où ça",
      "перезапустить базу данных на первом узле и проверить журнал ошибок завтра утром",
      "Επανεκκίνηση της βάσης δεδομένων στον πρώτο διακομιστή και έλεγχος για σφάλματα",
      "重启数据库并检查日志 生产环境 一二三 服务器",
      "データベースを再起動してログを確認する サーバー エラー 東京",
      "أعد تشغيل قاعدة البيانات وتحقق من السجلات الخطأ غدا صباحا",
      "می\u200cخواهم سرور را دوباره راه\u200cاندازی کنم",
      "Işık hızında İstanbul sunucusu yeniden başlatılıyor",
    ];
    const words = sentences.flatMap((each) => each.split(/[^\p{L}\p{M}\u200c]+/u)).filter(Boolean);
    const alarms = (of: string[]) => of.filter((each) => confusables(each) !== undefined);
    expect(alarms(sentences)).toEqual([]);
    // Nothing but look-alikes: who reads "na" or "yia" would be as wrong.
    expect([words.length, alarms(words)]).toEqual([76, ["на", "утром", "και", "για"]]);
  });

  test("is silent about ordinary text in any language", () => {
    for (const ordinary of [
      "kubectl scale deploy/web --replicas=3",
      "Caída de producción en el clúster, 12µs, 1ª vez, Straße, naïve, №5, 10⁴",
      "перезапустить nginx на host-1",
      "K8sクラスタのTシャツ 東京 한국어 Ελληνικά עברית العربية हिन्दी",
      "\u{1f525}\u{1f44d}\u{1f3fb} done ✅",
    ]) {
      expect(confusables(ordinary)).toBeUndefined();
    }
  });

  test(
    "its warning is itself fit to be shown, whatever it warns about",
    () => {
      const make = texts(3, 10);
      let warnings = 0;
      for (let i = 0; i < CASES / 4; i += 1) {
        const warning = confusables(make());
        if (warning === undefined) continue;
        warnings += 1;
        if (cleanText(warning) !== warning) expect(cleanText(warning)).toBe(warning);
      }
      expect(warnings).toBeGreaterThan(1_000);
    },
    SLOW_MS,
  );
});

describe("capText", () => {
  test("cuts the middle out at line ends and says how much", () => {
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join("");
    const capped = capText(lines, 120);
    expect(capped).toMatch(
      /^line 0\n(?:line \d+\n)*\[… \d+ bytes omitted …\]\n(?:line \d+\n)*line 39\n$/,
    );
  });

  test("leaves a text that fits as it is", () => {
    expect(capText("日本", 6)).toBe("日本");
    expect(capText("", 0)).toBe("");
  });

  test(
    "never exceeds the limit, splits no character, and counts what it left out",
    () => {
      const random = seeded(4);
      const alphabet = ["a", "é", "日", "\u{1f44d}", "\n", "word ", "x".repeat(30)];
      for (let i = 0; i < CASES / 4; i += 1) {
        const original = Array.from({ length: random.int(30) }, () => random.pick(alphabet)).join(
          "",
        );
        const maxBytes = random.int(160);
        const capped = capText(original, maxBytes);
        const size = Buffer.byteLength(capped);
        if (size > maxBytes || !capped.isWellFormed() || capped.includes("\ufffd")) {
          expect({ original, maxBytes, capped }).toBe(
            "a text within the limit and of whole characters",
          );
        }
        const [head = "", omitted, tail = ""] = capped.split(/\n\[… (\d+) bytes omitted …\]\n/);
        const left =
          omitted === undefined
            ? undefined
            : Buffer.byteLength(original) - Buffer.byteLength(head + tail);
        if (
          !original.startsWith(head) ||
          !original.endsWith(tail) ||
          (left !== undefined && left !== Number(omitted))
        ) {
          expect({ original, capped }).toBe(
            "the beginning and the end of the text, and what is between",
          );
        }
      }
    },
    SLOW_MS,
  );
});

describe("encodeText", () => {
  test("keeps emoji whole, and hides nothing with what joins them", () => {
    const nothing = { redact: (any: string) => any };
    const emoji = "👨‍👩‍👧‍👦 ❤️ 🏳️‍🌈 👍🏽 🧑🏽‍🚀 🇪🇸";
    expect(encodeText(emoji, nothing)).toBe(emoji);
    // Not joined by Unicode, and joiners where no emoji are.
    expect(encodeText("👨\u200d🧱 a\u200db\ufe0f ☃\ufe0f\ufe0f", nothing)).toBe("👨🧱 ab ☃");
  });

  test("cleans first, so that a secret with something hidden in it is found", () => {
    const redactor = { redact: (any: string) => any.replaceAll("hunter22", "[secret:DB]") };
    for (const hidden of [
      "\u200b",
      "\u001b[0m",
      "\u009b1m",
      "\u00ad",
      "\u{e0041}",
      "\u0000",
      "\u001b]0;x\u0007",
    ]) {
      expect(encodeText(`password hun${hidden}ter22!`, redactor)).toBe("password [secret:DB]!");
    }
  });
});
