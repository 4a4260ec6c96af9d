/**
 * Tools that look at nothing outside: what they return shows nothing about the systems, and what they do changes none. By name,
 * since old journals say no more of a call; `Tool.ours` is about something else: what other threads wrote into incidents is not
 * this program's word. A freeze is no housekeeping: it holds back what people do to the systems, and a record shows it.
 */
export const HOUSEKEEPING =
  /^(?:incident_\w+|handoff|thread_search|remember|forget|notes|recall|approval_list|feedback_list|freeze_list|cost_per_day|whoami|mirror|unmirror|ask_user|activate_skill|read_skill_file|find_skill|propose_skill_change|mcp_accept|find_tools|update_plan|delegate|write_note|list_completed|summarize|append_to_report)$/;
