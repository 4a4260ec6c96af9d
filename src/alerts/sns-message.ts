import * as z from "zod";

/** One line: what is signed are lines, and one that holds a line break could be read as two others. */
const line = z.string().regex(/^[^\r\n]*$/, "has a line break");

/** https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html */
export const snsMessage = z.object({
  Type: z.enum(["Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation"]),
  MessageId: z.guid(),
  TopicArn: line,
  Subject: line.nullish(),
  Message: z.string(),
  Timestamp: z.iso.datetime({ precision: 3 }),
  Token: line.optional(),
  SubscribeURL: line.optional(),
  SignatureVersion: z.enum(["1", "2"]),
  Signature: z.string(),
  SigningCertURL: z.string(),
});

export type SnsMessage = z.infer<typeof snsMessage>;
