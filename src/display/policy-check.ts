import { type Digest, sha256 } from '../canonical/digest.ts';
import { changedTexts, type PolicySource, policySetBytes } from '../policy/source.ts';
import { isDiffOf, textPair } from './diff-check.ts';
import type { Shown } from './shown.ts';

/** As `policies.diff` tells it. */
interface ToldPolicies {
  readonly active: string | null;
  readonly files: string;
  readonly source: PolicySource;
  readonly active_source: PolicySource | null;
  readonly shown: Pick<Shown, 'blocks'>;
}

/** What activation signs, computed from the texts that were drawn. */
export interface SealedPolicies {
  readonly files: Digest;
  readonly active: Digest | null;
}

/** Null where the digests are not what the service says, or what is drawn is not the difference of the texts that they cover. */
export function sealedPolicies({
  active,
  files,
  source,
  active_source,
  shown: { blocks },
}: ToldPolicies): SealedPolicies | null {
  const sealed = {
    files: sha256(policySetBytes(source)),
    active: active_source && sha256(policySetBytes(active_source)),
  };
  if (sealed.files !== files || sealed.active !== active) return null;
  const texts = changedTexts(active_source, source);
  const is_drawn =
    blocks.length === texts.length &&
    texts.every(([name, before, after], i) => {
      const { title, hunks, left_out } = blocks[i]!;
      const path = title.map(({ text }) => text).join('');
      return left_out === 0 && path === `policies/${name}` && isDiffOf(textPair(before, after), hunks);
    });
  return is_drawn ? sealed : null;
}
