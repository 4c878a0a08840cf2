import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Catalog, parseCatalog, type SimulationStatus } from '../../src/finder/catalog.ts';
import { createFinder, type Finding } from '../../src/finder/finder.ts';
import { readConfirmation } from '../../src/finder/lexicon/confirmation.ts';
import { needsConfirmation } from '../../src/finder/simulation.ts';
import { requestFor } from '../agent/evaluate.ts';

/** The set that was written before any tuning, and how well it is heard. Only totals leave this file unless asked. */

const HERE = fileURLToPath(new URL('./held-out', import.meta.url));

export interface HeldOutUtterance {
  readonly text: string;
  readonly language: string;
  readonly kind: string;
  readonly expect:
    | { readonly outcome: 'request'; readonly simulation: string }
    | { readonly outcome: 'missing' | 'none' | 'several' };
}

export interface HeldOutAnswer {
  readonly text: string;
  readonly language: string;
  readonly means: 'yes' | 'no' | 'neither';
}

export const heldOutText = (file: string): string => readFileSync(join(HERE, file), 'utf8');

export const heldOutUtterances = (): HeldOutUtterance[] =>
  JSON.parse(heldOutText('utterances.json')) as HeldOutUtterance[];

export const heldOutAnswers = (): HeldOutAnswer[] =>
  JSON.parse(heldOutText('answers.json')) as HeldOutAnswer[];

export const heldOutFiles = (): { readonly name: string; readonly text: string }[] =>
  readdirSync(join(HERE, 'simulations'))
    .sort()
    .map((name) => ({ name, text: heldOutText(`simulations/${name}`) }));

/** Every simulation of the set is Active. */
export function heldOutCatalog(): Catalog {
  const files = heldOutFiles();
  const active = files.map(
    ({ name }) => [name.replace(/\.yaml$/, ''), 'Active' as SimulationStatus] as const,
  );
  return parseCatalog(files, new Map(active));
}

export interface HeldOutHeard {
  readonly utterance: HeldOutUtterance;
  readonly finding: Finding;
  /** A request: its simulation leads. An absent one: found missing. No request, or several: nothing is matched. */
  readonly right: boolean;
  readonly matched: boolean;
  /** Runs at once: matched, and no yes is asked for. */
  readonly runs: boolean;
  readonly language_right: boolean;
}

export function hearHeldOut(): HeldOutHeard[] {
  const catalog = heldOutCatalog();
  const finder = createFinder();
  return heldOutUtterances().map((utterance) =>
    judged(utterance, finder.examine(requestFor(catalog, utterance.text)), catalog),
  );
}

function judged(utterance: HeldOutUtterance, finding: Finding, catalog: Catalog): HeldOutHeard {
  const { packet, candidates } = finding;
  const { expect } = utterance;
  const matched = packet.kind === 'SIMULATION_MATCH';
  const definition = matched
    ? catalog.simulations.find(({ simulation }) => simulation.id === packet.simulation_id)!.simulation
    : null;
  const runs = matched && !packet.confirm_required && !needsConfirmation(definition!);
  const right =
    expect.outcome === 'request'
      ? (matched || packet.kind === 'CLARIFY') && candidates[0]?.entry.simulation.id === expect.simulation
      : expect.outcome === 'missing'
        ? packet.kind === 'MISSING_SIMULATION'
        : !matched;
  return {
    utterance,
    finding,
    right,
    matched,
    runs: runs && !(expect.outcome === 'request' && expect.simulation === packet.simulation_id),
    language_right: finding.language === utterance.language,
  };
}

export interface HeardAnswer {
  readonly answer: HeldOutAnswer;
  readonly read: 'YES' | 'NO' | 'AMBIGUOUS';
}

export const hearHeldOutAnswers = (): HeardAnswer[] =>
  heldOutAnswers().map((answer) => ({
    answer,
    read: readConfirmation(answer.text, answer.language).answer,
  }));

/** The 95 % interval of Wilson for `right` of `all`. */
export function wilson(right: number, all: number): readonly [low: number, high: number] {
  if (all === 0) return [0, 1];
  const z = 1.959964;
  const share = right / all;
  const scale = 1 + (z * z) / all;
  const middle = share + (z * z) / (2 * all);
  const half = z * Math.sqrt((share * (1 - share)) / all + (z * z) / (4 * all * all));
  return [Math.max(0, (middle - half) / scale), Math.min(1, (middle + half) / scale)];
}
