import { setTimeout as pause } from 'node:timers/promises';
import { sha256 } from '../../canonical/digest.ts';
import type { Entry, Keyturn, NotifyEvent, NotifyPosition, NotifyTarget } from '../../keyturn.ts';
import { notifyLimits } from '../../limits.ts';
import { Refusal } from '../../refusal.ts';
import { httpStatusOf } from '../status.ts';
import { type Delivery, deliver, kindOf } from './deliver.ts';
import { dueIn } from './due.ts';
import { type Notice, notificationOf, type Occasion, toldBy } from './message.ts';
import { inTurn } from './turn.ts';

export interface NotifierRequest {
  /** What links begin with, where the host's own file names nothing else. */
  readonly address: string;
  readonly signal: AbortSignal;
  readonly tell: (told: Notified) => void;
  readonly counted: (kind: string, outcome: string) => void;
  /** Between the attempts for one message; after the last it is given up. */
  readonly delays_ms?: readonly number[];
  /** How often reminders are looked for. */
  readonly look_ms?: number;
}

export interface Notified extends Delivery {
  readonly target: string;
  readonly message_id: string;
}

type Route = Keyturn['config']['notify']['routes'][number];

/** What asks people to look. */
const ASKING: ReadonlySet<NotifyEvent> = new Set<NotifyEvent>(['waiting', 'reminder', 'escalation']);

/** Tells each target what its routes name, in the order of the ledger, until the signal. One that fails keeps no other waiting. */
export async function keepNotifying(keyturn: Keyturn, request: NotifierRequest): Promise<void> {
  const { routes } = keyturn.config.notify;
  if (routes.length === 0) return;
  const own = targetsOf(keyturn);
  if (own instanceof Refusal) {
    request.tell({ ...NOTHING, code: own.code, target: 'all', words: own.message });
    return;
  }
  const { address, targets } = own;
  const given = { ...request, address: address?.replace(/\/$/, '') ?? request.address };
  const names = [...new Set(routes.map(({ to }) => to))];
  await Promise.all(
    names.map((name) => {
      const target = targets.get(name);
      if (target) return new Channel(keyturn, name, target, given).run();
      const words = `This host has no target "${name}": nothing is sent there.`;
      given.tell({ ...NOTHING, target: name, words });
      return undefined;
    }),
  );
}

/** With a file that cannot be used there are no notifications, and the service answers all the same. */
function targetsOf(keyturn: Keyturn): ReturnType<Keyturn['host']['notifyTargets']> | Refusal {
  try {
    return keyturn.host.notifyTargets();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

const NOTHING = {
  outcome: 'failed',
  status: null,
  code: 'NOTIFY_TARGET_UNKNOWN',
  message_id: '',
} as const;

/** What either of two has told of. Entries and what is due are told apart, so one can be further in each. */
function furtherOf(kept: NotifyPosition, own: NotifyPosition): NotifyPosition {
  return {
    seq: Math.max(kept.seq, own.seq),
    until: [kept.until, own.until].sort()[1]!,
    doubts: [...new Set([...kept.doubts, ...own.doubts])],
    gone: kept.gone ?? own.gone,
  };
}

/** One target, and how far it has been told. */
class Channel {
  readonly #keyturn: Keyturn;
  readonly #name: string;
  readonly #target: NotifyTarget;
  readonly #request: NotifierRequest;
  readonly #routes: readonly Route[];
  readonly #digest: string;
  #position: NotifyPosition | null = null;

  constructor(keyturn: Keyturn, name: string, target: NotifyTarget, request: NotifierRequest) {
    this.#keyturn = keyturn;
    this.#name = name;
    this.#target = target;
    this.#request = request;
    this.#routes = keyturn.config.notify.routes.filter(({ to }) => to === name);
    this.#digest = sha256(JSON.stringify(target));
  }

  async run(): Promise<void> {
    const { signal } = this.#request;
    const turn = { state: this.#keyturn.host.serviceState(), name: this.#name, signal };
    while (!signal.aborted) {
      try {
        await inTurn(turn, (mine) => this.#follow(mine));
        if (this.#position?.gone === this.#digest) return;
      } catch {
        // The ledger is out of reach for a while. It is followed again from where it was told.
        await pause(notifyLimits.again_ms, null, { signal }).catch(() => {});
      }
    }
  }

  async #follow(mine: AbortSignal): Promise<void> {
    const kept = await this.#keyturn.host.notifyPositions().get(this.#name);
    // Another service may have told of more meanwhile; or this one did, and could not write it down.
    const known = kept && this.#position ? furtherOf(kept, this.#position) : (kept ?? this.#position);
    const now = new Date().toISOString();
    this.#position = known ?? {
      seq: (await this.#keyturn.host.queue()).entries,
      until: now,
      doubts: [],
      gone: null,
    };
    if (this.#position.gone === this.#digest) return;
    await this.#keep({ ...this.#position, gone: null });
    const stop = new AbortController();
    const signal = AbortSignal.any([mine, stop.signal]);
    try {
      await Promise.all([this.#tellEntries(signal, stop, mine), this.#tellDue(signal, stop, mine)]);
    } finally {
      stop.abort();
    }
  }

  async #tellEntries(signal: AbortSignal, stop: AbortController, mine: AbortSignal): Promise<void> {
    for await (const entry of this.#keyturn.ledger.follow({ from: this.#position!.seq, signal })) {
      const is_told = await this.#tellEntry(entry, signal);
      // What was not sent when the turn ended is sent in the next one, by this service or by another.
      if (!is_told && signal.aborted) return;
      const position = { ...this.#position!, seq: entry.seq + 1 };
      if (is_told) await this.#told(position, mine);
      // What tells nothing is kept in memory: after a restart it is looked at again, and tells nothing again.
      else this.#position = position;
      if (this.#position!.gone !== null) stop.abort();
    }
  }

  /** Another service may have this turn by now, and be further: its position must not be replaced. */
  async #told(position: NotifyPosition, mine: AbortSignal): Promise<void> {
    const is_lost = mine.aborted && !this.#request.signal.aborted;
    if (is_lost) this.#position = position;
    else await this.#keep(position);
  }

  async #tellEntry(entry: Entry, signal: AbortSignal): Promise<boolean> {
    const told = toldBy(entry);
    if (told === null) return false;
    const about = told.event === 'frozen' ? null : await this.#intent(entry.subject);
    return this.#tell({ ...told, occasion: String(entry.seq), at: entry.at, about }, signal);
  }

  /** Where the store fails, the entry is told when it answers again: without its intent, most routes would pass it over. */
  async #intent(intent_id: string) {
    return this.#keyturn.intents.get({ intent_id }).catch((error: unknown) => {
      if (error instanceof Refusal && httpStatusOf(error.code) < 500) return null;
      throw error;
    });
  }

  async #tellDue(signal: AbortSignal, stop: AbortController, mine: AbortSignal): Promise<void> {
    const { look_ms = notifyLimits.due_look_ms } = this.#request;
    while (!signal.aborted) {
      const until = new Date();
      const begun = await this.#keyturn.host.begunRuns();
      for (const due of await dueIn(this.#keyturn, this.#position!, until, begun)) {
        const is_told = await this.#tell(due, signal);
        const { doubts } = this.#position!;
        if (is_told && due.event === 'in_doubt')
          await this.#told({ ...this.#position!, doubts: [...doubts, due.occasion] }, mine);
      }
      if (signal.aborted) return;
      const doubts = this.#position!.doubts.filter((id) => begun.some((one) => one.execution_id === id));
      await this.#keep({ ...this.#position!, until: until.toISOString(), doubts });
      if (this.#position!.gone !== null) stop.abort();
      await pause(look_ms, null, { signal }).catch(() => {});
    }
  }

  async #tell(occasion: Occasion, signal: AbortSignal): Promise<boolean> {
    const { event, about } = occasion;
    const routes = this.#routes.filter(
      ({ on, tools }) => on.includes(event) && (!tools || (about !== null && tools.includes(about.tool))),
    );
    if (routes.length === 0 || !(await this.#reaches(routes, occasion))) return false;
    const { address } = this.#request;
    const message = notificationOf({ ...occasion, origin: this.#keyturn.host.origin, address });
    return this.#deliver(message, signal);
  }

  /** Whether one of those who are asked to look is reached here. */
  async #reaches(routes: readonly Route[], { event, about, added }: Occasion): Promise<boolean> {
    const asked = ASKING.has(event) ? (added ?? about?.reviewers ?? null) : null;
    if (asked === null || routes.some((route) => route.for === undefined)) return true;
    const { principals } = await this.#keyturn.people.list();
    const called = principals
      .filter(({ name }) => asked.includes(name))
      .flatMap(({ name, roles }) => [name, ...roles.map((role) => `role:${role}`)]);
    return routes.some((route) => route.for!.some((one) => called.includes(one)));
  }

  /** False where the service stops before it is over: it is tried again after the next start. */
  async #deliver(message: Notice, signal: AbortSignal): Promise<boolean> {
    const { delays_ms = notifyLimits.delays_ms, tell, counted } = this.#request;
    for (const delay_ms of [...delays_ms, null]) {
      const told = await deliver(this.#keyturn, this.#target, message, signal);
      if (signal.aborted && told.outcome !== 'delivered') return false;
      counted(kindOf(this.#target), told.outcome);
      tell({ ...told, target: this.#name, message_id: message.id });
      if (told.outcome === 'gone') await this.#keep({ ...this.#position!, gone: this.#digest });
      if (told.outcome !== 'failed' || delay_ms === null) return true;
      await pause(delay_ms, null, { signal }).catch(() => {});
      if (signal.aborted) return false;
    }
    return true;
  }

  async #keep(position: NotifyPosition): Promise<void> {
    this.#position = position;
    await this.#keyturn.host.notifyPositions().set(this.#name, position);
  }
}
