import { expect, test } from "vitest";
import { createPins } from "../../../src/adapters/shared/pins.ts";

test("one person's 📌 on one message is taken so often and no more, and then is gone", async () => {
  const posts: string[] = [];
  let looked = 0;
  const pins = createPins({
    queries: {
      incident: async () => undefined,
      isPosted: async (_key, post) => {
        looked += 1;
        return posts.includes(post);
      },
    },
    inbox: { post: async (_key, id) => void posts.push(id) },
    people: { membership: async () => "member" },
  });
  const actor = { account: "test:ana", name: "ana" };
  for (let i = 0; i < 100; i += 1) {
    const pinned = { message: "1.5", user: "U1", isOn: i % 2 === 0 };
    await pins.take("test:t", "inc-1", pinned, async () => actor);
  }
  expect(posts).toHaveLength(20);
  expect(posts.at(-1)).toBe("pin:1.5:U1:19");
  expect(looked).toBeLessThan(2_000);
});
