import { editFormContract } from "../contracts/edit-form.ts";
import { openGuild } from "./discord/guild.ts";
import { openWorkspace } from "./slack/workspace.ts";
import { openDesk } from "./terminal/desk.ts";

editFormContract("Slack", openWorkspace);
editFormContract("Discord", openGuild);
editFormContract("the terminal", () => openDesk({ interactive: true }));
