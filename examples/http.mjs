/** POST proposes, GET /ID waits for the result, DELETE /ID with its receipt takes it back. Put a login before it. */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { Keyturn } from 'keyturn';

const keyturn = await Keyturn.open({ at: process.cwd() });

async function answer(request, signal) {
  const intent_id = request.url.slice(1);
  if (request.method === 'GET') return keyturn.intents.waitFor({ intent_id, signal });
  const { goal, tool, given, receipt } = await json(request);
  if (request.method === 'DELETE') return keyturn.intents.withdraw({ intent_id, receipt, reason: goal });
  const effect = { kind: 'tool', tool, arguments: given };
  const idempotency_key = request.headers['idempotency-key'];
  return keyturn.intents.propose({ issuer: 'bot', declared_goal: goal, effect, idempotency_key });
}

const server = createServer((request, response) => {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const say = (status, body) => response.writeHead(status).end(JSON.stringify(body));
  const refused = ({ code, message, advice }) => say(400, { code, message, advice });
  answer(request, gone.signal).then((body) => say(200, body), refused);
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => console.log(server.address().port));
