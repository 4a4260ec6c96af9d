import { expect, test } from "vitest";
import { approvalPolicy } from "../../src/config/policy.ts";
import { createDayShares } from "../../src/app/day-shares.ts";
import { createChat } from "../fakes/chat.ts";

const BUDGETS = {
  stepsPerRun: 30,
  tokensPerRun: 400_000,
  minutesPerRun: 15,
  tokensPerDay: 5_000_000,
  tokensPerPersonDay: 500_000,
  tokensPerPlaceDay: 2_500_000,
  tokensPerGuestDay: 50_000,
  centsPerPersonDay: 40,
};

function sharesWith(single = false) {
  const { adapter } = createChat({ standings: { "test:ana": "member", "test:gus": "guest" } });
  const approvals = approvalPolicy.parse(single ? { singleOperator: true } : {});
  return createDayShares({ budgets: BUDGETS, approvals }, new Map([["test", adapter]]));
}

test("a member has a member's share of the day, anybody else a guest's, and the channel its own", async () => {
  const ofPlace = { tokens: 2_500_000 };
  expect(await sharesWith()("test:thread", "test:ana")).toMatchObject({
    ofPerson: { tokens: 500_000, cents: 40 },
    ofPlace,
  });
  expect(await sharesWith()("test:thread", "test:gus")).toMatchObject({
    ofPerson: { tokens: 50_000, cents: 40 },
    ofPlace,
  });
});

test("where one person sits, and on a platform that is not there, nobody has a share", async () => {
  expect(await sharesWith(true)("test:thread", "test:ana")).toBeUndefined();
  expect(await sharesWith()("slack:T1:C1:1.2", "test:ana")).toBeUndefined();
});
