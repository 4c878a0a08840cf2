import type { Keyturn } from '../keyturn.ts';
import type { AskedKind, Metrics } from './metrics.ts';
import { pathOf } from './query.ts';
import type { Route } from './route.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

/** The same answers, each counted, and told to the log of the operator: which verb, which status, how long. */
export function measured(
  answer: Fetch,
  { keyturn, metrics, routes }: { keyturn: Keyturn; metrics: Metrics; routes: readonly Route[] },
): Fetch {
  const known = new Map(routes.map((route) => [route.path, route]));
  return async (request) => {
    const from = performance.now();
    const path = pathOf(request);
    const route = known.get(path);
    const kind = kindOf(route, path);
    const act = async () => answer(request);
    const response = await keyturn.observed('request', act, {
      about: { kind, ...(route && { door: `${route.namespace}.${route.name}` }) },
      end: ({ status }) => ({ status }),
    });
    metrics.answered(kind, response.status, (performance.now() - from) / 1000);
    return response;
  };
}

function kindOf(route: Route | undefined, path: string): AskedKind {
  if (route === undefined) return path === '/v1/events' ? 'stream' : 'other';
  return (route.verb.here as readonly string[]).includes('signal') ? 'wait' : route.verb.kind;
}
