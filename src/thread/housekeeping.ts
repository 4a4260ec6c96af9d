/**
 * Tools that look at nothing outside: what they return shows nothing about the systems. By name, since old journals say no
 * more of a call; `Tool.ours` is about something else: what other threads wrote into incidents is not this program's word.
 */
export const HOUSEKEEPING =
  /^(?:incident_\w+|remember|forget|notes|recall|ask_user|activate_skill|read_skill_file|find_skill|find_tools)$/;
