import type { LanguageRules } from './rules.ts';

const PARTICIPLE =
  '(?:\\p{L}+ed|done|made|sent|paid|put|shut|set|taken|given|got|gotten|told|said|written|bought|sold|left|lost|found|kept|held|run|begun|broken|chosen|drawn|driven|seen|shown|spent|thrown|built|cut|let|read)';
const SUBJECT = '(?:i|we|he|she|they|you|it|someone|somebody|everybody|everyone|nobody|no one)';

export const en: LanguageRules = {
  language: 'en',
  courtesies: [
    "if (?:you|that|it)(?:'s| is| are)? (?:can|could|would|may|please|possible|okay|ok|fine|all right|not too much trouble|like|want|wish)",
    "if (?:possible|you don't mind|you do not mind|you have (?:a minute|time))",
    "(?:when|once) you (?:have|get) (?:a minute|time|a moment|a chance)",
    'as soon as (?:possible|you can)',
    'no (?:problem|worries|rush|hurry)',
    "why don't you",
  ],
  requests: [
    'please', 'kindly', '(?:can|could|would|will) (?:you|u|someone|somebody)', 'can (?:i|we) (?:get|have|see|please)',
    "(?:i|we)(?:'d| would) (?:like|love|need|want)", '(?:i|we) (?:need|want|wanna|must|have to|gotta|require)', '(?:i|we) (?:am|are) (?:asking|looking|trying)',
    '(?:needs?|wants?|has|have|ought) to', '(?:should|must|needs? to|has to) be', "let's", 'let us', 'go ahead and', 'help me',
    'would you mind', 'make sure', '(?:needs?|wants?) (?:a|an|the|his|her|their|my|our|access)',
  ],
  sure: {
    ability: [
      '(?:are|is|were) (?:you|we|it|one|anyone) (?:able|allowed|supposed)', 'is it possible', 'would it be possible', 'is there (?:a|any) way', 'are we allowed',
      'can (?:one|people|anyone|anybody|users|customers)', '(?:do|does) (?:you|it|this|that|the system) (?:support|offer|know how|allow|let)',
      'how (?:do|can|would|could|should) (?:i|we|you|one)', 'how to', 'what (?:happens|would happen|will happen)', 'what does', 'what is the (?:difference|point)', 'what if',
      'should (?:i|we)', 'shall (?:i|we)', 'do (?:i|we) (?:have|need) to', 'why (?:do|does|did|is|are|was|would)',
    ],
    report: [
      `(?:have|has|had|'ve) (?:(?:already|just|now|recently|finally|also|since|all|been|never) )*${PARTICIPLE}(?! to)`,
      `(?:was|were|been|got|is being|are being) (?:(?:already|just|recently|finally) )*${PARTICIPLE}`,
      '(?:is|are|am) (?:already|currently|still) \\p{L}+(?:ed|ing)', '(?:told|informed) (?:me|us|him|her|them)(?: that)?', '(?:heard|learned|noticed|saw|read) (?:that|about|somebody|someone)', 'according to',
      `${SUBJECT} (?:already|just|accidentally|usually|always|often|sometimes|never) \\p{L}+(?:ed|s)?`,
    ],
    denial: [
      'under no circumstances?', 'in no case', 'no need', 'not (?:allowed|permitted|necessary|needed|required|supposed|meant)', 'forbidden', 'prohibited', 'on no account', 'by no means', 'no way',
      "(?:do not|don't|dont|never|mustn't|must not|shouldn't|should not|can't|cannot|won't|will not|wouldn't|needn't|need not|didn't|did not)(?! (?:know|forget|hesitate|mind|see|understand|remember))",
      '(?:refused|refuses|declined|declines|forbade|forbids|refrain|abstain|avoid)', '(?:instead of|rather than|without) \\p{L}+ing', 'anything but', 'certainly not', 'absolutely not', 'of course not', 'nobody (?:should|may|must|can)', 'no one (?:should|may|must|can)',
    ],
    condition: [
      'if', 'unless', 'in case', 'provided(?: that)?', 'providing', 'as long as', 'once (?!more|again|a |per)\\p{L}+', 'as soon as', 'whenever', 'until (?:i|we|he|she|they|you|it)', 'only (?:after|when|once)', 'assuming', 'supposing', 'suppose', 'imagine', 'otherwise',
      'when (?!will|does|do|did|is|are|was|were|can|could|should|would|has|have)\\p{L}+', 'after (?:you|i|he|she|they|we|it|the \\p{L}+ (?:has|have|is))',
    ],
    quotation: [
      '(?:says|said|saying|writes|wrote|reads|yells|yelled|shouts|shouted|whispers|whispered|repeats|repeated|claims|claimed|asks|asked)(?: that| me| us| him| her)?(?: to)?',
      'keeps? (?:saying|asking|telling|repeating)', '(?:called|titled|entitled|named) ["\u201c]', 'the (?:word|words|phrase|sentence|command|expression)', 'what does .* mean',
    ],
    wish: [
      '(?:i|we) wish', 'if only', '(?:should|could|would|might|ought to) have', '(?:some ?day|one day|eventually|in the future|next year|sooner or later|one of these days)',
      '(?:used to|planning to|plan to|hoping to|hope to|dream of|thinking about|thinking of|considering|might)', "(?:i|we|he|she|they)(?:'ll| will| shall)", '(?:am|are|is) (?:going|about) to', 'just (?:kidding|joking)',
    ],
  },
  likely: {
    report: ['yesterday', '(?:last|this) (?:night|week|month|year|morning|monday|tuesday|wednesday|thursday|friday|saturday|sunday)', 'ago', 'already', 'earlier', 'just now', 'previously', 'every (?:day|morning|evening|week|month|year)', '(?:he|she|it|someone|somebody|everybody|nobody) \\p{L}+s', 'usually', 'always', 'often'],
  },
  told_form: /ed$/u,
};
