import type { jsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/types.js";

/** Servers' schemas of results are not compiled: nothing here relies on them, and they may be made to be slow. */
export const noValidator: jsonSchemaValidator = {
  getValidator: () => (input) => ({
    valid: true,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is asked for nothing else than what it is given
    data: input as never,
    errorMessage: undefined,
  }),
};
