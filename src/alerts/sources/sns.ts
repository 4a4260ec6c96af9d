import * as z from "zod";
import { tryJson } from "../../core/json.ts";
import { type AlertSource, alertOf, isoTime, maybe, notificationOf } from "../alert.ts";
import { snsMessage } from "../sns-message.ts";

/** A CloudWatch alarm, or words of somebody's; whether Amazon signed them `signatures.ts` says. */

const alarm = z.object({
  AlarmName: z.string(),
  AlarmArn: maybe,
  AlarmDescription: maybe.nullable(),
  AWSAccountId: maybe,
  Region: maybe,
  NewStateValue: z.enum(["ALARM", "OK", "INSUFFICIENT_DATA"]),
  NewStateReason: maybe,
  StateChangeTime: isoTime,
  Trigger: z
    .object({
      MetricName: maybe,
      Namespace: maybe,
      Dimensions: z
        .array(z.object({ name: z.string(), value: z.string() }))
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
});

export const sns: AlertSource = {
  name: "sns",
  read(body) {
    const said = snsMessage.parse(body);
    const { Type, MessageId: id, Message, Subject, Timestamp, TopicArn } = said;
    if (Type !== "Notification") return notificationOf([], { id });
    const inside = alarm.safeParse(tryJson(Message));
    if (inside.success) return notificationOf([ofAlarm(inside.data, TopicArn)], { id });
    const [first = ""] = Message.trim().split("\n");
    const alert = alertOf({
      // Words have no state: each is an alert of its own.
      fingerprint: id,
      status: "firing",
      name: Subject ?? first,
      labels: { topic: TopicArn },
      description: Message,
      startsAt: isoTime.parse(Timestamp),
    });
    return notificationOf([alert], { id });
  },
};

function ofAlarm(said: z.infer<typeof alarm>, topic: string) {
  const { AlarmName, AlarmArn, NewStateValue, NewStateReason, StateChangeTime, Trigger } = said;
  const isOver = NewStateValue === "OK";
  const dimensions = (Trigger?.Dimensions ?? []).map(({ name, value }) => [name, value]);
  return alertOf({
    fingerprint: AlarmArn ?? `${said.AWSAccountId} ${said.Region} ${AlarmName}`,
    status: isOver ? "resolved" : "firing",
    name: AlarmName,
    labels: {
      ...Object.fromEntries(dimensions),
      metric: Trigger?.MetricName,
      metric_namespace: Trigger?.Namespace,
      region: said.Region,
      account: said.AWSAccountId,
      topic,
    },
    summary: said.AlarmDescription ?? undefined,
    description: NewStateReason,
    ...(isOver ? { endsAt: StateChangeTime } : { startsAt: StateChangeTime }),
  });
}
