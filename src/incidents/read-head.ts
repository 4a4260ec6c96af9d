/** How far a journal was read. */
export interface ReadHead {
  id: string;
  last: number;
  head: string | undefined;
}
