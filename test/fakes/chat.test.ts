import type { Outgoing } from "../../src/adapters/shown.ts";
import { adapterContract } from "../contracts/adapter.ts";
import { createChat } from "./chat.ts";

function textOf(message: Outgoing): string {
  const results = message.kind === "answer" ? message.results : [];
  const images = results.flatMap((result) => result.images ?? []).map(({ alt }) => `Image: ${alt}`);
  return [message.text, ...results.map(({ text }) => text), ...images].join("\n");
}

adapterContract("the chat that tests use", async () => {
  const chat = createChat();
  return {
    adapter: chat.adapter,
    key: "test:thread",
    foreign: "other:thread",
    account: "test:ana",
    shown: () =>
      chat.shown
        .map((item) => {
          if (item.kind === "whisper") return item.text;
          if (item.kind === "say") return textOf(item.message);
          if (item.kind !== "card") return "";
          const { canonical, preview, approvers, ending, votes } = item.card;
          return [
            canonical,
            preview.blastRadius,
            preview.undo,
            preview.lines[0]?.value,
            approvers,
            ending,
            ...votes.map((v) => v.name),
          ].join("\n");
        })
        .join("\n"),
    close: () => {},
  };
});
