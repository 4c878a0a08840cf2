import type { LanguageRules } from './rules.ts';

const PARTICIPLE = '\\p{L}+(?:at[oaie]|ut[oaie]|it[oaie]|s[oaie]|st[oaie]|tt[oaie]|rt[oaie]|nt[oaie])';

export const it: LanguageRules = {
  language: 'it',
  courtesies: ['se (?:puoi|può|possibile|potete|non ti dispiace|non le dispiace|vuoi|hai tempo|ti va)', 'quando (?:puoi|hai tempo)', 'appena possibile', 'il prima possibile', 'nessun problema', 'non dimenticare di'],
  requests: ['per favore', 'per piacere', 'per cortesia', '(?:mi |ci )?(?:puoi|può|potresti|potrebbe|potete|potreste)', '(?:voglio|vorrei|vogliamo|vorremmo|mi serve|ci serve|ho bisogno|abbiamo bisogno|desidero|mi piacerebbe|devo|dobbiamo|bisogna|occorre)', '(?:deve|devono|va|vanno) (?:essere )?\\p{L}+(?:ato|ata|ati|ate|so|sa|to|ta)', 'aiutami', '(?:vuole|ha bisogno)'],
  sure: {
    ability: ['si (?:può|possono|potrebbe)', '(?:è|sarebbe) possibile', '(?:posso|possiamo|potrei)', "c'è (?:un )?modo", 'come (?:posso|si|faccio|possiamo|funziona)', '(?:cosa|che cosa|che) (?:succede|succederebbe|accade|significa|vuol dire)', 'sei in grado', 'perché', 'dovrei', 'e se'],
    report: [`(?:ho|hai|ha|abbiamo|avete|hanno|avevo|avevi|aveva|avevano)(?: già| appena| anche)? ${PARTICIPLE}`, `(?:è|sono|era|erano|è stato|è stata|sono stati|viene|venne)(?: già| appena)? ${PARTICIPLE}`, '(?:mi|ci|gli) ha(?:nno)? (?:detto|raccontato|informato|spiegato)', 'di aver(?:e)? ', 'secondo', 'a quanto pare', 'ho (?:sentito|saputo|letto)'],
    denial: ['non(?! (?:so|dimenticare|funziona|arriva|è arrivato|ricordo|esitare))', 'mai', 'in nessun caso', 'per nessun motivo', 'assolutamente no', 'nemmeno', 'neanche', 'vietat[oaie]', 'proibit[oaie]', '(?:rifiuta|rifiutato|si rifiuta|evita|evitare|vieta)', 'invece di', 'anziché', 'senza (?=\\p{L}+re)', 'nessuno (?:deve|può)', 'certo che no', 'meglio di no', 'lascia (?:stare|perdere)'],
    condition: ['se(?! (?:ne|stesso|possibile))', 'a meno che', 'qualora', 'quando', 'purché', '(?:non )?appena', 'una volta che', 'dopo che', 'prima che', 'finché', 'nel caso', 'a condizione', 'altrimenti', 'supponiamo', 'immagina', 'solo (?:se|quando|dopo)', 'ammesso che'],
    quotation: ['(?:dice|dicono|disse|ripete|ripetono|scrive|scrisse|afferma|sostiene|grida|chiede|chiedeva)', "c'è scritto", 'sta scritto', 'la (?:parola|frase|espressione)', 'il comando'],
    wish: ['magari', '(?:avessi|avesse|avessimo|fossi|fosse)', '(?:avrei|avresti|avrebbe|avremmo) (?:dovuto|potuto|voluto)?', 'un (?:giorno|domani)', 'in futuro', 'prima o poi', "l'anno prossimo", '\\p{L}{2,}(?:erò|irò|arò|eremo|iremo)', '(?:penso|spero|conto|intendo) di', 'peccato', '(?:sto|stavo) pensando'],
  },
  likely: { report: ['ieri', "l'altro ieri", 'la settimana scorsa', "(?:il mese|l'anno) scorso", '\\p{L}+ fa', 'già', 'poco fa', 'sempre', 'spesso', 'di solito', 'ogni (?:giorno|mattina|sera|settimana)'] },
  told_form: /(?:ò|ai|asti|isti|arono|irono|erono|avo|ava|avano|evo|eva|ivo|iva)$/u,
  irregular: {
    disdici: 'disdire', disdica: 'disdire', 'dì': 'dire', dici: 'dire', fa: 'fare', fai: 'fare', dai: 'dare', da: 'dare', stai: 'stare', tieni: 'tenere', tenga: 'tenere', vieni: 'venire', togli: 'togliere', tolga: 'togliere', scegli: 'scegliere', rimuovi: 'rimuovere', rimuova: 'rimuovere', muovi: 'muovere', apri: 'aprire', apra: 'aprire', chiudi: 'chiudere', chiuda: 'chiudere',
    spegni: 'spegnere', spenga: 'spegnere', accendi: 'accendere', accenda: 'accendere', invia: 'inviare', paga: 'pagare', paghi: 'pagare', cerchi: 'cercare', blocchi: 'bloccare', sblocchi: 'sbloccare', traduci: 'tradurre', produci: 'produrre', riduci: 'ridurre', metti: 'mettere', metta: 'mettere', prendi: 'prendere', prenda: 'prendere', leggi: 'leggere', scrivi: 'scrivere', vedi: 'vedere', vendi: 'vendere',
  },
};
