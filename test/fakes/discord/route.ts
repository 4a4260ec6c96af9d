import type { Platform } from "./platform.ts";
import type { Body } from "./world.ts";

/** A request after the door: known route, right token, readable body. */
export interface Asked {
  readonly platform: Platform;
  /** The parts of the path with a colon; empty for one that the pattern has not. */
  readonly param: (name: string) => string;
  readonly query: URLSearchParams;
  readonly body: Body;
}

/** An answer; no body is a 204. */
export type Answer = Body | readonly unknown[] | undefined;

export interface Route {
  readonly method: string;
  /** Such as `/channels/:channel/messages`. */
  readonly pattern: string;
  /** Works without the bot's token. */
  readonly open?: true;
  /** 200 where there is a body. */
  readonly status?: number;
  /** @throws Refusal */
  readonly run: (asked: Asked) => Answer;
}
