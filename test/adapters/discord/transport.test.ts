import { transportContract } from "../../contracts/transport.ts";
import { openGuild } from "./guild.ts";

transportContract("Discord", openGuild);
