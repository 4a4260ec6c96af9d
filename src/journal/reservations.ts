import { randomUUID } from "node:crypto";
import type { Reservation } from "./journal.ts";

/** One that is about to be set aside. @throws TypeError as `checkAmount` */
export function newReservation(counter: string, amount: number): Reservation {
  return { id: randomUUID(), counter, amount: checkAmount(amount) };
}

/** @throws TypeError for what no counter takes */
export function checkAmount(amount: number): number {
  if (Number.isSafeInteger(amount) && amount >= 0) return amount;
  throw new TypeError(`${amount} cannot be counted; whole numbers from 0 can`);
}
