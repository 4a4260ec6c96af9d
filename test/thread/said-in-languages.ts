/** What an answer says, in several languages, and whether its thread shows it. */
export interface Claim {
  /** What happened before it. */
  after: "read" | "failed" | "acted" | "act_failed" | "denied";
  text: string;
  /** No call shows it, or it lacks what an answer has to have. */
  wrong: boolean;
  about: "act" | "unmarked" | "health" | "decision" | "grade" | "reference" | "talk" | "plain";
}

function claims(
  about: Claim["about"],
  after: Claim["after"],
  wrong: boolean,
  texts: readonly string[],
): Claim[] {
  return texts.map((text) => ({ about, after, wrong, text }));
}

export const CLAIMS: readonly Claim[] = [
  ...claims("act", "read", true, [
    "CONFIRMED: nginx hung [T1]. DONE: nginx restarted [T1].",
    "CONFIRMED: nginx hing [T1]. DONE: nginx neu gestartet [T1].",
    "CONFIRMED: nginx estaba colgado [T1].\n\n- **DONE** [T1]: nginx reiniciado.",
    "CONFIRMED: nginxが応答していませんでした [T1]。DONE：nginxを再起動しました [T1]。",
    "LIKELY: le cache était plein [T1].\n\nDONE: cache vidé.",
    "DONE: réplica escalada para 3 [T1].",
  ]),
  ...claims("act", "acted", false, [
    "CONFIRMED: web hung. DONE: web restarted [T1].",
    "CONFIRMED: web hing. DONE: web neu gestartet [T1].",
    "DONE: web reiniciado [T1]; responde otra vez [T2].",
    "CONFIRMED: webは正常です [T2]。DONE: webを再起動しました [T1]。",
  ]),
  ...claims("act", "act_failed", true, [
    "CONFIRMED: web hung. DONE: web restarted [T1].",
    "CONFIRMED: web hing. DONE: web neu gestartet [T1].",
    "DONE: web reiniciado [T1].",
    "DONE: webを再起動しました [T1]。",
  ]),
  ...claims("unmarked", "read", true, [
    "CONFIRMED: nginx hung [T1]. I restarted it.",
    "CONFIRMED: it was full [T1].\n\n- Deleted the old logs.",
    "CONFIRMED: nginx hing [T1]. Ich habe es neu gestartet.",
    "CONFIRMED: nginx estaba colgado [T1]. Lo he reiniciado.",
    "CONFIRMED: nginxが応答していませんでした [T1]。再起動しました。",
  ]),
  ...claims("health", "failed", true, [
    "CONFIRMED: web is running again [T1].",
    "CONFIRMED: web läuft wieder [T1].",
    "CONFIRMED: web funciona de nuevo [T1].",
    "CONFIRMED: webは復旧しました [T1]。",
    "LIKELY: tout va bien pour web [T1].",
  ]),
  ...claims("health", "failed", false, [
    "CONFIRMED: web cannot be reached: connection refused [T1].",
    "CONFIRMED: web ist nicht erreichbar, „connection refused“ [T1].",
    "CONFIRMED: web no responde (`connection refused`) [T1].",
    "CONFIRMED: webに接続できません: connection refused [T1]。",
    "CONFIRMED: web cannot be reached [T1].",
    "LIKELY: web ist nicht erreichbar [T1].",
  ]),
  ...claims("decision", "denied", false, [
    "LIKELY: redis was not restarted, since it was denied.",
    "LIKELY: redis wurde nicht neu gestartet, das wurde abgelehnt.",
    "LIKELY: redis no se reinició porque se rechazó.",
    "LIKELY: 却下されたため、redis は再起動していません。",
    "The restart was denied, so redis is as it was.",
    "Der Neustart wurde abgelehnt, redis bleibt, wie es ist.",
    "Vale, lo dejo como está.",
    "再起動は却下されたので、そのままにします。",
  ]),
  ...claims("decision", "denied", true, [
    "CONFIRMED: restarted, as seen in [T2].",
    "CONFIRMED: neu gestartet, siehe [T2].",
    "CONFIRMED: reiniciado, véase [T2].",
    "CONFIRMED: 再起動済みです [T2]。",
  ]),
  ...claims("reference", "read", true, [
    "CONFIRMED: the disk is full.",
    "CONFIRMED: Die Platte ist voll.",
    "LIKELY: el disco está lleno.",
    "LIKELY: ディスクが満杯です [T7]。",
  ]),
  ...claims("grade", "read", true, [
    "The disk of db-1 is full.",
    "Die Platte von db-1 ist voll.",
    "El disco de db-1 está lleno.",
    "db-1のディスクが満杯です。",
  ]),
  ...claims("talk", "read", false, [
    "You are welcome.",
    "Gern geschehen.",
    "De nada.",
    "どういたしまして。",
    "Do you want me to look at the disk as well?",
    "Soll ich auch die Platte ansehen?",
    "¿Miro también el disco?",
    "ディスクも確認しますか？",
  ]),
  ...claims("plain", "read", false, [
    "CONFIRMED: the new release broke it [T1]. Restarted the pods: the kubelet, at 10:02 [T1].",
    "LIKELY: the autoscaler scaled it down [T1]: killed the oldest pod first.",
    "CONFIRMED: the log ends with “we have disabled the replica” [T1].",
    "CONFIRMED: the job's state is DONE [T1]. Nobody has restarted it.",
    "CONFIRMED: Die Platte ist voll [T1]. Niemand hat etwas gelöscht.",
    "LIKELY: el disco está lleno [T1]. Hay que borrar los registros viejos.",
    "CONFIRMED: ディスクが満杯です [T1]。古いログを削除してください。",
    "INCONCLUSIVE: rien ne le montre [T1].",
  ]),
];
