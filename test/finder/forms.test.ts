import { describe, expect, it } from 'vitest';
import { arabicForms } from '../../src/finder/arabic-forms.ts';
import { hindiForms } from '../../src/finder/hindi-forms.ts';
import { sameActs } from '../../src/finder/languages/same-acts.ts';
import { catalog, examine, simulation } from '../agent/examples.ts';
import { SAID, WORDS } from './theatre.ts';

/** One word for each act and thing, as a dictionary has it. People say it in other forms, and in other words. */
const theatre = catalog(
  Object.entries(WORDS).map(([id, words]) => {
    const each = Object.entries(words);
    return simulation(id, {
      summary: Object.fromEntries(each.map(([language, [act, thing]]) => [language, `${act} ${thing}`])),
      words: Object.fromEntries(
        each.map(([language, [act, thing]]) => [language, { acts: [act], things: [thing] }]),
      ),
      side_effecting: true,
    });
  }),
);

describe('an act that is known by one word of a dictionary', () => {
  it.each(SAID)('in %s, %s: is heard in "%s"', (_, id, text) => {
    const { packet, candidates } = examine(theatre, text);
    expect(packet.kind).toMatch(/^(?:SIMULATION_MATCH|CLARIFY)$/);
    expect(candidates[0]?.entry.simulation.id).toBe(id);
  });

  it('is asked about, and not matched, where something else is asked for with it', () => {
    for (const text of [
      'open the curtain and then sweep the floor',
      'öffne den Vorhang und dann kehre den Boden',
      'abre el telón y luego barre el suelo',
      'ouvre le rideau et ensuite balaie le sol',
      '打开幕布，然后扫地',
    ])
      expect(examine(theatre, text).packet.kind, text).not.toBe('SIMULATION_MATCH');
  });
});

describe('the forms of a verb', () => {
  it('of Hindi are made from any of them, and "do" changes behind its noun', () => {
    expect(hindiForms('खोल दो')).toEqual(expect.arrayContaining(['खोलना', 'खोलो', 'खोलिए', 'खोल']));
    expect(hindiForms('दिखाइए')).toEqual(expect.arrayContaining(['दिखाना', 'दिखाओ', 'दिखा']));
    expect(hindiForms('बंद करना')).toEqual(expect.arrayContaining(['बंद कर', 'बंद कीजिए', 'बंद करवा']));
    expect(hindiForms('करना')).toEqual([]);
  });

  it('of Arabic are made by the pattern of the noun', () => {
    expect(arabicForms('فتح')).toEqual(['افتح', 'تفتح']);
    expect(arabicForms('تشغيل')).toContain('شغل');
    expect(arabicForms('إغلاق')).toContain('أغلق');
    expect(arabicForms('إضافة')).toContain('أضف');
    expect(arabicForms('مراجعة')).toContain('راجع');
    expect(arabicForms('كمبيوتر')).toEqual([]);
  });

  it('of another word are only taken for what is done in the same way everywhere', () => {
    expect(sameActs('en', 'book')).toEqual(['reserve']);
    expect(sameActs('en', 'bake')).toEqual([]);
    expect(sameActs('en', 'cancel')).not.toContain('remove');
  });
});
