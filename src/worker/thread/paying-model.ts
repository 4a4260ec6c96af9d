import type { Usage } from "../../core/block.ts";
import type { RunTerms } from "../../core/run-terms.ts";
import type { Model } from "../../models/model.ts";
import { type Spend, withinBudget } from "./budget.ts";
import { type WorkLimits, withinMinutes } from "./model-call.ts";
import type { ThreadContext } from "./parts.ts";
import { allPlaces } from "./places.ts";

/** Of one request: what it used and cost, and which model answered. */
export type Counted = (used: Usage, cost: { microdollars?: number }, model: string) => void;

/** The models of a run or a goal, whose requests stay within the budgets; each is counted. */
export function payingModel(
  ctx: ThreadContext,
  { limits, terms, spend }: { limits: WorkLimits; terms: RunTerms; spend: Spend },
  counted: Counted,
): Pick<Model, "id" | "generate"> {
  const { model: own, requestTokens, signal } = spend;
  return {
    id: own,
    async generate(request) {
      let answerer = own;
      const { response, cost } = await withinBudget(ctx, terms, spend, async () => {
        let cuts = 0;
        const onDelta = (delta: string | undefined) => void (cuts += delta === undefined ? 1 : 0);
        const wanted = { own, newest: own, requestTokens, places: allPlaces(ctx) };
        const answered = await withinMinutes(limits, signal, (limited) =>
          ctx.parts.models.generate(request, wanted, { signal: limited, onDelta }),
        );
        answerer = answered.model;
        return { ...answered, cuts };
      });
      counted(response.usage, cost, answerer);
      return response;
    },
  };
}
