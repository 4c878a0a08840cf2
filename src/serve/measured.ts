import type { HttpBindings } from '@hono/node-server';
import type { Keyturn } from '../keyturn.ts';
import type { AskedKind, Metrics } from './metrics.ts';
import { pathOf } from './query.ts';
import type { Route } from './route.ts';

type Fetch = (request: Request, at: HttpBindings) => Response | Promise<Response>;

/** The same answers, each counted, and told to the log of the operator: which verb, which status, how long. */
export function measured(
  answer: Fetch,
  { keyturn, metrics, routes }: { keyturn: Keyturn; metrics: Metrics; routes: readonly Route[] },
): Fetch {
  const known = new Map(routes.map((route) => [route.path, askedOf(route)]));
  const end = ({ status }: Response) => ({ status });
  return async (request, at) => {
    const from = performance.now();
    const path = pathOf(request);
    const about = known.get(path) ?? (path === '/v1/events' ? STREAM : OTHER);
    const { kind } = about;
    const response = await keyturn.host.telemetry.span('request', async () => answer(request, at), {
      about,
      end,
    });
    metrics.answered(kind, response.status, (performance.now() - from) / 1000);
    return response;
  };
}

interface Asked {
  readonly kind: AskedKind;
  readonly entry_point?: string;
}

const STREAM: Asked = { kind: 'stream' };
const OTHER: Asked = { kind: 'other' };

function askedOf({ verb, namespace, name }: Route): Asked {
  const waits = (verb.here as readonly string[]).includes('signal');
  return { kind: waits ? 'wait' : verb.kind, entry_point: `${namespace}.${name}` };
}
