import { sha256 } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import { agentLimits } from '../limits.ts';
import type { MissingSimulationPacket, PacketHead } from './packet.ts';
import { type Candidate, thresholds } from './rank.ts';
import { contentWords } from './text.ts';

/** What one search saw. */
export interface Searched {
  readonly searched: number;
  readonly best: Candidate | undefined;
}

/** Nothing Active serves the goal. A Draft that would is named, so that it is not asked for a second time. */
export function missingPacket(
  head: PacketHead,
  utterance: string,
  active: Searched,
  draft: Searched,
  is_withdrawn: boolean,
): MissingSimulationPacket {
  // The wish in a few words, so that two people who want the same are counted together.
  const words = contentWords(utterance).slice(0, agentLimits.wish_words);
  const has_draft = (draft.best?.confidence_bp ?? 0) >= thresholds.clarify_bp;
  const category = has_draft ? 'DRAFT_EXISTS' : is_withdrawn ? 'WITHDRAWN' : 'NEW_CAPABILITY';
  const first = { stage: 'ACTIVE', found: false, ...lookedAt(active) } as const;
  const second = { stage: 'DRAFT', ...lookedAt(draft) } as const;
  const parts = worthiness(words, utterance, Math.max(seen(active), seen(draft)));
  return {
    kind: 'MISSING_SIMULATION',
    ...head,
    reason_code: `MISSING_${category}`,
    requested_capability_name_normalized: words.join('_').slice(0, agentLimits.wish_chars),
    raw_user_utterance: utterance,
    category,
    worthiness_score_bp: worth(parts),
    worthiness_parts: parts,
    dedupe_fingerprint: sha256(canonicalBytes([...words].sort())),
    search_proof: has_draft
      ? [first, { ...second, found: true }]
      : [first, { ...second, found: false }, { stage: 'NONE' }],
  };
}

const seen = ({ best }: Searched): number => best?.confidence_bp ?? 0;

function lookedAt({ searched, best }: Searched) {
  return {
    searched,
    best_simulation_id: best?.entry.simulation.id ?? null,
    best_confidence_bp: best?.confidence_bp ?? 0,
  };
}

type Parts = MissingSimulationPacket['worthiness_parts'];

/** Three to six words say best what is wanted; fewer are vague, and many more are a story. */
function worthiness(words: readonly string[], utterance: string, best_bp: number): Parts {
  const clarity_bp = Math.min(words.length, 3) * 3333 + (words.length <= 6 ? 1 : -2000);
  return {
    clarity_bp: Math.min(10_000, Math.max(0, clarity_bp)),
    novelty_bp: 10_000 - best_bp,
    detail_bp: /\p{N}|@|"/u.test(utterance) ? 10_000 : 0,
  };
}

function worth({ clarity_bp, novelty_bp, detail_bp }: Parts): number {
  return Math.round(0.45 * clarity_bp + 0.45 * novelty_bp + 0.1 * detail_bp);
}
