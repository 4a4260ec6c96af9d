import * as z from "zod";
import { maybe } from "./alert.ts";

/** https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html */
export const snsMessage = z.object({
  Type: z.enum(["Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation"]),
  MessageId: z.string(),
  TopicArn: z.string(),
  Subject: maybe.nullable(),
  Message: z.string(),
  Timestamp: z.string(),
  Token: maybe,
  SubscribeURL: maybe,
  SignatureVersion: z.enum(["1", "2"]),
  Signature: z.string(),
  SigningCertURL: z.string(),
});

export type SnsMessage = z.infer<typeof snsMessage>;
