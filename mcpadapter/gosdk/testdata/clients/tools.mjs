// tools.mjs FILE N: checks that the Inspector's result of tools/list in FILE has N tools, and that Ajv compiles the
// schemas of the library's tools in strict mode.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import Ajv from 'ajv/dist/2020.js';

const [file, n] = process.argv.slice(2);
const { tools } = JSON.parse(readFileSync(file)).result;
assert.equal(tools.length, Number(n));

// The conformance suite requires these schemas, with a keyword of MCP and properties outside the schema of an anyOf.
const suite = ['test_header', 'json_schema_2020_12_tool'];
for (const { name, inputSchema, outputSchema } of tools.filter(tool => !suite.includes(tool.name))) {
  for (const [part, schema] of Object.entries({ inputSchema, outputSchema })) {
    assert.doesNotThrow(() => new Ajv({ strict: true, formats: { 'date-time': true } }).compile(schema ?? {}), `${part} of ${name}`);
  }
}
