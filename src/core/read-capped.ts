/**
 * Reads at most `maxBytes` of a stream and ends it when there is more: then it is not whole. What arrived before an error is
 * kept: then `error` is set, and it is not whole either.
 */
export async function readCapped(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ bytes: Buffer; isWhole: boolean; error?: Error }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const end = (isWhole: boolean) => ({
    bytes: Buffer.concat(chunks).subarray(0, maxBytes),
    isWhole,
  });
  try {
    for await (const chunk of stream) {
      chunks.push(chunk);
      size += chunk.byteLength;
      // Leaving the loop ends the stream.
      if (size > maxBytes) return end(false);
    }
    return end(true);
  } catch (cause) {
    const error = cause instanceof Error ? cause : new Error(String(cause), { cause });
    return { ...end(false), error };
  }
}
