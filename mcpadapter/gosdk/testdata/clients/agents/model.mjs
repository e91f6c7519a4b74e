// A model on loopback that follows a script. It answers a request with the first turn of the script that has no result
// in the request, and then with a text. It speaks the Messages API of Anthropic and the Responses API of OpenAI.
import { createServer } from 'node:http';

const dialects = {
  '/v1/messages': {
    results: request => request.messages.flatMap(message => message.content).filter(block => block.type === 'tool_result'),
    events: (id, turn) => {
      const usage = { input_tokens: 1, output_tokens: 1 };
      const block = turn ? { type: 'tool_use', id, name: turn.name, input: {} } : { type: 'text', text: '' };
      const delta = turn ? { type: 'input_json_delta', partial_json: JSON.stringify(turn.input) } : { type: 'text_delta', text: 'Done.' };
      return [
        { type: 'message_start', message: { id, type: 'message', role: 'assistant', model: 'scripted', content: [], usage } },
        { type: 'content_block_start', index: 0, content_block: block },
        { type: 'content_block_delta', index: 0, delta },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: turn ? 'tool_use' : 'end_turn' }, usage },
        { type: 'message_stop' },
      ];
    },
  },
  '/v1/responses': {
    results: request => request.input.filter(item => item.type.endsWith('_output')),
    events: (id, turn) => [
      { type: 'response.created', response: { id } },
      {
        type: 'response.output_item.done',
        item: turn ? { call_id: id, ...turn } : { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] },
      },
      { type: 'response.completed', response: { id, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } } },
    ],
  },
};

// serveModel starts a model. Its field request is the last request, and results has the results of the turns. The model
// is also the proxy of a program. It refuses all other requests and lists them in refused.
export async function serveModel(turns) {
  const model = { refused: [] };
  let requests = 0;
  const server = createServer(async (request, response) => {
    const dialect = request.method === 'POST' && dialects[request.url.split('?')[0]];
    if (!dialect) {
      model.refused.push(`${request.method} ${request.url}`);
      response.writeHead(404).end();
      return;
    }
    model.request = JSON.parse(Buffer.concat(await request.toArray()));
    model.results = dialect.results(model.request);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of dialect.events(`id_${requests++}`, turns[model.results.length])) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  });
  server.on('connect', (request, socket) => {
    model.refused.push(`CONNECT ${request.url}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  model.url = `http://127.0.0.1:${server.address().port}`;
  model.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return model;
}
