import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cycleText, executionOrder, findCycle, type Node } from '../../../src/plan/input/graph.ts';
import { expectRefusal } from '../../support/refusal.ts';

const node = (action_id: string, ...depends_on: string[]): Node => ({ action_id, depends_on });
const idsOf = (nodes: readonly Node[]) => nodes.map(({ action_id }) => action_id);

describe('the order of actions', () => {
  it('a plan that is listed in a possible order keeps it', () => {
    const nodes = [node('c'), node('a', 'c'), node('b')];
    expect(idsOf(executionOrder(nodes))).toEqual(['c', 'a', 'b']);
  });

  it('an action waits for those it depends on, and the others stay in their places', () => {
    const nodes = [node('a', 'd'), node('b'), node('c', 'a'), node('d')];
    expect(idsOf(executionOrder(nodes))).toEqual(['b', 'd', 'a', 'c']);
  });

  it('a circle is refused and named', async () => {
    const refusal = await expectRefusal('PLAN_DEPENDENCIES_CYCLIC', () =>
      executionOrder([node('x'), node('a', 'b'), node('b', 'c'), node('c', 'a')]),
    );
    expect(refusal.facts.cycle).toBe('a → b → c → a');
  });

  it('an unknown dependency is refused', async () => {
    await expectRefusal('PLAN_DEPENDENCIES_CYCLIC', () => executionOrder([node('a', 'nobody')]));
  });

  it('for every graph there is either one valid order, always the same, or a circle that exists', () => {
    const graph = fc
      .integer({ min: 1, max: 8 })
      .chain((size) =>
        fc
          .array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: 14 })
          .map((edges) =>
            Array.from({ length: size }, (_, i) =>
              node(`n${i}`, ...new Set(edges.filter(([from]) => from === i).map(([, to]) => `n${to}`))),
            ),
          ),
      );
    fc.assert(
      fc.property(graph, (nodes) => {
        const cycle = findCycle(nodes);
        const byId = new Map(nodes.map((one) => [one.action_id, one]));
        if (cycle !== null) {
          cycle.forEach((id, i) => {
            expect(byId.get(id)!.depends_on, cycleText(cycle)).toContain(cycle[(i + 1) % cycle.length]);
          });
          expect(() => executionOrder(nodes)).toThrow();
          return;
        }
        const order = idsOf(executionOrder(nodes));
        expect([...order].sort()).toEqual(idsOf(nodes).sort());
        for (const { action_id, depends_on } of nodes)
          for (const id of depends_on) expect(order.indexOf(id)).toBeLessThan(order.indexOf(action_id));
        expect(idsOf(executionOrder(nodes))).toEqual(order);
      }),
      { numRuns: 2000 },
    );
  });
});
