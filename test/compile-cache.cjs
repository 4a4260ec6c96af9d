const { enableCompileCache } = require("node:module");
const { join } = require("node:path");

// Required by every test process and so by every thread that it starts: those get an empty environment from the program, so that
// NODE_COMPILE_CACHE does not reach them, and each would strip its sources of their types again, in twice the time.
enableCompileCache(join(__dirname, "../node_modules/.cache/watchkeeper"));
