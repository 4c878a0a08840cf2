import { limits } from '../limits.ts';

export interface TextProblem {
  readonly reason_code: 'UTTERANCE_EMPTY' | 'UTTERANCE_TOO_LONG' | 'UTTERANCE_UNSAFE';
  readonly message: string;
}

/** Controls but tabs and line breaks; what turns the reading direction; what is not visible; half characters; private ones. */
const UNSAFE =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\p{Cs}\p{Co}\u{e0000}-\u{e007f}]/u;
/** Joiners are spelling in some scripts and in emoji. Anywhere else they hide a difference. */
const STRAY_JOINER =
  /(?<!\p{Script=Arabic}|\p{Script=Devanagari}|\p{Extended_Pictographic}|\ufe0f|\p{Emoji_Modifier})[\u200c\u200d]/u;

/**
 * Why a text is not looked at. The attacker is a text that a person reads differently from the finder. What it says is
 * no reason: words such as "ignore your rules" are only words here, and no goal (see speech.ts).
 */
export function textProblem(text: string): TextProblem | null {
  if (text.length > limits.utterance_chars)
    return { reason_code: 'UTTERANCE_TOO_LONG', message: `Say it in ${limits.utterance_chars} characters.` };
  if (text.trim() === '') return { reason_code: 'UTTERANCE_EMPTY', message: 'Nothing was said.' };
  if (!text.isWellFormed() || UNSAFE.test(text) || STRAY_JOINER.test(text))
    return {
      reason_code: 'UTTERANCE_UNSAFE',
      message: 'The text has characters that change or hide what is shown. Type it again as plain text.',
    };
  return null;
}
