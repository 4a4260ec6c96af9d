import { MAX_IDLE_MS, type Reservation } from "../journal.ts";
import { checkAmount, newReservation } from "../reservations.ts";
import { type Connection, evaluate } from "./connection.ts";
import { countersOf } from "./layout.ts";
import * as scripts from "./scripts.ts";

/** `tell`: says a sentence to the operator, once. */
export function createCounters(main: Connection, tell: (text: string) => void) {
  const count = (script: scripts.Script, made: Reservation, ...args: number[]) =>
    main.ask((client) =>
      evaluate(client, script, countersOf(made), [...args, MAX_IDLE_MS].map(String)),
    );
  return {
    async reserve(
      counter: string,
      amount: number,
      limit: number,
    ): Promise<Reservation | undefined> {
      const made = newReservation(counter, amount);
      const got = await count(scripts.RESERVE, made, amount, limit);
      if (typeof got !== "number") tell(notCounted(made));
      return got === 1 ? made : undefined;
    },
    async used(counter: string): Promise<number> {
      const [name = ""] = countersOf({ counter, id: "" });
      return Number((await main.ask((client) => client.get(name))) ?? 0);
    },
    async commitReservation(made: Reservation, actual: number): Promise<void> {
      await count(scripts.SETTLE, made, checkAmount(actual));
    },
  };
}

function notCounted(made: Reservation): string {
  const [counter] = countersOf(made);
  return `${counter} in Redis holds what this program does not write there, so nothing is set aside from it. Look who else writes there, then delete it.`;
}
