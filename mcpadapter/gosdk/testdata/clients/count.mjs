// count.mjs FILE N: checks that the Inspector's result of tools/list in FILE has N tools.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const [file, n] = process.argv.slice(2);
assert.equal(JSON.parse(readFileSync(file)).result.tools.length, Number(n));
