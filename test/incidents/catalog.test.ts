import { expect, onTestFinished, test } from "vitest";
import { createLedger } from "../fakes/ledger.ts";
import { createMemory } from "../fakes/memory-journal.ts";
import { type Catalog, openCatalog } from "../../src/incidents/catalog.ts";
import { startCatalog } from "../../src/incidents/catalog-thread.ts";
import { rowOf } from "./catalog-row.ts";
import { createStage, START } from "./stage.ts";

const VIEWER = { audience: undefined, tenants: ["test"] };

test("of very many matches those in titles come first, then the newest, and all are counted", () => {
  const catalog = openCatalog();
  onTestFinished(() => catalog.clear());
  const many = Array.from({ length: 1_100 }, (_, i) => rowOf(i + 2, { notes: "disk" }));
  catalog.put([rowOf(1, { title: "Disk full" }), ...many], "1");
  expect(catalog.search("disk", { limit: 3 }, VIEWER).found.map(({ id }) => id)).toEqual([
    "inc-20261120-0001",
    "inc-20261120-012d",
    "inc-20261120-012c",
  ]);
  expect(catalog.search("disk", { limit: 3 }, VIEWER).count).toBe(1_101);
  expect(catalog.search("dosk", { limit: 3, status: "open" }, VIEWER).count).toBe(1_101);
});

test("the words as they are come before their beginnings, and these before what is spelled alike", () => {
  const catalog = openCatalog();
  onTestFinished(() => catalog.clear());
  const titles = ["cart", "carts", "card", "error 502", "error 503"];
  catalog.put(
    titles.map((title, i) => rowOf(9 - i, { title })),
    "1",
  );
  const found = (text: string) =>
    catalog.search(text, {}, VIEWER).found.map(({ id }) => titles[9 - parseInt(id.slice(-1), 32)]);
  expect(found("cart")).toEqual(["cart", "carts", "card"]);
  expect(found("error 502")).toEqual(["error 502"]);
});

test("a thread finds its own public incidents in a place that it may not read, and no others there", () => {
  const catalog = openCatalog();
  onTestFinished(() => catalog.clear());
  const rows = [
    rowOf(1, { title: "Disk full" }),
    rowOf(2, { title: "Disk full" }, { tenant: "other", thread: "test:here" }),
    rowOf(3, { title: "Disk full" }, { tenant: "other" }),
    rowOf(4, { title: "Disk full" }, { audience: "test:G1", thread: "test:here" }),
  ];
  catalog.put(rows, "1");
  const viewer = { ...VIEWER, thread: "test:here" };
  const seen = rows.slice(0, 2).map(({ id }) => id);
  const { count, found } = catalog.search("disk", {}, viewer);
  expect([count, found.map(({ id }) => id).toSorted()]).toEqual([2, seen]);
  expect(catalog.search("disk", {}, VIEWER).count).toBe(1);
});

test("of a very long question the first words are looked for", () => {
  const catalog = openCatalog();
  onTestFinished(() => catalog.clear());
  const words = Array.from({ length: 32 }, (_, i) => `w${i}`).join(" ");
  catalog.put([rowOf(1, { notes: words })], "1");
  const count = (text: string) => catalog.search(text, {}, VIEWER).count;
  expect([count(`${words} other`), count(`other ${words}`)]).toEqual([1, 0]);
});

test("a thread of its own says the same, and nothing any more once it is stopped", async () => {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const [here, there]: [Catalog, ReturnType<typeof startCatalog>] = [
    openCatalog(),
    startCatalog(ending.signal),
  ];
  onTestFinished(() => here.clear());
  const rows = ["disk full", "disc broken", "dns"].map((title, i) => rowOf(i, { title }));
  here.put(rows, "7");
  await there.put(rows, "7");
  expect(await there.mark()).toBe("7");
  expect(await there.stale([...rows, rowOf(5, {})])).toEqual([rowOf(5, {}).id]);
  const [first] = rows;
  const filter = { limit: 5 };
  const asked = (catalog: typeof there) =>
    Promise.all([
      catalog.list(filter, VIEWER),
      catalog.search("disk", filter, VIEWER),
      catalog.count({}, VIEWER),
      catalog.stats({ from: START, to: START + 2, zone: "UTC", name: "t" }, VIEWER, 5),
      catalog.near(`${first?.id}x`, VIEWER),
    ]);
  expect(await asked(there)).toEqual(await asked(here));
  ending.abort();
  await expect(there.count({}, VIEWER)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});

test("what a store that was set back does not have any more is gone", async () => {
  const memory = createMemory({ now: () => START });
  const stage = await createStage();
  let journal = memory.open();
  onTestFinished(() => journal.close());
  const ledger = createLedger({
    read: (...args) => journal.read(...args),
    post: (...args) => journal.post(...args),
    changes: (...args) => journal.changes(...args),
  });
  const { id } = await ledger.open(stage.saying(), { title: "One" });
  const before = memory.copy();
  await ledger.open(stage.saying(), { title: "Two" });
  expect(await ledger.count({}, VIEWER)).toBe(2);
  await journal.close();
  journal = before.open();
  expect((await ledger.list({}, VIEWER)).map((one) => one.id)).toEqual([id]);
  expect((await ledger.search("two", VIEWER)).count).toBe(0);
});
