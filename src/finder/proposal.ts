import { refuse } from '../refusal.ts';
import { matchPacket } from './answer.ts';
import { entryOf } from './catalog.ts';
import { answeredValue } from './clarify.ts';
import { createFinder, type Finding } from './finder.ts';
import type { EvidenceSpan, SimulationMatchPacket } from './packet.ts';
import { type ModelProposal, proposalShape } from './proposal-shape.ts';
import type { FinderRequest } from './request.ts';
import { clausesOf, isSeveral } from './saying.ts';
import type { Simulation } from './simulation.ts';
import { textProblem } from './unsafe.ts';

/** Names a match that a model proposed, in the packet and so in every later record. */
export const MODEL_PROPOSED = 'MATCH_PROPOSED';

const finder = createFinder();

/** The packet of a proposal that holds. One that does not is refused, and leads to nothing. */
export function heldProposal(request: FinderRequest, given: unknown): Finding {
  const parsed = proposalShape.safeParse(given);
  if (!parsed.success) return lie('It is not a proposal.');
  const proposal = parsed.data;
  const heard = finder.examine(request);
  const entry = entryOf(request.catalog, proposal.simulation_id);
  if (entry?.status !== 'Active') return lie(`There is no active simulation "${proposal.simulation_id}".`);
  const spans = spansOf(request.utterance, entry.simulation, proposal, heard.language);
  requireUncontradicted(request.utterance, entry.simulation, heard);
  const made = matchPacket(request, { entry, confidence_bp: CONFIDENCE_BP }, spans, true);
  return { ...heard, packet: { ...made, reason_code: MODEL_PROPOSED }, context: null };
}

/** Just enough for a match: how sure a model is was not measured. */
const CONFIDENCE_BP = 9000;

/** The same again, for a packet that was stored. The model is not asked. */
export function requireHeld(request: FinderRequest, packet: SimulationMatchPacket): void {
  const { simulation_id, evidence_spans, confirm_required } = packet;
  if (!confirm_required) lie('It does not ask for a yes.');
  const fields = evidence_spans.map(({ field, text, start }) => ({ field, text, start }));
  heldProposal(request, { simulation_id, fields });
}

const lie = (message: string): never => refuse('FINDER_PACKET_INVALID', `The model's proposal: ${message}`);

function spansOf(
  utterance: string,
  { fields }: Simulation,
  proposal: ModelProposal,
  language: string,
): EvidenceSpan[] {
  const names = proposal.fields.map(({ field }) => field);
  const unknown = names.find((name, i) => !Object.hasOwn(fields, name) || names.indexOf(name) !== i);
  if (unknown !== undefined) return lie(`It gives "${unknown}", which is no field, or is given twice.`);
  const missing = Object.keys(fields).find((name) => !names.includes(name));
  if (missing !== undefined) return lie(`It does not give "${missing}".`);
  return proposal.fields.map(({ field, text, start }) => {
    const end = start + text.length;
    if (utterance.slice(start, end) !== text)
      return lie(`The user did not say what it shows for "${field}".`);
    const read = answeredValue(fields[field]!, text, language);
    if (read === null) return lie(`What it shows for "${field}" is no value of it.`);
    return { field, source: 'utterance', start, end, text, value: read.value };
  });
}

/** What the rules heard and a model may not overrule: that it is no request, that it is two, or that another one is named. */
function requireUncontradicted(utterance: string, { id }: Simulation, { packet, read }: Finding): void {
  if (textProblem(utterance) !== null) lie('The words are not safe to read.');
  const heard = clausesOf(utterance, ...read).flatMap(({ sure }) => sure);
  if (heard.length > 0) lie(`The words are no request but a ${heard[0]!.kind}.`);
  if (isSeveral(utterance, ...read)) lie('The words ask for two things.');
  if (packet.kind === 'SIMULATION_MATCH' && packet.simulation_id !== id)
    lie(`The words name "${packet.simulation_id}".`);
}
