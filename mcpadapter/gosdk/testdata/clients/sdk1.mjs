// Tests the TypeScript SDK 1.x, which lists page by page: sdk1.mjs URL COMMAND ARGUMENTS...
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { check } from './check.mjs';

const [url, command, ...args] = process.argv.slice(2);
for (const transport of [new StdioClientTransport({ command, args }), new StreamableHTTPClientTransport(new URL(url))]) {
  const client = new Client({ name: 'sdk1', version: '1.0.0' });
  await client.connect(transport);
  await check(client, [50, 50, 20]);
  await client.close();
  console.log('TypeScript SDK 1.x,', transport.constructor.name);
}
