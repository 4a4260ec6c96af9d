import type { MessageRef } from "../view.ts";
import type { AlertCard, RootCard } from "../shown.ts";
import { isHidden, isOver } from "../render/alerts.ts";

/** The message in a channel that a thread began with, as a platform tells it apart. */
export type FirstMessage =
  /** `isOf`: a delivery of ours made it. */
  { kind: "ours"; isOf(delivery: string): boolean } | { kind: "bot" | "person" | "gone" };

/** Throws what the platform's API throws. */
export interface RootParts {
  look(): Promise<FirstMessage>;
  /** Has the message of that delivery say it. */
  edit(card: AlertCard, delivery: string): Promise<void>;
  /** Puts a reaction of ours on the message, or takes it away. */
  react(sign: RootSign, isOn: boolean): Promise<void>;
}

/** Reactions that say how the alerts of another bot's message stand. */
const ROOT_SIGNS = ["✅", "🔕", "🔁"] as const;
export type RootSign = (typeof ROOT_SIGNS)[number];

/** As `View.showRoot`: the reference is what stands there. */
export async function showRoot(
  root: RootCard,
  shown: MessageRef | undefined,
  { look, edit, react }: RootParts,
): Promise<MessageRef> {
  const first = await look();
  if (first.kind === "ours") {
    const own = root.groups.find(({ begunBy }) => first.isOf(begunBy));
    if (own !== undefined) await edit(own.card, own.begunBy);
    return "";
  }
  if (first.kind !== "bot") return "";
  const [before, wanted] = [(shown ?? "").split(" "), signsOf(root)];
  for (const sign of ROOT_SIGNS) {
    const isOn = wanted.includes(sign);
    if (isOn !== before.includes(sign)) await react(sign, isOn);
  }
  return wanted.join(" ");
}

function signsOf({ groups }: RootCard): RootSign[] {
  const cards = groups.map(({ card }) => card);
  const left = cards.filter((card) => !isOver(card));
  const isSilent = left.length > 0 && left.every(isHidden);
  return [
    ...(left.length === 0 ? ["✅" as const] : []),
    ...(isSilent ? ["🔕" as const] : []),
    ...(cards.some(({ flaps }) => flaps !== undefined) ? ["🔁" as const] : []),
  ];
}
