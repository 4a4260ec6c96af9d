import { renameSync, rmSync, symlinkSync } from "node:fs";

/** Turns `place` from a folder into a link to `elsewhere` and back until somebody kills this process. */

const [place = "", elsewhere = ""] = process.argv.slice(2);
const aside = `${place}.aside`;

process.stdout.write("ready\n");
for (;;) {
  renameSync(place, aside);
  symlinkSync(elsewhere, place);
  rmSync(place);
  renameSync(aside, place);
}
