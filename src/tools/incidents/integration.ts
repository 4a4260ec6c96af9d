import * as z from "zod";
import { defineIntegration } from "../integration.ts";
import { changeSource } from "./changes.ts";
import { createIncidentGet } from "./incident-get.ts";
import { createIncidentPostmortem } from "./incident-postmortem.ts";
import { createIncidentSearch } from "./incident-search.ts";
import { createIncidentStats } from "./incident-stats.ts";
import { createIncidentOpen, createIncidentResolve, createIncidentUpdate } from "./record-tools.ts";

/** The record of incidents. */
export const incidents = defineIntegration({
  name: "incidents",
  settings: z.object({}),
  changes: (_, { ledger }) => changeSource(ledger),
  tools: (_, { ledger }) => [
    createIncidentOpen(ledger),
    createIncidentUpdate(ledger),
    createIncidentResolve(ledger),
    createIncidentSearch(ledger),
    createIncidentGet(ledger),
    createIncidentStats(ledger),
    createIncidentPostmortem(ledger),
  ],
});
