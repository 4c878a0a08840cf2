/**
 * The guard of specification 003, section 14: seven conditions, and the build fails on each. What the source says is read
 * from its syntax tree; what a contract refuses is tried. `check_agent_execution_core.sh` starts it.
 */

import { resolve } from 'node:path';
import { bypasses, writesDirectly } from './agent-guard/boundary.mjs';
import { dispatchesMissing, dispatchesTools, literalRefs, takesUnreadPackets } from './agent-guard/flow.mjs';
import { probes } from './agent-guard/probe.mjs';
import { readTree } from './agent-guard/source.mjs';

const CONDITIONS = [
  'The agent bypasses SimulationExecutor',
  'The agent writes business state outside the governed append paths',
  'The agent dispatches a tool as a simulation',
  'An impactful simulation has no rollback reference',
  'A MissingSimulationPacket leads to a dispatch',
  'A finder packet may lack a proof or an idempotency field',
  'A step may lack its policy snapshot or artifact fingerprint',
];

const root = resolve(process.argv[2] ?? '.');
const tree = readTree(root);
const probed = await probes(root);
const found = [
  [...bypasses(tree), ...probed.decisions],
  writesDirectly(tree),
  [...dispatchesTools(tree), ...probed.tools],
  [...literalRefs(tree, ['rollback_plan_ref']), ...probed.rollbacks],
  dispatchesMissing(tree),
  [...takesUnreadPackets(tree), ...probed.packets],
  [
    ...literalRefs(tree, [
      'policy_snapshot_ref',
      'policy_snapshot_version',
      'artifact_fingerprint_bundle_ref',
    ]),
    ...probed.refs,
  ],
];

for (const [i, problems] of found.entries())
  for (const problem of problems) console.log(`[ERROR] ${i + 1}. ${CONDITIONS[i]}: ${problem}`);
const broken = found.filter((problems) => problems.length > 0).length;
console.log(broken === 0 ? '[OK] All seven conditions hold' : `${broken} of 7 conditions are broken`);
process.exitCode = broken === 0 ? 0 : 1;
