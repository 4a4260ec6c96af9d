import { install } from "../install.ts";

/** What the tests against real servers need beside npm. */
export function setup(): void {
  install({ "nginx-light": "nginx", "redis-server": "redis-server" });
}
