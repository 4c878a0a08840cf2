import * as z from 'zod';
import { news } from '../agent/answer-shape.ts';
import { once } from '../canonical/once.ts';
import { SIMULATION_STATUSES } from '../event/agent.ts';
import type { Body } from '../event/event.ts';
import { packetShape } from '../finder/packet.ts';
import type { Simulation } from '../finder/simulation.ts';
import type { Bound } from '../journey/bound.ts';
import { limits } from '../limits.ts';
import { digest, id, name, time, why } from './parts.ts';
import { shown, shownLine } from './shown.ts';
import { act, nothing, read, write } from './verb.ts';

const status = z.enum(SIMULATION_STATUSES);

/** The file, with everything that it leaves to its default. */
const definition = z.looseObject({ id: name, version: z.int() }) as unknown as z.ZodType<Simulation>;

export const catalog = once(() =>
  z
    .strictObject({
      digest,
      simulations: z.array(z.strictObject({ simulation: definition, status, digest }).readonly()).readonly(),
    })
    .readonly(),
);

const changed = once(() =>
  z
    .strictObject({
      simulation: name,
      version: z.int(),
      status,
      definition: digest,
      proof: digest,
      /** What the activation binds: programs, sandbox, steps and undo. Null in every other status. */
      bound: digest.nullable(),
      /** What the agent core acts under; null where nothing is delegated. */
      own_delegation: id.nullable(),
      expires_at: time.nullable(),
      ...why,
    })
    .meta({ id: 'simulation-changed' }),
);

function changedOf(body: Body<'simulation.changed'>): z.output<ReturnType<typeof changed>> {
  const { simulation, version, status, definition, proof, bound } = body;
  const { own_delegation, expires_at, by, reason } = body;
  return {
    ...{ simulation, version, status, definition, proof, bound },
    ...{ own_delegation, expires_at, by, reason },
  };
}

const registered = once(() =>
  z
    .strictObject({
      ...changed().omit({ reason: true }).shape,
      registered_at: time,
      changed_at: time,
    })
    .readonly()
    .meta({ id: 'simulation-registered' }),
);

const listed = once(() =>
  z
    .strictObject({
      id: name,
      version: z.int(),
      status,
      summary: z.string(),
      risk: z.enum(['LOW', 'MEDIUM', 'HIGH']),
      /** The version that the ledger has; null when it was never registered. */
      registered_version: z.int().nullable(),
      expires_at: time.nullable(),
      /** The file is not what was registered, or is gone. */
      has_changed: z.boolean(),
    })
    .meta({ id: 'simulation' }),
);

/** What would run, each with the words that lead to it. */
const sections = once(() => z.array(z.strictObject({ title: z.string(), shown }).readonly()).readonly());

const bound = once(
  () => z.looseObject({ format: z.literal('keyturn-bound/1') }) as unknown as z.ZodType<Bound>,
);

const fault = z.strictObject({ code: z.string(), message: z.string() }).readonly();
const leads = name.nullable();

const checked = once(() =>
  z
    .strictObject({
      id: name,
      version: z.int(),
      digest,
      faults: z.array(fault).readonly(),
      /** Which simulation leads now and then; null where none does. */
      changes: z
        .array(
          z
            .strictObject({
              text: z.string(),
              language: z.string().nullable(),
              source: z.enum(['phrase', 'goal']),
              ...{ before: leads, after: leads },
            })
            .readonly(),
        )
        .readonly(),
    })
    .meta({ id: 'simulation-checked' }),
);

const tried = once(() =>
  z
    .strictObject({
      packet: packetShape,
      language: z.string(),
      /** Each part of what was said, with what makes it no request now. */
      clauses: z
        .array(z.strictObject({ text: z.string(), kinds: z.array(z.string()).readonly() }).readonly())
        .readonly(),
      is_several: z.boolean(),
      candidates: z
        .array(z.strictObject({ simulation: name, status, confidence_bp: z.int() }).readonly())
        .readonly(),
      /** Only then it may run without a yes. */
      is_accounted: z.boolean(),
      strangers: z.array(z.string()).readonly(),
    })
    .meta({ id: 'words-tried' }),
);

const one = { id: z.string() };
const change = { ...one, reason: z.string() };
/** Of the definition that the human looked at. A file that was changed since, even a moment ago, is refused. */
const looked = { digest: z.string().optional() };

/** What users may ask for, and what they asked for that does not exist. */
export const simulations = {
  register: act({
    open_to: 'people',
    about: 'Take a file of simulations/ into the ledger, as a draft. It gives no right.',
    input: () => z.strictObject({ ...change, ...looked }),
    output: changed,
    run: async ({ agent }, request) =>
      changedOf((await (await registering()).registerSimulation(await agent(), request)).body),
  }),

  activate: act({
    open_to: 'people',
    about: 'Let the agent core run it for a while. A new version is registered with the same signature.',
    input: () =>
      z.strictObject({
        ...change,
        ...looked,
        /** The digest of what the human saw that it binds. What is another one by now is refused. */
        bound: z.string().optional(),
        /** How long it is active: 30 days unless told. */
        ttl_s: z.number().optional(),
      }),
    output: changed,
    run: async ({ agent }, request) =>
      changedOf((await (await registering()).activateSimulation(await agent(), request)).body),
  }),

  deprecate: act({
    open_to: 'people',
    about: 'No new plans with it. It may be activated again.',
    input: () => z.strictObject(change),
    output: changed,
    run: async ({ agent }, request) =>
      changedOf((await (await registering()).deprecateSimulation(await agent(), request)).body),
  }),

  disable: act({
    open_to: 'people',
    about: 'Stop it. To come back, it is registered anew.',
    input: () => z.strictObject(change),
    output: changed,
    run: async ({ agent }, request) =>
      changedOf((await (await registering()).disableSimulation(await agent(), request)).body),
  }),

  list: read({
    open_to: 'people',
    refuses: ['REGISTRY_MISSING'],
    about: 'Every simulation with its status, those without a file too.',
    input: nothing,
    output: () => z.strictObject({ simulations: z.array(listed()) }),
    run: async ({ agent }) => ({
      simulations: await (await listing()).listSimulations(await agent()),
    }),
  }),

  get: read({
    open_to: 'people',
    refuses: ['REGISTRY_MISSING'],
    about:
      'One simulation, for the human who decides about it: what it does, and whether it is what was activated.',
    input: () => z.strictObject(one),
    output: () =>
      z.strictObject({
        ...listed().shape,
        /** Of the definition: what the changes of a simulation take. */
        digest,
        /** As the ledger has it; null when it was never registered. */
        registered: registered().nullable(),
        /** In what it is not what was activated. While there is anything here, it does not run. */
        differs: z.array(z.string()).readonly(),
        definition,
        /** Every field of the definition but what it runs, for a person. */
        lines: z.array(shownLine).readonly(),
        sections: sections(),
      }),
    run: async ({ agent }, { id }) => (await listing()).simulationNow(await agent(), id),
  }),

  bound: read({
    open_to: 'people',
    refuses: ['REGISTRY_MISSING'],
    about: 'What an activation of the file would bind now, for the human who signs it.',
    input: () => z.strictObject(one),
    output: () =>
      z.strictObject({
        digest,
        /** What the digest covers: programs, sandbox, steps and undo. */
        value: bound(),
        /** What the signature allows. */
        consent: z.array(shownLine).readonly(),
        sections: sections(),
      }),
    run: async ({ agent }, { id }) => (await registering()).boundNow(await agent(), id),
  }),

  check: read({
    open_to: 'people',
    refuses: ['REGISTRY_MISSING'],
    about:
      'Everything that registering the file would refuse, and which words would lead elsewhere with it active.',
    input: () => z.strictObject(one),
    output: checked,
    run: async ({ agent }, { id }) => (await registering()).checkSimulation(await agent(), id),
  }),

  try: read({
    open_to: 'people',
    refuses: ['REGISTRY_MISSING'],
    about: 'What the finder makes of words, and why. Drafts count as active, and nothing is recorded.',
    input: () =>
      z.strictObject({
        utterance: z.string().min(1).max(limits.prose_chars),
        language: z.string().optional(),
      }),
    output: tried,
    run: async ({ agent }, request) => (await import('../agent/trial.ts')).tryWords(await agent(), request),
  }),

  scaffold: read({
    open_to: 'people',
    refuses: ['REGISTRY_MISSING'],
    about: 'The text of a file for simulations/ that calls a registered tool, to be filled in by its author.',
    input: () => z.strictObject({ tool: name, id: name.optional() }),
    output: () => z.strictObject({ id: name, text: z.string() }),
    run: async ({ context }, { tool, id }) =>
      (await import('../agent/scaffold.ts')).scaffoldOf(context.registry(), tool, id),
  }),

  wishes: read({
    open_to: 'people',
    about: 'What users asked for and no simulation serves: the intake, the most worthwhile first.',
    input: nothing,
    output: () =>
      z.strictObject({
        wishes: z.array(
          z.strictObject({
            fingerprint: digest,
            /** What it is called; null when it was erased. */
            wish: z.string().nullable(),
            /** `told` once a user heard that it exists now. */
            status: z.enum(['open', 'told']),
            category: z.string(),
            worthiness_bp: z.int(),
            /** How many users asked for it, and how often all of them did. */
            users: z.int(),
            count: z.int(),
            first_at: time,
            last_at: time,
            linked_draft: name.nullable(),
          }),
        ),
      }),
    run: async ({ agent }) => ({
      wishes: await (await import('../agent/intake.ts')).listWishes(await agent()),
    }),
  }),

  news: write({
    open_to: 'people',
    refuses: ['REGISTRY_MISSING'],
    about:
      'Tell a user, once, which of their earlier requests a simulation serves now. Every answer to `ask` has the same.',
    input: () => z.strictObject({ user_id: z.string() }),
    output: () => z.strictObject({ news: z.array(news) }),
    run: async ({ agent }, { user_id }) => {
      const context = await agent();
      const { snapshotNow } = await import('../agent/snapshot.ts');
      const { tellNews } = await import('../agent/intake.ts');
      return { news: await tellNews(context, user_id, await snapshotNow(context)) };
    },
  }),
};

/** Large, so loaded by the first verb that needs them. */
const listing = () => import('../agent/listed.ts');
const registering = () => import('../agent/register.ts');
