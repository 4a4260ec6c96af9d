/** One thing that was looked at. `absent`: not here, and only what needs it will not work. */
export interface CheckedPart {
  state: "ok" | "absent" | "broken";
  subject: string;
  text: string;
}
