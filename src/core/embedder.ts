/** Makes vectors of texts: those of alike texts are near each other. */
export interface Embedder {
  /** `<provider>/<model>`; what another one made cannot be compared. */
  readonly id: string;
  /** One vector for each text, in their order. @throws ModelError, BotError ABORTED */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}
