import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalogOf } from '../../src/finder/catalog.ts';
import { createFinder } from '../../src/finder/finder.ts';
import { packetRef, parsePacket } from '../../src/finder/packet.ts';
import { corpusCatalog, PARTS, requestFor, utterancesOf } from './evaluate.ts';
import { answerTo } from './examples.ts';

const corpus = corpusCatalog();
const definitions = corpus.simulations.map(({ simulation }) => simulation);
const statuses = new Map(
  corpus.simulations.map(({ simulation, status }) => [simulation.id, status] as const),
);

/** Real sentences, pieces of them stuck together, and any text at all. */
const sentences = PARTS.flatMap(utterancesOf).map(({ text }) => text);
const words = sentences.flatMap((text) => text.split(' '));
const utterance = fc.oneof(
  fc.constantFrom(...sentences),
  fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((some) => some.join(' ')),
  fc.string({ unit: 'binary', maxLength: 60 }),
);

describe('the same input and snapshots', () => {
  const finder = createFinder();

  it('always give the same packet, whoever asks and in whatever order the catalog was read', () => {
    const shuffled = fc.shuffledSubarray(definitions, { minLength: definitions.length });
    fc.assert(
      fc.property(utterance, shuffled, (text, turned) => {
        const again = catalogOf(turned, statuses);
        expect(again.digest).toBe(corpus.digest);
        const packet = finder.find(requestFor(corpus, text));
        expect(packetRef(createFinder().find(requestFor(again, text)))).toBe(packetRef(packet));
      }),
      { numRuns: 25 },
    );
  });

  it('give one whole packet of the four kinds, whatever the text', () => {
    fc.assert(
      fc.property(utterance, (text) => {
        const packet = finder.find(requestFor(corpus, text));
        expect(parsePacket(structuredClone(packet))).toEqual(packet);
        if (packet.kind === 'SIMULATION_MATCH') expect(statuses.get(packet.simulation_id)).toBe('Active');
      }),
      { numRuns: 200 },
    );
  });

  it('give the same packet after an answer, and a conversation ends', () => {
    fc.assert(
      fc.property(utterance, fc.infiniteStream(utterance), (text, answers) => {
        let finding = finder.examine(requestFor(corpus, text));
        for (let turn = 0; finding.packet.kind === 'CLARIFY'; turn++) {
          expect(turn).toBeLessThan(8);
          const request = {
            ...requestFor(corpus, text),
            clarify: answerTo(finding, answers.next().value as string),
          };
          finding = finder.examine(request);
          expect(packetRef(finder.find(request))).toBe(packetRef(finding.packet));
        }
      }),
      { numRuns: 100 },
    );
  });
});
