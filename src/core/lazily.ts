/** What `make` gives, made when it is first asked for: what costs milliseconds does not hold up a start. */
export function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
