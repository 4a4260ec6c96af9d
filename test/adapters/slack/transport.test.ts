import { transportContract } from "../../contracts/transport.ts";
import { openWorkspace } from "./workspace.ts";

transportContract("Slack", openWorkspace);
