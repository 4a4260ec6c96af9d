/** Of the number that a sketch has beside its bits: how far its sum counts. */
export const SCALE_BYTES = 4;

/** Turns of a vector: each mixes more of its numbers with each other. */
const TURNS = 4;
/** Sums of a byte's eight numbers, for each byte there is. */
const SUMS = 256;
const SUMS_BYTES = SUMS * 4;

/** What a question's vector is compared with sketches by. */
export interface Asked {
  /** Of each byte of a sketch the sums of the asked numbers, each added or taken off as its bit says. */
  readonly sums: DataView;
  readonly bytes: number;
}

/**
 * Sketches of vectors, a bit for each number and one number beside them: what is left of a vector when the centre of its space is taken off, turned
 * at random and rounded to its signs, with what makes the product that is estimated from them right in the mean. Without the turn, signs
 * of vectors that count something say next to nothing. After Gao and Long, "RaBitQ" (SIGMOD 2024); turns of
 * any length as their library makes them.
 */
export function createSketcher(dimensions: number) {
  // Whole words.
  const bytes = Math.ceil(dimensions / 32) * 4;
  const turn = createTurn(dimensions);

  function leftOf(vector: Float32Array, centre: Float32Array): Float32Array {
    const length = lengthOf(vector);
    const left = vector.map((value, i) => value / length - (centre[i] ?? 0));
    turn(left);
    return left;
  }

  return {
    bytes,
    /** Its bits into `bits`; how far their sum counts. */
    sketch(vector: Float32Array, centre: Float32Array, bits: Uint8Array): number {
      const left = leftOf(vector, centre);
      let [square, sum] = [0, 0];
      bits.fill(0);
      for (let i = 0; i < dimensions; i++) {
        const value = left[i] ?? 0;
        square += value * value;
        sum += Math.abs(value);
        if (value > 0) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
      }
      return sum === 0 ? 0 : square / sum;
    },
    asked(vector: Float32Array, centre: Float32Array): Asked {
      const left = leftOf(vector, centre);
      const sums = new DataView(new ArrayBuffer(bytes * SUMS * 4));
      const known = new Float64Array(SUMS);
      for (let byte = 0; byte < bytes; byte++) {
        known[0] = -left.subarray(byte * 8, byte * 8 + 8).reduce((sum, value) => sum + value, 0);
        sums.setFloat32(byte * SUMS_BYTES, known[0], true);
        for (let bits = 1; bits < SUMS; bits++) {
          // As without its lowest bit, but that number is added and not taken off.
          const lowest = 31 - Math.clz32(bits & -bits);
          const sum = (known[bits & (bits - 1)] ?? 0) + 2 * (left[byte * 8 + lowest] ?? 0);
          known[bits] = sum;
          sums.setFloat32((byte * SUMS + bits) * 4, sum, true);
        }
      }
      return { sums, bytes };
    },
  };
}

export type Sketcher = ReturnType<typeof createSketcher>;

/** How alike each of `used` sketches is to what is asked, both without their centre. Through views: elements that might not be there cost more. */
export function estimate(
  { sums, bytes }: Asked,
  { bits, scales, used }: { bits: DataView; scales: DataView; used: number },
  near: Float32Array,
  from: number,
): void {
  for (let i = 0, at = 0; i < used; i++) {
    let [a, b, c, d] = [0, 0, 0, 0];
    // Four sums: none waits for another.
    for (let sum = 0; sum < bytes * SUMS_BYTES; sum += 4 * SUMS_BYTES, at += 4) {
      const word = bits.getUint32(at, true);
      a += sums.getFloat32(sum + ((word & 255) << 2), true);
      b += sums.getFloat32(sum + SUMS_BYTES + (((word >>> 8) & 255) << 2), true);
      c += sums.getFloat32(sum + 2 * SUMS_BYTES + (((word >>> 16) & 255) << 2), true);
      d += sums.getFloat32(sum + 3 * SUMS_BYTES + ((word >>> 24) << 2), true);
    }
    near[from + i] = (a + b + c + d) * scales.getFloat32(i * SCALE_BYTES, true);
  }
}

/** The mean of these rows' directions. */
export function centreOf(
  rows: readonly number[],
  vectorOf: (row: number) => Float32Array | undefined,
  dimensions: number,
): Float32Array {
  const sum = new Float64Array(dimensions);
  for (const row of rows) {
    const vector = vectorOf(row) ?? new Float32Array(dimensions);
    const length = lengthOf(vector);
    for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + (vector[i] ?? 0) / length;
  }
  return Float32Array.from(sum, (value) => value / Math.max(1, rows.length));
}

function lengthOf(vector: Float32Array): number {
  let square = 0;
  for (let i = 0; i < vector.length; i++) square += (vector[i] ?? 0) ** 2;
  return Math.sqrt(square) || 1;
}

/**
 * Turns a vector in its place, always in the same way: signs by chance, then Hadamard's transform of the longest part whose length is a power
 * of two, at the beginning and at the end by turns. Angles and lengths stay.
 */
function createTurn(dimensions: number): (vector: Float32Array) => void {
  const part = 2 ** Math.floor(Math.log2(dimensions));
  const scale = 1 / Math.sqrt(part);
  const flips = signsByChance(dimensions * TURNS);
  return (vector) => {
    for (let round = 0; round < TURNS; round++) {
      for (let i = 0; i < dimensions; i++)
        vector[i] = (vector[i] ?? 0) * (flips[round * dimensions + i] ?? 1);
      const from = round % 2 === 0 ? 0 : dimensions - part;
      for (let half = 1; half < part; half *= 2)
        for (let start = from; start < from + part; start += 2 * half)
          for (let i = start; i < start + half; i++) {
            const [a, b] = [vector[i] ?? 0, vector[i + half] ?? 0];
            vector[i] = a + b;
            vector[i + half] = a - b;
          }
      for (let i = from; i < from + part; i++) vector[i] = (vector[i] ?? 0) * scale;
    }
  };
}

/** The same ones each time: what is kept in a file was made with them. */
function signsByChance(count: number): Int8Array {
  let state = 0x9e3779b9;
  return Int8Array.from({ length: count }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state < 0 ? -1 : 1;
  });
}
