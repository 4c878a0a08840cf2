import type { LanguageRules } from './rules.ts';

const PARTICIPLE = '\\p{L}+(?:é|ée|és|ées|i|ie|is|it|ite|u|ue|us|ert|erte|int|ait)';
const ADVERB = '(?:déjà |bien |juste |tout |encore |récemment |enfin |pas )*';

export const fr: LanguageRules = {
  language: 'fr',
  courtesies: ["s'il (?:te|vous) pla[iî]t", 's il (?:te|vous) pla[iî]t', 'si (?:possible|tu peux|vous pouvez|tu veux|vous voulez|ça ne te dérange pas|cela ne vous dérange pas|tu as le temps|vous avez le temps)', 'quand (?:tu peux|vous pouvez|tu auras le temps)', 'dès que possible', 'pas de (?:problème|souci)', "n'est-ce pas", "n'oublie(?:z)? pas (?:de|d')"],
  requests: ['merci de', 'veuillez', '(?:peux|pourrais)[- ]tu', '(?:pouvez|pourriez)[- ]vous', '(?:tu|vous) (?:peux|pourrais|pouvez|pourriez)(?: me| nous| lui)?', "(?:je|j'|nous) ?(?:veux|voudrais|aimerais|souhaite|souhaiterais|voulons|voudrions|aimerions|souhaitons)", "j'ai besoin", '(?:il )?(?:faut|faudrait)', '(?:je|on|nous) (?:dois|doit|devons)', '(?:doit|doivent) être', 'aide[- ]moi', '(?:veut|a besoin d)'],
  sure: {
    ability: ["(?:est-ce qu'|est-ce que |)on peut", 'peut-on', 'est-il possible', "est-ce (?:possible|que c'est possible)", "c'est possible", 'y a-t-il (?:un )?moyen', 'comment (?:puis|peut|faire|on|je|dois|fonctionne)', 'que se passe', "qu'est-ce qui se passe", "qu'arrive", 'puis-je', 'es-tu capable', 'savez-vous', 'pourquoi', '(?:dois|devrais)-je', "faut-il", 'et si', 'que signifie'],
    report: [`(?:ai|as|a|avons|avez|ont|avais|avait|avions|aviez|avaient|est|sont|était|étaient|suis)(?:-t-(?:il|elle|on))? ${ADVERB}${PARTICIPLE}`, "(?:m'a|m'ont|nous a|lui a) (?:dit|raconté|informé|annoncé|expliqué)", "(?:vien[st]|venons|viennent|venait) (?:juste )?(?:de|d')", 'selon', "d'après", "il para[iî]t", "j'ai (?:entendu|appris|lu)"],
    denial: ["(?:ne|n')(?! ?oublie).* (?:pas|jamais|plus|rien|point|aucun|aucune)(?! encore)", "(?:ne|n') ?\\p{L}+ (?:pas|jamais|plus)", 'pas (?:besoin|question|la peine|nécessaire|du tout|de)', 'en aucun cas', 'sous aucun prétexte', 'surtout pas', 'jamais', 'interdit[es]*', 'défendu', '(?:refuse|refusé|refusent|décline|décliné)(?: de)?', 'au lieu (?:de|d\')', 'plutôt que', 'sans (?=\\p{L}+(?:er|ir|re)(?!\\p{L}))', 'évite[rz]?', 'personne ne', 'certainement pas', 'bien sûr que non', 'inutile'],
    condition: ["si(?! (?:possible))", "s'(?=ils?\\b)", 'à moins (?:que|de|d\')', 'quand(?! est-ce)', 'lorsque', "lorsqu'", 'dès (?:que|qu\')', 'une fois', "à condition", 'au cas où', "tant (?:que|qu')", "jusqu'à ce", "(?:ne|n')(?: ?\\p{L}+).* (?:que|qu')(?= une fois| si| quand| après)", 'seulement (?:si|quand|après)', 'après (?:que|qu\')', 'avant (?:que|qu\')', 'supposons', 'imaginons', 'sinon', 'en cas'],
    quotation: ["(?:dit|disent|disait|répète|répètent|répétait|écrit|écrivent|crie|affirme|prétend|demande|demandait)(?: que| sans cesse| toujours| de| qu')?(?!-)", 'est (?:écrit|marqué)', 'la (?:phrase|commande|expression)', 'le mot', 'les mots', 'que veut dire'],
    wish: ["(?:j'aurais|tu aurais|il aurait|on aurait|nous aurions|vous auriez|ils auraient)", "si seulement", 'un (?:jour|de ces jours)', "à l'avenir", "l'année prochaine", 'tôt ou tard', '(?:je|nous|il|elle|on) \\p{L}+(?:rai|rons|ra)', '(?:je vais|nous allons|on va|il va|elle va)', "(?:je|j')(?: |)(?:pense|compte|envisage|espère)", 'dommage', 'peut-être que'],
  },
  likely: { report: ['hier', 'avant-hier', 'la semaine (?:dernière|passée)', "(?:le mois|l'an|l'année) (?:dernier|dernière|passée?)", 'il y a', 'déjà', 'tout à l\'heure', 'toujours', 'souvent', 'chaque (?:jour|matin|soir|semaine)', "d'habitude"] },
  told_form: /(?:ée?s?|ait|aient|èrent|â[mt]es)$/u,
  irregular: {
    mets: 'mettre', mettez: 'mettre', prends: 'prendre', prenez: 'prendre', prenons: 'prendre', fais: 'faire', faites: 'faire', vois: 'voir', voyez: 'voir', dis: 'dire', dites: 'dire', lis: 'lire', lisez: 'lire', 'écris': 'écrire', 'écrivez': 'écrire', rends: 'rendre', rendez: 'rendre', vends: 'vendre',
    'éteins': 'éteindre', 'éteignez': 'éteindre', envoie: 'envoyer', paie: 'payer', paye: 'payer', essaie: 'essayer', tiens: 'tenir', viens: 'venir', ouvre: 'ouvrir', ouvrez: 'ouvrir', offre: 'offrir', suis: 'suivre', suivez: 'suivre', 'reçois': 'recevoir', remets: 'remettre', remettez: 'remettre', permets: 'permettre', supprime: 'supprimer',
    'résous': 'résoudre', 'règle': 'régler', 'réglez': 'régler', 'répète': 'répéter', 'complète': 'compléter', 'achète': 'acheter', 'enlève': 'enlever', 'crée': 'créer', appelle: 'appeler', rappelle: 'rappeler', renouvelle: 'renouveler', jette: 'jeter', 'libère': 'libérer', 'gère': 'gérer', 'récupère': 'récupérer', 'accède': 'accéder', 'lève': 'lever',
  },
};
