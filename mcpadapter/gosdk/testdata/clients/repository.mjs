// Checks the results of the Inspector for calls in a directory: repository.mjs DIRECTORY. The result of each tool is in
// the file TOOL.json. .ci/clients creates the directory and the files.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';

function call(tool) {
  const { result } = JSON.parse(readFileSync(`${tool}.json`));
  assert.notEqual(result.isError, true, JSON.stringify(result));
  return { text: result.content[0].text, structured: result.structuredContent };
}

const tree = call('directory_tree');
assert.ok([...tree.text].length <= 8_000, `${[...tree.text].length} characters`);
assert.ok(JSON.stringify(tree.structured).length <= 10 * tree.text.length, 'size of the structured content');
for (const entry of readdirSync(process.argv[2], { withFileTypes: true })) {
  if (entry.isDirectory()) assert.ok(tree.text.includes(`\n[DIR]  ${entry.name}/`), entry.name);
}

const found = call('search_text').structured;
assert.deepEqual([found.total, found.searched, found.matches.length], [1, 20_050, 1]);
const file = call('read_file').structured;
assert.deepEqual([file.path, file.text], [found.matches[0].path, 'needle\n']);
console.log(`Inspector: a tree of 20,000 files in ${[...tree.text].length} characters, search_text and read_file`);
