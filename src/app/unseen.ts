import { randomUUID } from "node:crypto";
import type { View } from "../adapters/view.ts";

/** Nobody looks on: what is shown here is shown. */
export const UNSEEN: View = {
  progress: () => {},
  post: async () => randomUUID(),
  postPrivately: async () => randomUUID(),
  updateNotice: async () => {},
  postCard: async () => randomUUID(),
  updateCard: async () => {},
  delete: async () => {},
};
