// Checks the report of the Inspector about the skills of a server: verified.mjs REPORT SKILLS
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const [report, skills] = process.argv.slice(2);
const all = readFileSync(report, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
assert.equal(all.length, Number(skills));
for (const skill of all) {
  assert.equal(skill.outcome, 'verified', JSON.stringify(skill));
  assert.ok(skill.files.length > 1, JSON.stringify(skill));
}
console.log(`Inspector: ${all.length} skills verified`);
