// Checks the results of the Inspector for calls in a directory: repository.mjs DIRECTORY. The result of each tool is in
// the file TOOL.json. .ci/clients creates the directory and the files.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';

function call(tool) {
  const { result } = JSON.parse(readFileSync(`${tool}.json`));
  assert.notEqual(result.isError, true, JSON.stringify(result));
  assert.equal(result.structuredContent, undefined, tool);
  return result.content[0].text;
}

const tree = call('directory_tree');
assert.ok([...tree].length <= 8_000, `${[...tree].length} characters`);
for (const entry of readdirSync(process.argv[2], { withFileTypes: true })) {
  if (entry.isDirectory()) assert.ok(tree.includes(`\n[DIR]  ${entry.name}/`), entry.name);
}

assert.match(call('search_text'), /^Found 1 line in 1 file:.*directory-40\/j\/file-50\.go.*needle$/s);
assert.equal(call('read_file'), '1\tneedle');
console.log(`Inspector: a tree of 20,000 files in ${[...tree].length} characters, search_text and read_file`);
