import type { Sizes } from './sizes.ts';
import type { Row } from './table.ts';
import type { Workshop } from './workshop.ts';

/** What makes a signature of a passkey an act costs less than the signature. */
const MOST = 2;

export const PASSKEY = {
  name: 'passkey',
  async rows({ ask }: Workshop, { runs }: Sizes): Promise<Row[]> {
    const times = await ask('measurePasskeys', { rounds: 2 * runs });
    return [
      row('verify an act by passkey, against one bare ES256 verification', times.act_us, times.bare_us),
      row('the same, each opening its key', times.act_opening_us, times.bare_opening_us),
    ];
  },
};

function row(figure: string, act_us: number, bare_us: number): Row {
  const ratio = act_us / bare_us;
  return {
    figure,
    measured: `${ratio.toFixed(2)} x`,
    asked: `<= ${MOST}`,
    verdict: ratio <= MOST ? 'ok' : 'MISSED',
    baseline: `${act_us.toFixed(0)} us against ${bare_us.toFixed(0)} us`,
  };
}
