import { transportContract } from "../../contracts/transport.ts";
import { openDesk } from "./desk.ts";

transportContract("the terminal", () => openDesk(), { crowd: false });
