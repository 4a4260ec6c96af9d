import { hash, timingSafeEqual } from "node:crypto";
import type { HttpRequest } from "./http-route.ts";

const hashed = (text: string) => hash("sha256", text, "buffer");

/** Whether a request carries the token as `Authorization: Bearer …`; it takes as long for any text. Without a token none does. */
export function createBearerCheck(
  token: string | undefined,
): (headers: HttpRequest["headers"]) => boolean {
  const right = hashed(`Bearer ${token ?? ""}`);
  return (headers) =>
    token !== undefined && timingSafeEqual(hashed(String(headers["authorization"] ?? "")), right);
}
