const FACTORS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** `250m` → 0.25, `1Gi` → 1073741824; 0 for what is no quantity. */
export function quantity(value: string | number | undefined): number {
  if (value === undefined || typeof value === "number") return value ?? 0;
  const [, digits, suffix = ""] =
    /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([A-Za-z]{0,2})$/.exec(value) ?? [];
  return Number(digits ?? 0) * (FACTORS[suffix] ?? 0) || 0;
}

/** As people write it: CPUs in thousandths where there are few, memory in binary units. */
export function showQuantity(resource: string, amount: number): string {
  if (!/memory|storage/.test(resource))
    return amount < 10 && !Number.isInteger(amount)
      ? `${Math.round(amount * 1_000)}m`
      : String(Number(amount.toFixed(1)));
  for (const suffix of ["Ti", "Gi", "Mi", "Ki"]) {
    const factor = FACTORS[suffix] ?? 1;
    if (amount >= factor) return `${Number((amount / factor).toFixed(1))}${suffix}`;
  }
  return String(amount);
}
