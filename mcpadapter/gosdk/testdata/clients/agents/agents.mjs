// Shows what reaches the model in coding agents: agents.mjs DIRECTORY URL COMMAND ARGUMENTS... All paths are absolute.
// DIRECTORY has the agents in node_modules. URL and COMMAND are the server toolshelf-mcp, over HTTP and stdio, for the project
// that .ci/clients creates. Each agent runs in an empty environment with a home directory of its own. Its only endpoint is
// a scripted model on loopback. Each assertion shows a claim of docs/agents.md. If an assertion fails after an update of
// an agent, correct the document.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { globSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { serveModel } from './model.mjs';

const [directory, url, command, ...args] = process.argv.slice(2);
const question = '/mcp__shelf__greet Ada';
const calls = [
  { name: 'directory_tree', arguments: {} }, // longer than the default of max_characters
  { name: 'read_file', arguments: { path: 'main.go' } },
  { name: 'search_text', arguments: { pattern: 'needle' } },
  { name: 'read_file', arguments: { path: 'missing.go' } },
  { name: 'get_command', arguments: { command_name: 'greet' } },
];

// The tools and the results that a client receives. The first three results are only texts.
const client = new Client({ name: 'agents', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
const instructions = client.getInstructions();
const { tools } = await client.listTools();
const results = await Promise.all(calls.map(call => client.callTool(call)));
await client.close();
assert.deepEqual(results.map(json).slice(0, 3), [undefined, undefined, undefined]);
const [tree, lines, found] = results.map(text);
assert.match(tree, /^Directory tree: \.\/\n[^]*\nCut at 20000 characters, \d+\+? omitted; .*$/);
assert.equal(lines, '1\tpackage main\n2\n3\t// needle');
assert.match(found, /\nmain\.go\n3:\/\/ needle$/);

// text returns the text of a result: of a string, or of the last part.
function text({ content, output }) {
  const parts = content ?? output;
  return parts?.at(-1)?.text ?? parts;
}

function json(result) {
  return JSON.stringify(result.structuredContent);
}

// toml writes a table inline.
function toml(value) {
  return value.constructor !== Object ? JSON.stringify(value)
    : `{${Object.entries(value).map(([key, member]) => `${key}=${toml(member)}`)}}`;
}

// codex has the parts that the modes of Codex share.
const codex = {
  binary: 'node_modules/@openai/codex-*/vendor/*/bin/codex',
  environment: () => ({}),
  arguments(model, server) {
    const settings = {
      model: this.model,
      model_provider: 'scripted',
      'model_providers.scripted': { name: 'scripted', base_url: `${model}/v1`, wire_api: 'responses' },
      'mcp_servers.shelf': server,
      analytics: { enabled: false }, feedback: { enabled: false }, features: { plugins: false, apps: false },
      check_for_update_on_startup: false,
    };
    const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${toml(value)}`]);
    return ['exec', question, '--json', '--skip-git-repo-check', ...flags];
  },
  // The prompts of servers do not exist in Codex (openai/codex#8342): the model reads the question as typed.
  prompts(request) {
    const texts = request.input.filter(item => item.role === 'user').flatMap(item => item.content).map(part => part.text);
    assert.equal(texts.at(-1), question);
  },
};

// An agent has the turns of the model: lookUp looks up the tools, because the first request only names the tools or the
// server, and turn is a call. shown returns what the model reads of a result of the server. offers and prompts check the
// tools and the prompts.
const agents = {
  'Claude Code': {
    binary: 'node_modules/@anthropic-ai/claude-code-*/claude',
    environment: model => ({ ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: 'none', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }),
    arguments: (model, server) => {
      const config = { mcpServers: { shelf: { type: server.url ? 'http' : 'stdio', ...server } } };
      return ['--print', question, '--output-format', 'stream-json', '--verbose', '--allowedTools', 'mcp__shelf',
        '--strict-mcp-config', '--mcp-config', JSON.stringify(config)];
    },
    lookUp: { name: 'ToolSearch', input: { query: `select:${tools.map(tool => `mcp__shelf__${tool.name}`)}` } },
    turn: call => ({ name: `mcp__shelf__${call.name}`, input: call.arguments }),
    shown: result => result.isError ? text(result) : json(result) ?? text(result),
    offers(request) {
      for (const { name, description, inputSchema } of tools) {
        const { defer_loading: deferred, ...offered } = request.tools.find(tool => tool.name === `mcp__shelf__${name}`);
        assert.deepEqual(offered, { name: `mcp__shelf__${name}`, description, input_schema: inputSchema });
      }
    },
    prompts(request, line) {
      const texts = request.messages.flatMap(message => message.content).map(block => block.text);
      assert.ok(texts.includes('Hello Ada!\n'), texts.join('\n'));
      assert.equal(JSON.parse(line).slash_commands.filter(name => name.startsWith('mcp__shelf__')).length, 120);
    },
  },

  // Codex with an older model, which calls tools directly.
  'Codex with gpt-5.5': {
    ...codex,
    model: 'gpt-5.5',
    lookUp: {
      type: 'tool_search_call', execution: 'client',
      arguments: { query: tools.map(tool => tool.name).join(' '), limit: tools.length },
    },
    turn: call => ({
      type: 'function_call', namespace: 'mcp__shelf', name: call.name, arguments: JSON.stringify(call.arguments),
    }),
    shown: result => json(result) ?? text(result),
    offers({ input }) {
      const dropped = ['default', 'examples', 'minimum', 'maximum', 'maxItems', 'uniqueItems', 'minLength', 'maxLength'];
      const found = input.find(item => item.type === 'tool_search_output').tools[0].tools;
      for (const { name, description, inputSchema } of tools) {
        const { type, strict, defer_loading: deferred, ...offered } = found.find(tool => tool.name === name);
        const parameters = JSON.parse(JSON.stringify(inputSchema, (key, value) => dropped.includes(key) ? undefined : value));
        assert.deepEqual(offered, { name, description, parameters });
      }
    },
  },

  // Codex with the default model, which writes JavaScript that calls tools.
  'Codex with gpt-6.1-sol': {
    ...codex,
    model: 'gpt-6.1-sol',
    lookUp: script('text(ALL_TOOLS.map(tool => tool.description).join("\\n"))'),
    turn: call => script(`text(await tools.mcp__shelf__${call.name}(${JSON.stringify(call.arguments)}))`),
    shown: result => JSON.stringify(result),
    offers(request, declarations) {
      for (const { name, description, inputSchema, outputSchema } of tools) {
        assert.ok(declarations.includes(description), description);
        const [, members, result] = declarations.match(RegExp(`mcp__shelf__${name}\\(args: \\{(.*?)\\}\\): (.*)`, 's'));
        assert.ok(result.startsWith(`Promise<CallToolResult${outputSchema ? '<' : '>'}`), result);
        for (const [key, schema] of Object.entries(inputSchema.properties)) {
          const optional = inputSchema.required?.includes(key) ? '' : '?';
          const values = schema.enum?.map(value => `"${value}"`).join(' | ') ?? '';
          const member = `  // ${schema.description}\n  ${key}${optional}: ${values}`;
          assert.ok(members.includes(member), `${member}\nis missing in ${members}`);
        }
      }
    },
  },
};

function script(input) {
  return { type: 'custom_tool_call', namespace: 'functions', name: 'exec', input };
}

async function check(agent, binary, home, server) {
  mkdirSync(home);
  const model = await serveModel([agent.lookUp, ...calls.map(agent.turn)]);
  const run = promisify(execFile)(binary, agent.arguments(model.url, server), {
    cwd: home,
    env: {
      HOME: home, PATH: '/usr/bin:/bin', HTTP_PROXY: model.url, HTTPS_PROXY: model.url, NO_PROXY: '127.0.0.1',
      ...agent.environment(model.url),
    },
    timeout: 60_000, killSignal: 'SIGKILL', maxBuffer: 1 << 26,
  });
  run.child.stdin.end();
  const { stdout } = await run.finally(model.close);
  const [lookedUp, ...texts] = model.results.map(text);
  agent.offers(model.request, lookedUp);
  assert.ok(JSON.stringify(model.request).includes(JSON.stringify(instructions).slice(1, -1)), instructions);
  agent.prompts(model.request, stdout.split('\n', 1)[0]);
  assert.equal(texts.length, results.length);
  texts.forEach((shown, i) => assert.equal(shown.replace(/^Wall time: .* seconds\nOutput:\n/, ''), agent.shown(results[i])));
  assert.deepEqual(model.refused, []); // the agent asks no other server
}

const checks = Object.entries(agents).flatMap(([name, agent]) => {
  const [binary = agent.binary] = globSync(path.join(directory, agent.binary));
  let version;
  try {
    [version] = execFileSync(binary, ['--version'], { encoding: 'utf8', env: { HOME: process.cwd() }, stdio: 'pipe' }).match(/[\d.]+/);
  } catch (error) {
    console.log(`${name}: NOT CHECKED: ${error.message}`);
    return [];
  }
  return Object.entries({ stdio: { command, args }, http: { url } }).map(async ([transport, server]) => {
    const title = `${name}, ${version}, ${transport}`;
    await check(agent, binary, path.resolve(title), server).catch(cause => { throw new Error(title, { cause }); });
    console.log(title);
  });
});
for (const { reason } of await Promise.allSettled(checks)) {
  if (reason) throw reason;
}
