import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import type { Refusal } from '../../src/refusal.ts';
import { authority } from '../journey/authority.ts';
import { PASSPHRASE } from '../support/project.ts';
import { scratch } from '../support/scratch.ts';

describe('S21: a passphrase is worth what it costs to guess', () => {
  it('S21: a key file is derived with at least N = 2^17, as OWASP advises', async () => {
    const { keyturn } = await authority();
    const file = JSON.parse(readFileSync(join(keyturn.layout.keys, 'ada.json'), 'utf8'));
    expect(file.scrypt.N).toBeGreaterThanOrEqual(2 ** 17);
  });

  for (const common of ['password', '12345678', 'password1'])
    it(`S21: the common passphrase "${common}" is refused`, async () => {
      const at = scratch();
      const code = await Keyturn.init({ at, name: 'ada', passphrase: common }).then(
        (made) => made.close().then(() => null),
        (error: Refusal) => error.code,
      );
      expect(code).toBe('PASSPHRASE_WEAK');
    });

  it('S21: other work goes on while a key is unlocked', async () => {
    const { keyturn } = await authority();
    let went_on = false;
    setImmediate(() => {
      went_on = true;
    });
    await keyturn.unlock('ada', PASSPHRASE);
    expect(went_on).toBe(true);
  });
});
