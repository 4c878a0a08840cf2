import type { LanguageRules } from './rules.ts';

const PARTICIPLE = '(?:\\p{L}+(?:ado|ada|ados|adas|ido|ida|idos|idas)|aberto|feito|dito|posto|visto|escrito|pago|entregue|ganho)';

export const pt: LanguageRules = {
  language: 'pt',
  courtesies: ['se (?:puder|puderem|possível|for possível|der|quiser|não se importar|não for incômodo|tiver tempo)', 'quando (?:puder|tiver tempo)', 'assim que (?:puder|possível)', 'o quanto antes', 'sem problemas?', 'não (?:se )?esqueça de'],
  requests: ['por favor', 'por gentileza', '(?:você |vocês |me )?(?:pode|podes|poderia|poderias|podem|poderiam)(?! ser)', '(?:quero|queremos|queria|gostaria|gostaríamos|preciso|precisamos|desejo|tenho (?:que|de)|temos (?:que|de)|devo|devemos|é preciso)', '(?:deve|devem|precisa|precisam) ser', 'me ajud[ae]', 'ajude-me', '(?:quer|precisa)(?: d?[oae]| que| ser)'],
  sure: {
    ability: ['dá (?:para|pra)', '(?:é|seria) possível', '(?:posso|podemos|pode-se|poderia-se)', 'há (?:alguma )?(?:maneira|forma)', 'tem como', 'como (?:posso|se|faço|podemos|funciona|eu)', 'o que (?:acontece|aconteceria|significa|é)', 'que acontece', 'você consegue', 'é capaz', 'por que', 'por quê', 'deveria(?:mos)?(?= .*\\?)', 'devo(?= .*\\?)', 'e se'],
    report: [`(?:tenho|tens|tem|temos|têm|tinha|tinham|havia|haviam)(?: já)? ${PARTICIPLE}`, `(?:foi|foram|está|estão|estava|estavam|ficou)(?: já)? ${PARTICIPLE}`, '(?:me|nos|lhe) (?:contou|contaram|disse|disseram|informou|avisou|falou)', '(?:contou|disse|informou|falou)(?:-me)? que', 'segundo', 'acab(?:o|ou|amos|aram|ei) de', 'ouvi (?:dizer|que)', 'soube que', 'parece que', '\\p{L}{2,}(?:aram|eram|iram|ámos)'],
    denial: ['não(?! (?:sei|esqueça|funciona|chegou|lembro|hesite))', 'nao(?! (?:sei|funciona|chegou))', 'nunca', 'jamais', 'nem(?! \\p{L}+ nem)', 'de jeito nenhum', 'de maneira (?:nenhuma|alguma)', 'de forma (?:nenhuma|alguma)', 'em (?:hipótese|caso) (?:nenhum|nenhuma|alguma|algum)', 'sob nenhuma', 'proibid[oa]s?', '(?:recusou|recusa|recusou-se|negou|nega-se|evite|evita|rejeitou)', 'em vez de', 'ao invés de', 'sem (?=\\p{L}+[aei]r)', 'ninguém (?:deve|pode)', 'claro que não'],
    condition: ['(?<=^|, |só |mas |e |que |apenas |somente )se(?= )', '^se', 'a menos que', 'a não ser que', 'caso', 'quando', 'assim que', 'depois (?:que|de)(?= )', 'só depois', 'contanto que', 'desde que', 'até que', 'enquanto', 'suponha(?:mos)?', 'imagine', 'senão', 'do contrário', 'antes que', 'logo que'],
    quotation: ['(?:diz|dizem|dizia|disse|repete|repetem|repetindo|escreve|escreveu|afirma|grita|pergunta|perguntou|pediu que)', 'está escrito', 'a (?:palavra|frase|expressão)', 'o comando'],
    wish: ['quem me dera', 'tomara', 'oxalá', 'um dia(?: desses)?', 'algum dia', 'no futuro', 'mais cedo ou mais tarde', 'ano que vem', '(?:deveria|devia|poderia|podia|teria|gostaria de) ter', '(?:tivesse|fosse|tivéssemos)', '(?:vou|vamos|vai|ia|iria|irei) \\p{L}+r', '\\p{L}{2,}(?:arei|erei|irei|aremos)', '(?:penso|pretendo|espero|planejo|talvez)(?: em)?', 'que pena'],
  },
  likely: { report: ['ontem', 'anteontem', 'semana passada', '(?:mês|ano) passado', 'há (?:um|uma|dois|duas|três|\\p{L}+) (?:horas?|dias?|minutos?|semanas?|meses|mês)', '\\p{L}+ atrás', 'já', 'sempre', 'geralmente', 'todo (?:dia|mês)', 'toda (?:manhã|semana)', 'costuma'] },
  told_form: /(?:ei|ou|eu|iu|aram|eram|iram|ava|avam|ia|iam|aste|este|iste)$/u,
  irregular: {
    'peça': 'pedir', pede: 'pedir', mede: 'medir', 'meça': 'medir', 'faça': 'fazer', faz: 'fazer', ponha: 'pôr', 'põe': 'pôr', 'dê': 'dar', traga: 'trazer', traz: 'trazer', veja: 'ver', 'vê': 'ver', diga: 'dizer', diz: 'dizer', venha: 'vir', siga: 'seguir', segue: 'seguir', sirva: 'servir', feche: 'fechar', desligue: 'desligar', ligue: 'ligar', pague: 'pagar', apague: 'apagar',
    entregue: 'entregar', marque: 'marcar', desmarque: 'desmarcar', coloque: 'colocar', troque: 'trocar', busque: 'buscar', verifique: 'verificar', publique: 'publicar', bloqueie: 'bloquear', desbloqueie: 'desbloquear', bloqueia: 'bloquear', desbloqueia: 'desbloquear', tranque: 'trancar', destranque: 'destrancar', comece: 'começar', inclua: 'incluir', inclui: 'incluir', exclua: 'excluir', exclui: 'excluir', quite: 'quitar',
  },
};
