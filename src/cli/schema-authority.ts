import * as z from 'zod';
import { capabilityScope, conditions } from '../face/order.ts';
import { digest, id, name, publicKey, time } from '../face/parts.ts';
import { VERBS } from '../face/verbs.ts';

/** What the commands about authority answer: who, by which right, until when. */

export const authorityResults = {
  'identity add': VERBS.people.enrol.output(),
  'token add': VERBS.agents.addToken.output(),
  'token list': VERBS.agents.tokens.output(),
  'token revoke': VERBS.agents.revokeToken.output(),
  'identity list': VERBS.people.list.output(),
  'identity assign': VERBS.people.assign.output(),
  'identity revoke': VERBS.people.revoke.output(),
  'credential add': VERBS.people.addCredential.output(),
  'credential list': VERBS.people.credentials.output(),
  'credential revoke': VERBS.people.revokeCredential.output(),
  'delegation add': VERBS.agents.delegate.output(),
  'delegation list': VERBS.agents.delegations.output(),
  'delegation revoke': VERBS.agents.revokeDelegation.output(),
  /** What would be submitted with --preview, or what was. */
  submit: z.union([VERBS.intents.previewSubmit.output(), VERBS.intents.submit.output()]),
  /** With --out the token is in the file alone, and null here. */
  grant: VERBS.intents.grant.output(),
  attenuate: z.strictObject({
    capability_id: id,
    intent_id: id,
    action: z.string(),
    scope: capabilityScope,
    conditions,
    holder: publicKey.nullable(),
    expires_at: time,
    /** How many times it was made narrower. */
    depth: z.int(),
    file: z.string(),
  }),
  revoke: VERBS.runs.revokeCapability.output(),
  freeze: VERBS.system.freeze.output(),
  unfreeze: VERBS.system.unfreeze.output(),
  'break-glass': VERBS.runs.breakGlass.output(),
  'policy check': VERBS.policies.check.output(),
  'policy test': VERBS.policies.test.output(),
  'policy diff': VERBS.policies.diff.output(),
  /** What was activated; where these policies are active already, what a diff says. */
  'policy activate': z.union([VERBS.policies.activate.output(), VERBS.policies.diff.output()]),
  'control rotate': VERBS.system.rotateControlKey.output(),
  'control list': VERBS.system.get.output(),
  'control revoke': VERBS.system.revokeControlKey.output(),
  'executor add': VERBS.system.addExecutor.output(),
  'executor list': VERBS.system.get.output(),
  'executor revoke': VERBS.system.revokeExecutor.output(),
  turn: z.strictObject({
    intent_id: id,
    hash: digest,
    by: name,
    /** `null` where that was refused. */
    turned: VERBS.intents.turn.output().nullable(),
    /** By this command, or by an executor. `null` where it did not run, and where its end is not recorded. */
    run: VERBS.runs.run.output().nullable(),
  }),
  replay: VERBS.runs.replay.output(),
} as const;

/** What these commands make on this host, beside what the verb answers. */
export const authorityHere = {
  'identity add': z.strictObject({
    key_file: z.string().nullable(),
    token: z.strictObject({ token_id: id, token: z.string() }).nullable(),
  }),
  /** The secret is told only here. */
  'token add': z.strictObject({ token: z.string() }),
  grant: z.strictObject({
    /** Where the token is; null where it was not written to a file. */
    file: z.string().nullable(),
  }),
} as const;
