import { describe, expect, it } from 'vitest';
import { decide } from '../../src/agent/decide.ts';
import { seenIn } from '../../src/agent/weigh.ts';
import { sha256 } from '../../src/canonical/digest.ts';
import { SIMULATION_STATUSES, type SimulationStatus } from '../../src/event/agent.ts';
import type { Body, Event } from '../../src/event/event.ts';
import { type Intake, type IntakeEvent, intakeFingerprint, nextIntake } from '../../src/gate/intake.ts';
import {
  fromNow,
  notActive,
  requireServed,
  type Simulation,
  nextSimulation as step,
} from '../../src/gate/simulation.ts';
import { requireWaiver } from '../../src/gate/waiver.ts';
import { Refusal } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';

const AT = '2026-01-15T12:00:00.000Z';
const LATER = '2026-01-15T13:00:00.000Z';
const signed = {
  by: 'ada',
  key: Buffer.alloc(32, 1).toString('base64'),
  signed_at: AT,
  deadline: AT,
  signature: Buffer.alloc(64, 1).toString('base64'),
};

function changed(
  status: SimulationStatus,
  over: Partial<Body<'simulation.changed'>> = {},
): Event<'simulation.changed'> {
  const body = {
    simulation: 'user.create',
    version: 1,
    status,
    definition: sha256('definition 1'),
    proof: sha256('proof'),
    bound: status === 'Active' ? sha256('bound') : null,
    own_delegation: null,
    replaces: null,
    from: null,
    expires_at: null,
    reason: 'wanted',
    ...signed,
    ...over,
  };
  return { kind: 'simulation.changed', subject: 'simulation:user.create', body };
}

/** By a human who looked just now. */
const nextSimulation = (state: Simulation | null, event: Event<'simulation.changed'>, at: string) =>
  step(state, { ...event, body: { ...event.body, from: state && fromNow(state) } }, at);

const draft = () => nextSimulation(null, changed('Draft'), AT);

describe('whether a simulation is active now', () => {
  const active: Simulation = { ...draft(), status: 'Active', expires_at: LATER, changed_at: AT };
  const { version, definition } = active;
  const meant = { version, definition };
  const FAR = '2026-01-15T14:00:00.000Z';
  const cases: [string, Simulation | null, typeof meant, string, string | null][] = [
    ['in the version that is meant', active, meant, AT, null],
    ['where there is none', null, meant, AT, 'SIMULATION_NOT_REGISTERED'],
    ['in another version', active, { ...meant, version: 2 }, AT, 'SIMULATION_NOT_ACTIVE'],
    ['with another definition', active, { ...meant, definition: sha256('x') }, AT, 'SIMULATION_NOT_ACTIVE'],
    ['after its end', active, meant, FAR, 'SIMULATION_NOT_ACTIVE'],
    ['as a draft', draft(), meant, AT, 'SIMULATION_NOT_ACTIVE'],
    [
      'where a fast clock activated it',
      { ...active, changed_at: LATER, expires_at: FAR },
      meant,
      AT,
      'MADE_IN_FUTURE',
    ],
  ];

  it.each(cases)('is one answer for the gate and for the agent core: %s', async (_, known, one, at, code) => {
    expect(notActive(known, one, at)).toBe(code);
    const asked = { simulation_id: 'user.create', simulation_version: one.version, ...one };
    const weighing = { plan: { simulation_id: 'user.create', rolls_back: null }, step: asked };
    const held = async () => ({ activated: null, found: null, differs: [], bytes: null });
    const simulations = await seenIn(weighing as never, new Date(at), { known: () => known, held });
    const decided = decide({ simulations, access: 'ALLOW', same_registry: true, obstacle: null } as never);
    expect(decided.reason_code).toBe(code ?? 'STEP_DISPATCHED');
  });
});

describe('the status of a simulation', () => {
  it('changes in these ways and in no other', () => {
    const legal = new Set(
      `Draft>Active Draft>Disabled Active>Active Active>Deprecated Active>Disabled
       Deprecated>Active Deprecated>Disabled Disabled>Draft`.split(/\s+/),
    );
    for (const from of SIMULATION_STATUSES)
      for (const to of SIMULATION_STATUSES) {
        let code: string | null = null;
        try {
          const state: Simulation = { ...draft(), status: from };
          expect(nextSimulation(state, changed(to), LATER)).toMatchObject({ status: to, registered_at: AT });
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          code = error.code;
        }
        expect(code, `${from}>${to}`).toBe(legal.has(`${from}>${to}`) ? null : 'SIMULATION_CHANGE_ILLEGAL');
      }
  });

  it('a new version starts as a draft, whatever the older one was', async () => {
    const other = { version: 2, definition: sha256('definition 2') };
    for (const status of SIMULATION_STATUSES.slice(1)) {
      await expectRefusal('SIMULATION_CHANGE_ILLEGAL', () => nextSimulation(null, changed(status), AT));
      await expectRefusal('SIMULATION_CHANGE_ILLEGAL', () =>
        nextSimulation(draft(), changed(status, other), AT),
      );
      const renewed = nextSimulation({ ...draft(), status }, changed('Draft', other), LATER);
      expect(renewed).toMatchObject({ version: 2, status: 'Draft' });
      await expectRefusal('SIMULATION_CHANGE_ILLEGAL', () => nextSimulation(renewed, changed('Active'), AT));
    }
  });

  it('a version never changes what it does', () =>
    expectRefusal('SIMULATION_CHANGE_ILLEGAL', () =>
      nextSimulation(draft(), changed('Active', { definition: sha256('another') }), AT),
    ));

  it('only what is active has a delegation, and that ends', async () => {
    const own_delegation = '22222222-0000-4000-8000-000000000000';
    for (const over of [{ own_delegation, expires_at: LATER }, { expires_at: LATER }])
      await expectRefusal('SIMULATION_CHANGE_ILLEGAL', () =>
        nextSimulation(null, changed('Draft', over), AT),
      );
    await expectRefusal('SIMULATION_CHANGE_ILLEGAL', () =>
      nextSimulation(draft(), changed('Active', { own_delegation }), AT),
    );
    const active = changed('Active', { own_delegation, expires_at: LATER });
    expect(nextSimulation(draft(), active, AT)).toMatchObject({ own_delegation, by: 'ada' });
  });

  it('a change names the delegation that ends with it, so that no other one is left behind', async () => {
    const replaces = '22222222-0000-4000-8000-000000000000';
    const active = changed('Active', { own_delegation: replaces, expires_at: LATER });
    const state = nextSimulation(draft(), active, AT);
    for (const status of ['Active', 'Deprecated', 'Disabled'] as const) {
      await expectRefusal('SIMULATION_CHANGE_ILLEGAL', () => nextSimulation(state, changed(status), LATER));
      expect(nextSimulation(state, changed(status, { replaces }), LATER).own_delegation).toBeNull();
    }
    await expectRefusal('SIMULATION_CHANGE_ILLEGAL', () =>
      nextSimulation(draft(), changed('Active', { replaces }), LATER),
    );
  });

  it('a change names how it stood, so that no other one is undone by it unseen', async () => {
    const active = nextSimulation(draft(), changed('Active', { expires_at: LATER }), AT);
    const deprecated = nextSimulation(active, changed('Deprecated'), LATER);
    const renewal = changed('Active', { from: fromNow(active) });
    expect(step(active, renewal, LATER).status).toBe('Active');
    for (const meanwhile of [
      deprecated,
      nextSimulation(active, changed('Active', { bound: sha256('other') }), AT),
      nextSimulation(active, changed('Active'), AT),
    ])
      await expectRefusal('ACT_CHANGED', () => step(meanwhile, renewal, LATER));
    await expectRefusal('ACT_CHANGED', () => step(null, changed('Draft', { from: fromNow(draft()) }), AT));
  });

  it('an activation, and no other act, binds what runs', async () => {
    const bound = sha256('bound');
    expect(nextSimulation(draft(), changed('Active'), AT)).toMatchObject({ status: 'Active', bound });
    for (const event of [
      changed('Active', { bound: null }),
      changed('Disabled', { bound }),
      changed('Draft', { bound, version: 2 }),
    ])
      await expectRefusal('SIMULATION_CHANGE_ILLEGAL', () => nextSimulation(draft(), event, AT));
  });

  it('an act names the simulation that it is about', () =>
    expectRefusal('SHAPE_INVALID', () =>
      nextSimulation(null, { ...changed('Draft'), subject: 'simulation:user.delete' }, AT),
    ));
});

const FINGERPRINT = sha256('book a flight');
const SUBJECT = `intake:${FINGERPRINT}`;

function asked(user_id: string, over: Partial<Body<'intake.recorded'>> = {}): IntakeEvent {
  const about = { fingerprint: FINGERPRINT, packet: sha256('packet'), category: 'NEW_CAPABILITY' };
  const body = { ...about, user_id, worthiness_bp: 5000, linked_draft: null, ...over };
  return { kind: 'intake.recorded', subject: SUBJECT, body };
}

const told = (user_id: string): Event<'intake.told'> => ({
  kind: 'intake.told',
  subject: SUBJECT,
  body: { user_id, simulation: 'user.create' },
});

const fold = (...events: IntakeEvent[]): Intake =>
  events.reduce<Intake | null>((state, event) => nextIntake(state, event, AT), null)!;

describe('what does not exist yet', () => {
  it('counts who asked for it and how often', () => {
    const state = nextIntake(
      fold(asked('mia'), asked('leo', { worthiness_bp: 7000 })),
      asked('mia', { worthiness_bp: 6000 }),
      LATER,
    );
    expect(state).toMatchObject({
      count: 3,
      first_at: AT,
      last_at: LATER,
      worthiness_bp: 7000,
      status: 'open',
    });
    expect(state.users).toEqual([
      { user_id: 'mia', count: 2, first_at: AT, last_at: LATER },
      { user_id: 'leo', count: 1, first_at: AT, last_at: AT },
    ]);
  });

  it('each requester is told once, and nobody else is', async () => {
    const state = fold(asked('mia'), asked('leo'), told('mia'));
    expect(state).toMatchObject({ status: 'told', told: ['mia'] });
    expect(nextIntake(state, told('leo'), AT).told).toEqual(['mia', 'leo']);
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => nextIntake(state, told('mia'), AT));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => nextIntake(state, told('eve'), AT));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => nextIntake(null, told('mia'), AT));
  });

  it('nobody is told of a simulation that is not active', async () => {
    requireServed({ ...draft(), status: 'Active' }, told('mia'), AT);
    await expectRefusal('SIMULATION_NOT_ACTIVE', () => requireServed(draft(), told('mia'), AT));
    await expectRefusal('SIMULATION_NOT_REGISTERED', () => requireServed(null, told('mia'), AT));
  });

  it('stays small however many ask for it', async () => {
    const users = Array.from({ length: 1000 }, (_, i) => asked(`user-${i}`));
    const state = fold(...users);
    await expectRefusal('INTAKE_LIMITED', () => nextIntake(state, asked('one-more'), AT));
    expect(nextIntake(state, asked('user-7'), AT).users).toHaveLength(1000);
  });

  it('a subject names the fingerprint', async () => {
    expect(intakeFingerprint(asked('mia'))).toBe(FINGERPRINT);
    await expectRefusal('SHAPE_INVALID', () => intakeFingerprint(asked('mia', { fingerprint: sha256('x') })));
    await expectRefusal('SHAPE_INVALID', () =>
      intakeFingerprint({ ...told('mia'), subject: 'intake:flight' }),
    );
  });
});

describe('a waiver of a target', () => {
  const waived = (until: string): Event<'slo.waived'> => ({
    kind: 'slo.waived',
    subject: 'system',
    body: { figures: ['execution_error_rate'], until, reason: 'known', ...signed },
  });

  it('ends in the future, and soon', async () => {
    requireWaiver(waived('2026-02-14T12:00:00.000Z'), AT);
    await expectRefusal('TIME_MALFORMED', () => requireWaiver(waived(AT), AT));
    await expectRefusal('TIME_MALFORMED', () => requireWaiver(waived('2026-02-14T12:00:00.001Z'), AT));
  });
});
