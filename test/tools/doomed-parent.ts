import { createExec } from "../../src/tools/process.ts";
import { nothingHeld } from "../fakes/encoder.ts";

/** Runs a tree of processes again and again under the given folder until somebody kills this process. */

const [tmpDir = ""] = process.argv.slice(2);
const exec = createExec({ encoder: nothingHeld, tmpDir });
const { signal } = new AbortController();

const TREE = `
sleep 300 &
(sleep 300 & sleep 300) &
timeout 300 sleep 300 &
sh -mc 'sleep 300 & wait' &
trap '' TERM HUP
echo started
sleep 300`;

process.stdout.write("ready\n");
await Promise.all([exec(["sh", "-c", TREE], { signal }), exec(["sleep", "300"], { signal })]);
