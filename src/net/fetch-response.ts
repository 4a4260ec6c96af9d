import { Readable } from "node:stream";
import type { Dispatcher } from "undici";

export interface AnswerParts extends Pick<
  Dispatcher.ResponseData,
  "statusCode" | "statusText" | "headers"
> {
  url: string;
  /** Unpacked; undefined where the answer can have none. */
  body: Readable | undefined;
  maxBytes: number;
  /** What to throw when more comes, and for an error of the stream. */
  excess(): unknown;
  errorOf(cause: unknown): unknown;
}

/** An answer as a `Response`. A stream is made only for who asks for it: most want the whole text, which is cheaper. */
export class LeanResponse implements Response {
  readonly redirected = false;
  readonly type = "default";
  readonly #parts: AnswerParts;
  #headers: Headers | undefined;
  #stream: ReadableStream<Uint8Array<ArrayBuffer>> | undefined;
  #isTaken = false;
  #full: Response | undefined;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
  }

  get status(): number {
    return this.#parts.statusCode;
  }

  get statusText(): string {
    return this.#parts.statusText;
  }

  get url(): string {
    return this.#parts.url;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get headers(): Headers {
    if (this.#headers !== undefined) return this.#headers;
    this.#headers = new Headers();
    for (const [name, values = []] of Object.entries(this.#parts.headers))
      for (const value of [values].flat()) this.#headers.append(name, value);
    return this.#headers;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (this.#full !== undefined) return this.#full.body;
    if (this.#parts.body === undefined) return null;
    return (this.#stream ??= streamOf(this.#parts.body, this.#parts));
  }

  get bodyUsed(): boolean {
    if (this.#full !== undefined) return this.#full.bodyUsed;
    return this.#isTaken || (this.#stream !== undefined && isDisturbed(this.#stream));
  }

  async text(): Promise<string> {
    return this.#full === undefined
      ? new TextDecoder().decode(await this.#all())
      : this.#full.text();
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.arrayBuffer());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    if (this.#full !== undefined) return this.#full.arrayBuffer();
    return new Uint8Array(await this.#all()).buffer;
  }

  async blob(): Promise<Blob> {
    return this.#whole().blob();
  }

  async formData(): Promise<FormData> {
    return this.#whole().formData();
  }

  clone(): Response {
    return this.#whole().clone();
  }

  /** The platform's own class does what is seldom asked for. */
  #whole(): Response {
    const { body, status, statusText, headers } = this;
    return (this.#full ??= new Response(body, { status, statusText, headers }));
  }

  async #all(): Promise<Uint8Array> {
    if (this.bodyUsed || this.#stream?.locked === true)
      throw new TypeError("Body is unusable: it has been read already");
    this.#isTaken = true;
    const { body, maxBytes, excess, errorOf } = this.#parts;
    if (body === undefined) return new Uint8Array();
    const chunks: Buffer[] = [];
    let total = 0;
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    body.on("data", (chunk: Buffer) => {
      total += chunk.length;
      chunks.push(chunk);
      if (total <= maxBytes) return;
      reject(excess());
      body.destroy();
    });
    body.on("end", () => resolve(Buffer.concat(chunks)));
    body.on("error", (cause) => reject(errorOf(cause)));
    body.on("close", () => reject(errorOf(new Error("cut off"))));
    return promise;
  }
}

function isDisturbed(stream: object): boolean {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it takes web streams too; the types have another class of that name
  return Readable.isDisturbed(stream as Readable);
}

function streamOf(
  body: Readable,
  { maxBytes, excess, errorOf }: AnswerParts,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  let total = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await chunks.next().catch((cause: unknown) => {
          throw errorOf(cause);
        });
        if (done === true) return controller.close();
        total += value.length;
        if (total > maxBytes) {
          body.destroy();
          throw excess();
        }
        controller.enqueue(new Uint8Array(value));
      },
      cancel: () => void body.destroy(),
    },
    { highWaterMark: 0 },
  );
}
