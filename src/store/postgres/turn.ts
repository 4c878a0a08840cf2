/**
 * Gathers what is asked in one turn of the event loop, and asks for it once: `ask` has an answer for each request that it is given, in
 * their order. What is asked twice in a turn is one request. It is sent after all of them asked, so none is answered with what was so before.
 */
export function askedInOneTurn<Q, A>(
  keyOf: (request: Q) => string,
  ask: (requests: readonly Q[]) => Promise<readonly A[]>,
): (request: Q) => Promise<A> {
  let turn: { readonly requests: Map<string, Q>; readonly answers: Promise<ReadonlyMap<string, A>> } | null =
    null;

  async function answered(requests: ReadonlyMap<string, Q>): Promise<ReadonlyMap<string, A>> {
    await new Promise((end: (value?: unknown) => void) => process.nextTick(end));
    turn = null;
    const answers = await ask([...requests.values()]);
    return new Map(Array.from(requests.keys(), (key, i) => [key, answers[i]!]));
  }

  return async (request) => {
    const key = keyOf(request);
    if (turn === null) {
      const requests = new Map<string, Q>();
      turn = { requests, answers: answered(requests) };
    }
    turn.requests.set(key, request);
    return (await turn.answers).get(key)!;
  };
}
