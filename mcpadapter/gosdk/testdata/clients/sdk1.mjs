// Tests the TypeScript SDK 1.x, which lists page by page: sdk1.mjs URL COMMAND ARGUMENTS...
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { check } from './check.mjs';

const [url, command, ...args] = process.argv.slice(2);
for (const transport of [new StdioClientTransport({ command, args }), new StreamableHTTPClientTransport(new URL(url))]) {
  const client = new Client({ name: 'sdk1', version: '1.0.0' });
  await client.connect(transport);
  await check(client, [50, 50, 20]);
  const reports = [], errors = [];
  client.onerror = error => errors.push(error.message); // of a notification without a running request
  await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, undefined, { onprogress: p => reports.push(p.progress) });
  await client.ping(); // arrives after all notifications of the call
  assert.deepEqual(errors, []);
  assert.ok(reports.length >= 3 && reports.every((n, i) => i === 0 || n > reports[i - 1]), `progress ${reports}`);
  await client.close();
  console.log('TypeScript SDK 1.x,', transport.constructor.name);
}
