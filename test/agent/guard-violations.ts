/** How the source of the agent core could be broken, by condition of 003 section 14. */

/** What is replaced in which file. */
export type Plant = readonly [file: string, from: string | RegExp, to: string];

export type Violation = readonly [words: string, about: RegExp, plants: readonly Plant[]];

const TOP = /^/;
const append = (file: string, text: string): Plant => [file, /$(?![\s\S])/, text];

const core = 'src/agent/core.ts';
const executor = 'src/agent/executor.ts';
const advance = 'src/agent/advance.ts';

const condition1: readonly Violation[] = [
  [
    'another file runs an intent',
    /core\.ts imports src\/journey\/run\.ts/,
    [[core, TOP, "import { run } from '../journey/run.ts';\n"]],
  ],
  [
    'a file grants itself a capability',
    /confirm\.ts imports src\/journey\/grant\.ts/,
    [['src/agent/confirm.ts', TOP, "import { grant } from '../journey/grant.ts';\n"]],
  ],
  [
    'a file reaches the effects',
    /advance\.ts imports src\/effect\/program\.ts/,
    [[advance, TOP, "import { digestsOf } from '../effect/program.ts';\n"]],
  ],
  [
    'a file starts a process',
    /advance\.ts imports node:child_process/,
    [[advance, TOP, "import { spawn } from 'node:child_process';\n"]],
  ],
  [
    'code is loaded while it runs',
    /loads code while it runs/,
    [append(core, "export const later = () => import('../journey/run.ts');\n")],
  ],
  [
    'a built-in module is fetched by name',
    /loads code while it runs/,
    [append(core, "export const fs = () => process.getBuiltinModule('node:fs');\n")],
  ],
  [
    'a request goes out past the executor',
    /loads code while it runs/,
    [append(core, "export const call = () => globalThis.fetch('http://example.org');\n")],
  ],
  [
    'a request goes out under another name',
    /core\.ts:\d+ loads code while it runs/,
    [append(core, "export const web = globalThis['fetch' as never] as any;\n")],
  ],
  [
    'the executor runs what is LOW whatever the decision',
    /isDispatched does not do what the decision says/,
    [
      [
        executor,
        "return decided.reason_code === 'STEP_DISPATCHED';",
        "return decided.reason_code === 'STEP_DISPATCHED' || Boolean(decided);",
      ],
    ],
  ],
  [
    'the executor waits for an approver only above LOW',
    /startOnce does not do what the decision says/,
    [
      [
        executor,
        'if (!isDispatched(weighed)) return',
        "if (!isDispatched(weighed) && weighed.record.facts.risk !== 'LOW') return",
      ],
    ],
  ],
  [
    'the intent of what is LOW is ordered whatever the decision',
    /turnOf does not do what the decision says/,
    [
      [
        executor,
        'const is_ordered = isDispatched(weighed);',
        "const is_ordered = weighed.record.facts.risk === 'LOW';",
      ],
    ],
  ],
  [
    'the decision itself lets LOW pass',
    /a step with risk LOW and \{"access":"DENY"\} is dispatched/,
    [
      [
        'src/agent/decide.ts',
        "if (!given.same_registry) return 'EFFECT_CHANGED';",
        "if (risk === 'LOW') return null;",
      ],
    ],
  ],
  [
    'the executor hands the run on',
    /exports src\/journey\/run\.ts/,
    [append(executor, "export { run } from '../journey/run.ts';\n")],
  ],
  [
    'the executor has a second door',
    /exports quickly/,
    [append(executor, 'export const quickly = runOnce;\n')],
  ],
  ['the run comes before the durable dispatch', /in this order/, [[executor, /await startStep\([^;]*;/, '']]],
  [
    'a dispatch is not waited for',
    /dispatch does not wait for startOnce/,
    [[executor, 'await startOnce(', 'startOnce(']],
  ],
];

const condition2: readonly Violation[] = [
  [
    'it opens the database',
    /imports @photostructure\/sqlite/,
    [[core, TOP, "import { DatabaseSync } from '@photostructure/sqlite';\n"]],
  ],
  ['it writes a file', /imports node:fs/, [[core, TOP, "import { writeFileSync } from 'node:fs';\n"]]],
  ['it says SQL', /has SQL in it/, [append(core, "export const sql = 'UPDATE intents SET status = 1';\n")]],
  [
    'it rebuilds the state of the store',
    /uses store\.rebuild/,
    [append(core, 'export const fix = (store: any) => store.rebuild({ write: true });\n')],
  ],
  [
    'it gives the store another name',
    /gives the store another name/,
    [append(core, 'export function odd({ store }: any) { const db = store; return db; }\n')],
  ],
  [
    'it appends an approval',
    /appends intent\.approved/,
    [append(core, "export const forged = { kind: 'intent.approved', subject: 'x', body: {} };\n")],
  ],
  [
    'it signs for a human elsewhere than where a human signs',
    /appends delegation\.granted/,
    [append(core, "export const given = (signAct: any) => signAct('o', 'delegation.granted', 'x', {});\n")],
  ],
  [
    'it hides what it appends',
    /cannot be seen/,
    [append(core, "export const any = (kind: string) => ({ kind, subject: 'x', body: {} });\n")],
  ],
];

const condition3: readonly Violation[] = [
  [
    'another file makes an effect',
    /makes an effect of its own/,
    [append(core, "export const effect = { kind: 'tool', tool: 'note', arguments: {} };\n")],
  ],
  [
    'a simulation id is made from the name of a tool',
    /makes up a simulation id/,
    [append(core, 'export const order = (tool: any) => ({ simulation_id: tool.name });\n')],
  ],
  [
    'an id is rewritten before it is looked up',
    /match\.ts:\d+ rewrites a simulation id/,
    [
      [
        'src/agent/match.ts',
        'read(packet.simulation_id)',
        "read(packet.simulation_id.replace('.show', '.wipe'))",
      ],
    ],
  ],
  [
    'an id is rewritten while it is looked up',
    /weigh\.ts:\d+ rewrites a simulation id/,
    [['src/agent/weigh.ts', "find('simulation', id)", "find('simulation', id === 'a' ? 'b' : id)"]],
  ],
  [
    'an id is rewritten by way of another name',
    /turn\.ts:\d+ rewrites a simulation id/,
    [
      [
        'src/agent/turn.ts',
        'entryOf(catalog, packet.simulation_id)?.simulation',
        '(() => { const id = String(packet.simulation_id); return entryOf(catalog, id)?.simulation; })()',
      ],
    ],
  ],
  [
    'the intent does not name its simulation',
    /does not name its simulation/,
    [['src/agent/intent.ts', /, simulationAction\(definition\)\]/, ']']],
  ],
  [
    'something else than the draft is proposed',
    /gives no draft to draftTurn/,
    [[executor, /draftTurn\(journey, draft, /, 'draftTurn(journey, { ...draft }, ']],
  ],
  [
    'a packet may name a tool',
    /a packet with .* is taken/,
    [['src/finder/packet.ts', /const name = z\.string\(\)\.regex\([^)]*\);/, 'const name = z.string();']],
  ],
];

const condition4: readonly Violation[] = [
  [
    'a shipped one has none',
    /order\.track\.yaml is impactful and names no rollback/,
    [['test/agent/corpus/simulations/order.track.yaml', /impactful: false/, 'impactful: true']],
  ],
  [
    'the schema does not ask for it',
    /a simulation without rollback_plan_ref is taken/,
    [['src/finder/simulation.ts', 'given.impactful && given.rollback_plan_ref === undefined', 'false']],
  ],
  [
    'the plan leaves it away',
    /makes up a rollback_plan_ref/,
    [
      [
        'src/agent/plan.ts',
        'rollback_plan_ref: simulation.rollback_plan_ref ?? null',
        'rollback_plan_ref: null',
      ],
    ],
  ],
];

const clause = /case 'MISSING_SIMULATION':\n\s+return missing\([^;]*;/;
const condition5: readonly Violation[] = [
  [
    'its case goes on like a match',
    /reaches the executor/,
    [[core, clause, "case 'MISSING_SIMULATION':\n return match(context, heard, snapshot);"]],
  ],
  [
    'what it calls reaches the executor some functions later',
    /reaches the executor/,
    [[core, /(?<=async function missing\([\s\S]{0,400}?\): Promise<AgentAnswer> \{\n)/, '  void answer;\n']],
  ],
  ['its case falls through', /falls through/, [[core, clause, "case 'MISSING_SIMULATION':\n void missing;"]]],
  ['it has no case', /no case for a missing simulation/, [[core, clause, '']]],
  [
    'the turn goes on before the kind is known',
    /before the kind is known/,
    [
      [
        core,
        'const answered = await behave(',
        "await advance(context, '', '');\n  const answered = await behave(",
      ],
    ],
  ],
];

const packet = 'src/finder/packet.ts';
const condition6: readonly Violation[] = [
  [
    'the key',
    /SIMULATION_MATCH without idempotency_key is taken/,
    [[packet, 'idempotency_key: id,', 'idempotency_key: z.any(),']],
  ],
  [
    'the policy snapshot',
    /REFUSE without policy_snapshot_ref is taken/,
    [[packet, 'policy_snapshot_ref: ref,', 'policy_snapshot_ref: ref.nullish(),']],
  ],
  [
    'the proof of the search',
    /MISSING_SIMULATION without search_proof is taken/,
    [
      [packet, /search_proof: z\.union\(\[/, 'search_proof: z.union([z.any(),'],
      [packet, /\(category === 'DRAFT_EXISTS'\) === search_proof\[1\]\.found/, 'true'],
    ],
  ],
  [
    'what a question is about',
    /CLARIFY without candidate_context_ref is taken/,
    [[packet, 'candidate_context_ref: digest,', 'candidate_context_ref: digest.optional(),']],
  ],
  [
    'the packet is not parsed at all',
    /does not parse and compare/,
    [['src/agent/turn.ts', 'parsePacket(found.packet)', 'found.packet as FinderPacket']],
  ],
  [
    'the packet is not compared with the turn',
    /does not parse and compare/,
    [['src/agent/turn.ts', /requireOurs\(packet, request\);/, '']],
  ],
];

const contracts = 'src/agent/contracts.ts';
const condition7: readonly Violation[] = [
  [
    'a step',
    /a step without policy_snapshot_version is taken/,
    [[contracts, 'policy_snapshot_version: digest,', 'policy_snapshot_version: digest.nullish(),']],
  ],
  [
    'an envelope',
    /a dispatch envelope without artifact_fingerprint_bundle_ref is taken/,
    [
      [
        contracts,
        /(?<=const dispatchEnvelope[\s\S]{0,700}?)artifact_fingerprint_bundle_ref: digest,/,
        'artifact_fingerprint_bundle_ref: digest.nullish(),',
      ],
    ],
  ],
  [
    'a move in the ledger',
    /a move without policy_snapshot_ref is taken/,
    [['src/event/agent.ts', 'policy_snapshot_ref: digest,', 'policy_snapshot_ref: digest.nullish(),']],
  ],
  [
    'one that is made up',
    /makes up a policy_snapshot_ref/,
    [['src/agent/match.ts', 'policy_snapshot_ref: policy', "policy_snapshot_ref: 'a'.repeat(64) && ''"]],
  ],
];

export const VIOLATIONS = [
  condition1,
  condition2,
  condition3,
  condition4,
  condition5,
  condition6,
  condition7,
] as const;
