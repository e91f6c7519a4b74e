// Compares the reference filesystem server with a server of the library: filesystem.mjs COMMAND ARGUMENTS..., to which
// the script adds the root. The script leaves its files in the working directory. Each assertion shows a claim of
// docs/comparison.md. If an assertion fails after an update of the reference server, correct the document.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { readFileContent, setAllowedDirectories, validatePath } from '@modelcontextprotocol/server-filesystem/dist/lib.js';

const base = fs.realpathSync(fs.mkdtempSync('filesystem-'));
const root = path.join(base, 'root'), outside = path.join(base, 'outside');
for (const dir of ['many', 'names', 'dir', 'commands']) fs.mkdirSync(path.join(root, dir), { recursive: true });
fs.mkdirSync(outside);
for (let i = 0; i < 10_001; i++) fs.mkdirSync(path.join(root, 'many', `${i}`));
fs.writeFileSync(path.join(root, 'names', 'a\n[DIR] forged'), '');
fs.writeFileSync(path.join(root, 'dir', 'file'), 'inside');
fs.writeFileSync(path.join(outside, 'file'), 'outside');
fs.symlinkSync(outside, path.join(root, 'link'));

async function connect(command, args) {
  const client = new Client({ name: 'filesystem', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
  return client;
}

const [command, ...args] = process.argv.slice(2);
const servers = { reference: await connect('mcp-server-filesystem', [root]), ours: await connect(command, [...args, root]) };

async function tools(server) {
  return (await servers[server].listTools()).tools.map(tool => tool.name);
}

async function list(server, directory) {
  const result = await servers[server].callTool({ name: 'list_directory', arguments: { path: path.join(root, directory) } });
  const lines = result.content[0].text.split('\n');
  return { lines, entries: lines.filter(line => /^\[(FILE|DIR|LINK)\]/.test(line)), isError: result.isError === true };
}

// The reference server writes and edits files. The tools of the library do not.
for (const tool of ['write_file', 'edit_file', 'create_directory', 'move_file']) {
  assert.ok((await tools('reference')).includes(tool), tool);
  assert.ok(!(await tools('ours')).includes(tool), tool);
}
assert.ok(!(await tools('reference')).some(tool => /command|skill/.test(tool)));

// A list of the reference server has no limit and no total.
assert.equal((await list('reference', 'many')).lines.length, 10_001);
const many = await list('ours', 'many');
assert.equal(many.entries.length, 1_000);
assert.match(many.lines[1], /10,?001 directories/);
assert.match(many.lines.at(-1), /the next cursor is /);

// On the reference server, a name can forge an entry.
assert.deepEqual((await list('reference', 'names')).entries, ['[FILE] a', '[DIR] forged']);
assert.deepEqual((await list('ours', 'names')).entries, ['[FILE] a\\n[DIR] forged  (0 B)']);

// Both servers refuse a link out of the root. The reference server shows the path outside.
const refused = await list('reference', 'link');
assert.ok(refused.isError && refused.lines[0].includes(outside));
const confined = await list('ours', 'link');
assert.ok(confined.isError && !confined.lines[0].includes(outside));

// The reference server shows a link as a file.
assert.ok((await list('reference', '')).entries.includes('[FILE] link'));
assert.ok((await list('ours', '')).entries.includes('[LINK] link (outside root)'));
await Promise.all(Object.values(servers).map(server => server.close()));

// The functions of read_text_file, in the order of the tool: a directory becomes a link between the check and the use.
setAllowedDirectories([root]);
const checked = await validatePath(path.join(root, 'dir', 'file'));
fs.renameSync(path.join(root, 'dir'), path.join(root, 'old'));
fs.symlinkSync(outside, path.join(root, 'dir'));
assert.equal(await readFileContent(checked), 'outside');
console.log('The reference filesystem server behaves as documented in docs/comparison.md');
