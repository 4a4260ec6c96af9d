import type {
  ActionCard,
  LivingCard,
  Offer,
  Outgoing,
  Progress,
  Quoted,
} from "../../src/adapters/shown.ts";
import type { Adapter } from "../../src/adapters/adapter.ts";
import type { Delivery, MessageRef, View } from "../../src/adapters/view.ts";
import type { People, Membership } from "../../src/core/people.ts";

type Shown =
  | { ref: MessageRef; kind: "say"; message: Outgoing }
  | { ref: MessageRef; kind: "whisper"; to: string; text: string; offer: Offer | undefined }
  | { ref: MessageRef; kind: "card"; card: ActionCard }
  | { ref: MessageRef; kind: "quote"; said: Quoted }
  | { ref: MessageRef; kind: "living"; living: LivingCard; edits: number }
  | { ref: MessageRef; kind: "begun"; soFar: readonly Progress[] };

export interface ChatOptions {
  /** What its keys begin with. Default: `test`. */
  transport?: string;
  /** What an earlier attempt has shown is found by the delivery's id, as platforms do. */
  finds?: boolean;
  /** Account → standing; who is not listed is `unknown`. Default: ana, bob, cy are members. */
  standings?: Record<string, Membership>;
  groups?: Record<string, string[]>;
  /** What people call accounts and groups. */
  names?: Record<string, string>;
  singleOperator?: boolean;
  /** What people call the place. */
  place?: string;
  /** The channel that its threads are in. Default: each is its own. */
  channel?: string;
  /** A run's progress is shown in a message of its own, which goes before its answer comes. */
  begins?: boolean;
  /** What stands above a message. */
  earlier?: View["earlier"];
  /** Its messages have addresses: long threads are summed up. */
  links?: boolean;
  /** Throws to refuse a delivery. */
  refuse?: (what: string) => void;
}

export interface Chat {
  adapter: Adapter;
  /** What stands in the chat now: retracted messages are gone, settled cards are up to date. */
  shown: Shown[];
  progress: Progress[];
  /** What each delivery was called, in order. */
  deliveries: Delivery[];
  standings: Record<string, Membership>;
  groups: Record<string, string[]>;
  answers(): Extract<Outgoing, { kind: "answer" }>[];
  notices(): Extract<Outgoing, { kind: "notice" }>[];
  cards(): ActionCard[];
  whispers(): string[];
}

/** A chat with several people, in memory: keeps what is shown as a platform would, with references. */
export function createChat(options: ChatOptions = {}): Chat {
  const shown: Shown[] = [];
  const progress: Progress[] = [];
  const deliveries: Delivery[] = [];
  const standings = options.standings ?? {
    "test:ana": "member",
    "test:bob": "member",
    "test:cy": "member",
  };
  const groups = options.groups ?? {};
  const transport = options.transport ?? "test";
  const found = new Map<string, MessageRef>();
  let messages = 0;
  const ref = () => `m${++messages}`;
  const put = (item: Shown) => {
    options.refuse?.(item.kind);
    shown.push(item);
    return item.ref;
  };
  /** Puts it, or finds what an earlier attempt put. */
  const once = ({ id, isRetry }: Delivery, item: Shown) => {
    const earlier = options.finds === true && isRetry ? found.get(id) : undefined;
    if (earlier !== undefined) return earlier;
    const made = put(item);
    found.set(id, made);
    return made;
  };
  const view: View = {
    progress: (update) => void progress.push(update),
    ...(options.begins === true && {
      openProgress: async (delivery: Delivery, soFar: readonly Progress[]) => {
        deliveries.push(delivery);
        return put({ ref: ref(), kind: "begun", soFar });
      },
    }),
    ...(options.earlier !== undefined && { earlier: options.earlier }),
    ...(options.links === true && {
      linkTo: (known: MessageRef) => `https://${transport}/${known}`,
    }),
    async post(message, delivery) {
      deliveries.push(delivery);
      return once(delivery, { ref: ref(), kind: "say", message });
    },
    postPrivately: async (to, text, offer) => put({ ref: ref(), kind: "whisper", to, text, offer }),
    updateNotice: async (known, notice) => {
      options.refuse?.("amend");
      const index = shown.findIndex((each) => each.ref === known);
      const item = shown[index];
      if (item === undefined) return;
      if (notice === undefined) shown.splice(index, 1);
      else if (item.kind === "say") item.message = notice;
      else if (item.kind === "whisper") item.text = notice.text;
    },
    postCard: async (card, delivery) => once(delivery, { ref: ref(), kind: "card", card }),
    async quote(said, delivery, known) {
      options.refuse?.("quote");
      const item = shown.find((each) => each.ref === known);
      if (item?.kind === "quote") item.said = said;
      return known ?? once(delivery, { ref: ref(), kind: "quote", said });
    },
    postLiving: async (living, delivery) =>
      once(delivery, { ref: ref(), kind: "living", living, edits: 0 }),
    updateLiving: async (known, living) => {
      options.refuse?.("edit");
      const item = shown.find((each) => each.ref === known);
      if (item?.kind !== "living") return;
      item.living = living;
      item.edits += 1;
    },
    updateCard: async (known, card) => {
      options.refuse?.("settle");
      const item = shown.find((each) => each.ref === known);
      if (item?.kind === "card") item.card = card;
    },
    delete: async (known) => {
      const index = shown.findIndex((each) => each.ref === known);
      if (index >= 0) shown.splice(index, 1);
    },
  };
  const people: People = {
    membership: async (account) => standings[account] ?? "unknown",
    members: async (group) => groups[group],
    label: async (reference) => options.names?.[reference],
    everyone: async () => Object.keys(standings),
    timezone: async () => undefined,
  };
  const said = () => shown.flatMap((each) => (each.kind === "say" ? [each.message] : []));
  return {
    adapter: {
      transport,
      people,
      singleOperator: options.singleOperator ?? false,
      view: (key) => (key.startsWith(`${transport}:`) ? view : undefined),
      audience: async () => undefined,
      tenants: async () => "all",
      channel: async (key) => options.channel ?? key,
      link: () => undefined,
      placeName: async () => options.place,
    },
    shown,
    progress,
    deliveries,
    standings,
    groups,
    answers: () => said().filter((message) => message.kind === "answer"),
    notices: () => said().filter((message) => message.kind === "notice"),
    cards: () => shown.flatMap((each) => (each.kind === "card" ? [each.card] : [])),
    whispers: () => shown.flatMap((each) => (each.kind === "whisper" ? [each.text] : [])),
  };
}
