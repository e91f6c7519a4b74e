// Tests the TypeScript SDK 2.x, which lists all pages at once, in each era: sdk2.mjs URL COMMAND ARGUMENTS...
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { check } from './check.mjs';

const [url, command, ...args] = process.argv.slice(2);
for (const [mode, version] of [['legacy', '2025-11-25'], ['auto', '2026-07-28'], [{ pin: '2026-07-28' }, '2026-07-28']]) {
  for (const transport of [new StdioClientTransport({ command, args }), new StreamableHTTPClientTransport(new URL(url))]) {
    const client = new Client({ name: 'sdk2', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(transport);
    assert.equal(client.getNegotiatedProtocolVersion(), version);
    await check(client, [120]);
    await client.close();
    console.log('TypeScript SDK 2.x,', transport.constructor.name, version);
  }
}
