export interface HttpRequest {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
  /** What stands behind the address's question mark. */
  query: URLSearchParams;
}

export interface HttpReply {
  status: number;
  text?: string;
  /** Sent as JSON, where there is no text. */
  json?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Sent in place of both as it comes; cancelled when whoever asked is gone. */
  stream?: ReadableStream<Uint8Array>;
}

/** One address at which a part of the program takes requests; the program's one server has it. */
export interface HttpRoute {
  method: "GET" | "POST" | "DELETE";
  /** Without a query, such as `/slack/events`; one that ends with `/*` has all beneath it that is no other's. */
  path: string;
  /** True: only this machine may ask; connections that do not come over loopback get 403. */
  isLocal?: boolean;
  /** Of a request's body. Default: 1 MiB. */
  maxBytes?: number;
  /** What whoever sends more can do, as a sentence. */
  tooLong?: string;
  /** The reply that refuses the request by its headers alone: its body is then not read. Undefined: it is read. */
  refuse?(headers: HttpRequest["headers"]): HttpReply | undefined;
  /** Answers for its own failures; what it throws is a 500. */
  handle(request: HttpRequest): Promise<HttpReply>;
  /** Says why a request did not get that far: its body was too long, or cut off. */
  onCut?(why: string): void;
}
