import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SimulationStatus } from '../../src/event/agent.ts';
import { type Catalog, parseCatalog } from '../../src/finder/catalog.ts';
import { createFinder, type Finding } from '../../src/finder/finder.ts';
import { readConfirmation } from '../../src/finder/lexicon/confirmation.ts';
import { needsConfirmation } from '../../src/finder/simulation.ts';
import { requestFor } from '../agent/evaluate.ts';

/**
 * Sets of utterances that no rule was tuned by, and how well they are heard. Only totals leave this file unless asked. `held-out` was written
 * before the rules by the author of the rules; `independent` by a second author, who had not read them.
 */
export const SETS = ['held-out', 'independent'] as const;
export type SetName = (typeof SETS)[number];

const folderOf = (set: SetName): string => fileURLToPath(new URL(`./${set}`, import.meta.url));

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
  /** Neither of the two is `neither` in one set and `unclear` in the other. */
  readonly means: 'yes' | 'no' | 'neither' | 'unclear';
}

export const heldOutText = (set: SetName, file: string): string =>
  readFileSync(join(folderOf(set), file), 'utf8');

export const heldOutUtterances = (set: SetName): HeldOutUtterance[] =>
  JSON.parse(heldOutText(set, 'utterances.json')) as HeldOutUtterance[];

export const heldOutAnswers = (set: SetName): HeldOutAnswer[] =>
  JSON.parse(heldOutText(set, 'answers.json')) as HeldOutAnswer[];

export const heldOutFiles = (set: SetName): { readonly name: string; readonly text: string }[] =>
  readdirSync(join(folderOf(set), 'simulations'))
    .sort()
    .map((name) => ({ name, text: heldOutText(set, `simulations/${name}`) }));

/** Every simulation of the set is Active. */
export function heldOutCatalog(set: SetName): Catalog {
  const files = heldOutFiles(set);
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

export function hearHeldOut(set: SetName): HeldOutHeard[] {
  const catalog = heldOutCatalog(set);
  const finder = createFinder();
  return heldOutUtterances(set).map((utterance) =>
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

export const hearHeldOutAnswers = (set: SetName): HeardAnswer[] =>
  heldOutAnswers(set).map((answer) => ({
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
