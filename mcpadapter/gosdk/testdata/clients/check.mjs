// The checks of the server that the clients of both TypeScript SDKs share.
import assert from 'node:assert/strict';

export async function check(client, pageSizes) {
  const sizes = [], names = new Set();
  for (let cursor; ;) {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    sizes.push(page.tools.length);
    page.tools.forEach(tool => names.add(tool.name));
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  assert.deepEqual(sizes, pageSizes, 'tools on each page');
  assert.equal(names.size, 120, 'distinct names of tools');

  const { commands, pagination } = await call(client, 'list_commands', { page: 2, page_size: 1 });
  assert.deepEqual(commands.map(c => c.name), ['test_simple_prompt']);
  assert.deepEqual(pagination, { page: 2, page_size: 1, total: 2, total_pages: 2, has_next: false, has_prev: true });

  const { skills } = await call(client, 'list_skills', {});
  assert.deepEqual(skills, ['knots']);

  const { number } = await call(client, 'number_119', {}); // the last page has it
  assert.equal(number, 119);

  const refused = await client.callTool({ name: 'get_command', arguments: { command_name: '../secrets' } });
  assert.equal(refused.isError, true);
  assert.equal(refused.structuredContent.error.code, 'INVALID_COMMAND_NAME');
}

// call returns the structured content, which the SDK has compared with the output schema.
async function call(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.notEqual(result.isError, true, JSON.stringify(result));
  return result.structuredContent;
}
