import * as z from 'zod';
import { generateKeyPair } from '../canonical/ed25519.ts';
import { once } from '../canonical/once.ts';
import { issuingKeys } from '../gate/system.ts';
import { keyMadeFor } from '../identity/act.ts';
import { heardNow } from '../journey/beat.ts';
import * as timing from '../journey/clock.ts';
import { addControlKey, revokeControlKey } from '../journey/control.ts';
import * as executing from '../journey/executor.ts';
import * as freezing from '../journey/freeze.ts';
import { shadowedServers } from '../journey/status.ts';
import { limits } from '../limits.ts';
import { executorKeyIn, keepControlKey, newestControlKey, ownExecutorKey } from '../project/keys.ts';
import type { Beat } from '../store/store.ts';
import { gcOutcome, gcPreview } from './gc.ts';
import { digest, freeze, id, name, publicKey, shadowedServer, time, why } from './parts.ts';
import { statusVerb } from './status.ts';
import { act, nothing, read } from './verb.ts';

const scope = z.enum(['system', 'tenant', 'agent', 'tool']);
const askedFreeze = once(() =>
  z.strictObject({
    scope,
    /** The agent or the tool; the tenant and the system are this one. */
    name: z.string().optional(),
    reason: z.string(),
  }),
);
const askedUnfreeze = once(() =>
  askedFreeze().extend({
    /** The freeze that was shown: by whom, and when it was written. Another one by now is refused. */
    lifts: z.strictObject({ by: name, at: time }).optional(),
  }),
);
const frozen = once(() => z.strictObject({ scope, name: z.string(), ...why }).meta({ id: 'frozen' }));
const executor = z
  .strictObject({
    name,
    labels: z.array(name).readonly(),
    public_key: publicKey,
    is_this_host: z.boolean(),
    added_at: time,
    added_by: name,
    revoked_at: time.nullable(),
    /** What it said of itself last; `null` where it never did. It is not signed, and nothing is decided by it. */
    heard: z
      .strictObject({
        /** It said so a moment ago, and has not stopped since. */
        is_running: z.boolean(),
        /** Since when the process runs that said it. */
        since: time,
        at: time,
      })
      .readonly()
      .nullable(),
  })
  .meta({ id: 'known-executor' });

const controlKey = z
  .strictObject({
    public_key: publicKey,
    added_at: time,
    added_by: name,
    /** Since when it issues no more; what it issued holds. */
    replaced_at: time.nullable(),
    /** Since when it issues no more; what it issued and was not claimed by then is not run. */
    revoked_at: time.nullable(),
    is_this_host: z.boolean(),
  })
  .meta({ id: 'known-control-key' });

function saidBy(heard: Beat | undefined): z.output<typeof executor>['heard'] {
  return heard ? { is_running: heard.is_running, since: heard.since, at: heard.at } : null;
}

/** What holds for the whole project: freezes, keys, executors, the clock, what takes room. */
export const system = {
  status: statusVerb,

  get: read({
    open_to: 'people',
    about: 'Control keys, executors, active policies, and what is frozen or in shadow mode.',
    input: nothing,
    output: () =>
      z.strictObject({
        origin: z.string(),
        ledger_key: z.string(),
        /** Each host that issues capabilities has its own; the newest last. */
        control_keys: z.array(controlKey),
        executors: z.array(executor),
        policy: digest.nullable(),
        freezes: z.array(freeze.readonly()).readonly(),
        /** Servers with tools whose calls pass without an approval. */
        shadow: z.array(shadowedServer.readonly()).readonly(),
        /** When entries were last forgotten, such as by a backup that was restored: what was proposed before never runs. */
        set_back_at: time.nullable(),
      }),
    run: async ({ context, layout }) => {
      const { executors, control_keys, ...found } = await context.store.system();
      const own = executorKeyIn(layout);
      const heard = await heardNow(context);
      return {
        ...found,
        shadow: await shadowedServers(context),
        control_keys: control_keys.map((one) => ({
          ...one,
          is_this_host: newestControlKey(layout, [one.public_key]) !== null,
        })),
        executors: executors.map((one) => ({
          ...one,
          is_this_host: one.public_key === own,
          heard: saidBy(heard.get(one.public_key)),
        })),
      };
    },
  }),

  freeze: act({
    open_to: 'people',
    about: 'Stop everything, one tenant, one proposer or one tool: nothing starts, and what runs is stopped.',
    input: askedFreeze,
    output: frozen,
    run: async ({ context }, request) => frozenOf(await freezing.freeze(context, request)),
  }),

  unfreeze: act({
    open_to: 'people',
    about: 'Let go of what was frozen.',
    input: askedUnfreeze,
    output: frozen,
    run: async ({ context }, request) => frozenOf(await freezing.unfreeze(context, request)),
  }),

  rotateControlKey: act({
    open_to: 'people',
    about:
      'A new key of this host issues capabilities, in the place of the one that it has, if any. What that one issued still holds.',
    input: () => z.strictObject({ reason: z.string() }),
    output: () =>
      z.strictObject({
        public_key: publicKey,
        /** The key of this host that issues no more; `null` where it had none. */
        replaces: publicKey.nullable(),
        /** How many issue now. */
        keys: z.int(),
        ...why,
      }),
    run: async ({ context, layout }, { reason, signer }) => {
      const replaces = newestControlKey(layout, issuingKeys(await context.store.system()));
      const pair = generateKeyPair();
      const { public_key } = pair;
      const keep = () => keepControlKey(layout, pair);
      const { body } = await addControlKey(context, { public_key, replaces, keep, reason, signer });
      const keys = issuingKeys(await context.store.system()).length;
      return { public_key, replaces, keys, by: body.by, reason };
    },
  }),

  revokeControlKey: act({
    open_to: 'people',
    about:
      'A control key decides and issues nothing from now on, and what it issued and was not claimed yet is not run.',
    input: () => z.strictObject({ public_key: z.string(), reason: z.string() }),
    output: () => z.strictObject({ public_key: publicKey, keys: z.int(), ...why }),
    run: async ({ context }, request) => {
      const { public_key, by, reason } = (await revokeControlKey(context, request)).body;
      const keys = issuingKeys(await context.store.system()).length;
      return { public_key, keys, by, reason };
    },
  }),

  addExecutor: act({
    open_to: 'people',
    about:
      'Another host, or this one, may run what is ordered for an executor of this name or with one of these labels.',
    input: () =>
      z.strictObject({
        /** Of this host, unless told. */
        public_key: z.string().optional(),
        /** What keyturn.yaml says, unless told. */
        name: z.string().optional(),
        /** Tools whose entry says `executor: LABEL` run at an executor that has it as its name or label. */
        labels: z.array(z.string()).max(limits.executor_labels).default([]),
        reason: z.string(),
      }),
    output: () => z.strictObject({ name, labels: z.array(name).readonly(), public_key: publicKey, ...why }),
    run: async ({ context, layout, config }, { public_key, name = config.executor, ...asked }) => {
      const key =
        public_key ?? executorKeyIn(layout) ?? keyMadeFor(asked.signer, () => ownExecutorKey(layout));
      const { body } = await executing.addExecutor(context, { ...asked, name, public_key: key });
      const { labels, by, reason } = body;
      return { name: body.name, labels, public_key: body.public_key, by, reason };
    },
  }),

  revokeExecutor: act({
    open_to: 'people',
    about: 'What this host runs is stopped, and what it says of that decides nothing.',
    input: () => z.strictObject({ public_key: z.string(), reason: z.string() }),
    output: () => z.strictObject({ name, public_key: publicKey, ...why }),
    run: async ({ context }, request) => {
      const { body } = await executing.revokeExecutor(context, request);
      const { public_key, by, reason } = body;
      const { executors } = await context.store.system();
      const { name } = executors.find((one) => one.public_key === public_key)!;
      return { name, public_key, by, reason };
    },
  }),

  checkClock: read({
    open_to: 'people',
    about: 'Refuse where the clock of this machine does not fit the ledger.',
    input: nothing,
    output: () => z.strictObject({ /** The time of the newest entry. */ newest: time.nullable() }),
    run: async ({ context }) => ({ newest: await timing.checkClock(context) }),
  }),

  acceptClock: act({
    open_to: 'people',
    about: 'A human says that the clock of this machine is right.',
    input: () => z.strictObject({ reason: z.string() }),
    output: () => z.strictObject({ now: time, ...why }),
    run: async ({ context }, request) => {
      const { body } = await timing.acceptClock(context, request);
      return { now: body.now, by: body.by, reason: body.reason };
    },
  }),

  previewGc: read({
    open_to: 'people',
    about: 'Which backups and old objects are old enough to go, and why the others stay.',
    input: () =>
      z.strictObject({
        older_than_s: z.number().optional(),
        keep_bytes: z.number().optional(),
        undoable_too: z.boolean().optional(),
      }),
    output: () => gcPreview,
    run: async ({ context }, request) => (await import('../journey/gc.ts')).previewGc(context, request),
  }),

  gc: act({
    open_to: 'people',
    about: 'Remove exactly the backups and objects that a preview listed.',
    input: () =>
      z.strictObject({
        runs: z.array(z.looseObject({ execution_id: id, undoable: z.boolean() })).readonly(),
        objects: z
          .array(z.looseObject({ digest, undo: z.array(z.string()).readonly() }))
          .readonly()
          .optional(),
        reason: z.string(),
      }),
    output: () => gcOutcome,
    run: async ({ context }, request) => (await import('../journey/gc.ts')).gc(context, request),
  }),

  leftovers: read({
    open_to: 'people',
    about: 'Temporary files that a killed run left behind.',
    input: nothing,
    output: () => z.strictObject({ files: z.array(z.string()) }),
    run: async ({ context }) => ({
      files: await (await import('../journey/leftovers.ts')).leftovers(context),
    }),
  }),
};

function frozenOf({ body }: Awaited<ReturnType<typeof freezing.freeze | typeof freezing.unfreeze>>) {
  const { scope, name, by, reason } = body;
  return { scope, name, by, reason };
}
