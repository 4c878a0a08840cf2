import type { LanguageRules } from './rules.ts';

const PARTICIPLE = '(?:\\p{L}+(?:ado|ada|ados|adas|ido|ida|idos|idas|ído)|abierto|hecho|dicho|puesto|visto|escrito|roto|vuelto|devuelto|resuelto|cubierto)';

export const es: LanguageRules = {
  language: 'es',
  courtesies: ['si (?:puedes|puede|pueden|es posible|no te importa|no le importa|quieres|quiere|eres tan amable|tienes tiempo|te parece)', 'cuando (?:puedas|pueda|tengas tiempo)', 'lo antes posible', 'no hay (?:problema|prisa)', 'por si acaso'],
  requests: ['por favor', 'porfa', '(?:me |nos )?(?:puedes|puede|podrías|podría|pueden|podrían)', '(?:quiero|queremos|quisiera|quisiéramos|necesito|necesitamos|querría|me gustaría|deseo|tengo que|tenemos que|debo|debemos|hay que)', '(?:debe|deben|tiene que) ser', 'ayúdame', 'hazme', '(?:quiere|necesita) (?:un|una|el|la|su|que)'],
  sure: {
    ability: ['se puede[ns]?', '(?:es|sería) posible', '(?:puedo|podemos|podría yo)', 'hay (?:alguna )?(?:manera|forma)', 'cómo (?:puedo|se|hago|podemos|podría|funciona)', 'qué (?:pasa|pasaría|ocurre|ocurriría|sucede|significa)', 'eres capaz', 'por qué', 'debería(?:mos)?(?= .*\\?)', 'y si'],
    report: [`(?:he|has|ha|hemos|habéis|han|había|habías|habían|hube)(?: ya| recién)? ${PARTICIPLE}`, `(?:fue|fueron|está|están|estaba|estaban|quedó)(?: ya)? ${PARTICIPLE}`, '(?:me|nos|le|les) (?:contó|contaron|dijo|dijeron|informó|avisó|comentó)', 'según', 'acab(?:o|a|amos|an) de', 'oí que', 'supe que', 'dicen que', 'al parecer'],
    denial: ['(?<!¿por qué |por qué )no(?! (?:sé|olvides|sabes|te olvides|dudes|obstante|recuerdo|funciona|llega|ha llegado))', 'nunca', 'jamás', 'tampoco', 'de ninguna manera', 'de ningún modo', 'bajo ningún concepto', 'en ningún caso', 'ni hablar', 'prohibid[oa]s?', '(?:se negó|se niega|rechazó|rechaza|rehusó|evita|evite)', '(?:en vez|en lugar) de', 'sin (?=\\p{L}+[aei]r)', 'nadie (?:debe|puede)', 'claro que no', 'no hace falta'],
    condition: ['si(?! (?:por favor))', 'a menos que', 'a no ser que', 'siempre (?:que|y cuando)', 'cuando', 'en caso de(?: que)?', 'con tal de que', 'mientras', 'apenas', 'una vez que', 'hasta que', 'después de que', 'antes de que', 'suponiendo', 'supongamos', 'imagina', 'de lo contrario', 'en cuanto'],
    quotation: ['(?:dice|dicen|dijo|dijeron|decía|repite|repiten|escribe|escribió|pone|gritó|afirma|pregunta|preguntó|pidió que)', 'la (?:palabra|frase|expresión|orden)', 'qué significa'],
    wish: ['ojalá', 'algún día', 'un día de estos', 'en el futuro', 'tarde o temprano', '(?:hubiera|hubiese|habría|hubiéramos)', '(?:debería|tendría que|podría) haber', '(?:pienso|pensaba|planeo|espero|quizás?|tal vez)(?: en)?', '\\p{L}{2,}(?:aré|eré|iré|aremos|eremos|iremos)', '(?:voy|vamos|iba|va) a', 'antes solía'],
  },
  likely: { report: ['ayer', 'anteayer', 'anoche', 'la semana pasada', 'el (?:mes|año) pasado', 'hace (?:un|una|dos|tres|\\p{L}+) (?:horas?|días?|minutos?|semanas?|mes(?:es)?|rato)', 'ya', 'siempre', 'normalmente', 'cada (?:día|mañana|semana)', 'a menudo'] },
  told_form: /(?:é|ó|aste|iste|aron|ieron|aba|aban|ía|ían|amos|imos)$/u,
  irregular: {
    haz: 'hacer', pon: 'poner', ten: 'tener', sal: 'salir', ven: 'venir', di: 'decir', ve: 'ver', da: 'dar', pide: 'pedir', pida: 'pedir', mide: 'medir', mida: 'medir', sigue: 'seguir', siga: 'seguir', elige: 'elegir', elija: 'elegir', repite: 'repetir',
    corrige: 'corregir', sirve: 'servir', despide: 'despedir', impide: 'impedir', consigue: 'conseguir', cierra: 'cerrar', cierre: 'cerrar', enciende: 'encender', encienda: 'encender', muestra: 'mostrar', muestre: 'mostrar', devuelve: 'devolver', devuelva: 'devolver', mueve: 'mover', mueva: 'mover', cuenta: 'contar',
    encuentra: 'encontrar', prueba: 'probar', aprueba: 'aprobar', renueva: 'renovar', renueve: 'renovar', abre: 'abrir', abra: 'abrir', busque: 'buscar', saque: 'sacar', toque: 'tocar', verifique: 'verificar', publique: 'publicar', notifique: 'notificar', indique: 'indicar', aplique: 'aplicar', cargue: 'cargar', pague: 'pagar', entregue: 'entregar', apague: 'apagar', cancele: 'cancelar',
    empiece: 'empezar', empieza: 'empezar', comienza: 'comenzar', haga: 'hacer', ponga: 'poner', traiga: 'traer', trae: 'traer',
  },
};
