import type { JournalKey } from "../core/journal-key.ts";

/** An incident that nobody has resolved, as one line tells of it. */
export interface OpenIncident {
  id: string;
  title: string;
  severity: string | undefined;
  /** Ms since 1970. */
  startedAt: number;
  thread: JournalKey | undefined;
  /** Its thread's address. */
  link: string | undefined;
}

/** What the program is and does beside its threads. */
export interface Overview {
  /** The model, the tools and the host, a line each, without a model too. */
  about(): string[];
  /** Systems that it has tools for, such as `kubernetes`. */
  systems(): string[];
  /** Tokens that all models used today (UTC), and how many they may. */
  today(): Promise<{ tokens: number; limit: number }>;
  /** The public ones of these tenants and those of this private place, the newest first. */
  incidents(viewer: {
    tenants: readonly string[];
    audience: string | undefined;
  }): Promise<OpenIncident[]>;
}
