import { dirname } from 'node:path';
import type { Signer } from '../identity/act.ts';
import type { Passphrase } from '../identity/passphrase.ts';
import type { Bound } from '../journey/bound.ts';
import type { PlanSource } from '../plan/spec.ts';
import { makeKey } from '../project/found.ts';
import { keepKeyFile } from '../project/keys.ts';

/** What a machine without the project makes itself, for a service elsewhere. Each loads what it needs. */
export const elsewhere = {
  /** A new key of a human, in a new file: one that is there is never overwritten. */
  createKeyFile: async (name: string, path: string, passphrase: Passphrase): Promise<Signer> =>
    keepKeyFile(path, await makeKey(name, dirname(path), passphrase)),
  /** A plan as its author wrote it. Which of its paths are protected, the project says when it is proposed. */
  readPlan: async (source: Pick<PlanSource, 'plan' | 'config'>) =>
    (await import('../plan/spec.ts')).readPlanSpec({ ...source, registries: [], now: new Date() }),
  /** An export as it comes: chain, root, objects, and the head by the key that is known. In constant memory, so without every signature. */
  verifyExport: async (chunks: AsyncIterable<Uint8Array>, key: string) =>
    (await import('../audit/ledger.ts')).auditExport(chunks, { key, deep: false }),
  /** What a human signs about a simulation, from its definition, and from what its activation binds. */
  sealedSimulation: async (definition: object, status: string) =>
    (await import('../agent/sealed.ts')).sealedSimulation(definition, status),
  sealedActivation: async (definition: object, value: Bound) =>
    (await import('../agent/sealed.ts')).sealedActivation(definition, value),
};
