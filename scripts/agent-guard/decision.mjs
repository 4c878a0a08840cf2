/** Condition 1, tried: the decision about a step, of each risk, with each single check that fails. */

const D = 'd'.repeat(64);

const SEEN = {
  simulation_id: 'note.add',
  version: 1,
  definition: D,
  status: 'ACTIVE',
  activated: D,
  found: D,
  differs: [],
};
/** Nothing stands in the way. */
const FACTS = {
  simulations: [SEEN],
  access: 'ALLOW',
  same_registry: true,
  approved: true,
  obstacle: null,
  confirmation_required: true,
  confirmation: 'YES',
};
const OBSTACLES = [
  { simulations: [{ ...SEEN, status: 'NOT_REGISTERED' }] },
  { simulations: [{ ...SEEN, status: 'NOT_ACTIVE' }] },
  { simulations: [SEEN, { ...SEEN, status: 'NOT_ACTIVE' }] },
  { simulations: [{ ...SEEN, differs: ['argv'] }] },
  { access: 'DENY' },
  { access: 'AP_REQUIRED', approved: false },
  { same_registry: false },
  { obstacle: 'INTENT_REJECTED' },
  { confirmation: null },
  { confirmation: 'NO' },
  { confirmation: 'AMBIGUOUS' },
];

/** Whatever the risk: each of these is a no. */
export function dispatchesUnchecked(decide) {
  return ['LOW', 'MEDIUM', 'HIGH'].flatMap((risk) => {
    const decision = (over) => decide({ ...FACTS, risk, ...over }).decision;
    if (decision({}) !== 'DISPATCH') return [`a step with risk ${risk} and every check is not dispatched`];
    return OBSTACLES.filter((over) => decision(over) === 'DISPATCH').map(
      (over) => `a step with risk ${risk} and ${JSON.stringify(over)} is dispatched`,
    );
  });
}
