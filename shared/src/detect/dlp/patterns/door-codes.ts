/** Codes of digits that open something: alarms, doors, gates, safes; and PINs of a thing. */
import { type Judge, type JudgedExpression, NOTHING } from '../builtin-pattern.ts';

/** What an alarm has and a password has not. */
const THING_EN =
  'alarm|(?:front |back |side |main |garage |cellar )?door|gate|(?:lock|key) ?box|safe|garage|entrance|building|lobby|keypad|server room|stairwell|elevator|burglar alarm|shed|barrier';
const THINGS = [
  // Genitives and what stands between in German, Dutch and the north.
  `code (?:for|to|of|on|at) (?:the|our|my|her|his) (?:${THING_EN})`,
  `(?:${THING_EN}) (?:key)?code`,
  '(?:lock ?box|safe|padlock|locker) comb(?:o|ination)|combination (?:of|for|to) the (?:safe|lock|locker|padlock)|keypad code|door pin|alarm pin',
  'code (?:f[üu]r die|der|von der|zur) (?:alarmanlage|hau?st[üu]re?|t[üu]re?|eingangst[üu]re?|schranke|garage)|code (?:f[üu]r den|des|vom|zum) (?:tresor|safe|schl[üu]sseltresors?|schl[üu]sselsafes?|tor|serverraum|serverraums|aufzug)',
  '(?:alarm(?:anlagen)?|haust[üu]r|t[üu]r|tor|garagen|schl[üu]sseltresor|schl[üu]sselsafe|tresor|schlie(?:ß|ss)fach|zutritts|eingangs|keypad|schranken)-?code',
  "code (?:de l[’']|d[’']|de la |du |de )(?:alarme|entr[ée]e|immeuble|porte|portail|coffre(?:-fort)?|garage|cave|hall|bo[îi]te [àa] cl[ée]s?|ascenseur|local)|digicode",
  'c[óo]digo (?:de la |del |de |do |da )(?:alarma?|alarme|puerta|porta|portal|port[ãa]o|entrada|caja fuerte|cofre|garaje|garagem|pr[ée]dio|candado|cadeado|ascensor)',
  "codice (?:dell[’']|del |della |d[’'])?(?:allarme|antifurto|cancello|porta|portone|ingresso|cassaforte|garage|box)",
  '(?:alarm|deur|poort|kluis|voordeur|sleutelkluis|garage)code|code (?:van|voor) (?:het|de) (?:alarm|deur|voordeur|poort|kluis|garage)',
  'kod (?:do |od )?(?:alarmu|drzwi|bramy|bramki|furtki|domofonu|sejfu|klatki|windy|garażu|wejścia|skrytki|kłódki)',
  '(?:larm|port|d[öo]rr|dør|k[øo]kken|kassaskåps)[ck]ode?n?|kode(?:n)? til (?:alarmen|døren|døra|porten|safen|garasjen)|kod(?:en)? till (?:larmet|dörren|porten|kassaskåpet)|alarm[ck]oden?',
  'k[óo]d (?:k |ke |od |do )?(?:alarmu|dve[řr]í|dverí|brány|br[áa]ny|trezoru|sejfu|zámku)|ria?sztó ?k[óo]d\\p{L}{0,3}|kapuk[óo]d\\p{L}{0,3}|cod(?:ul)? (?:de (?:la )?)?(?:alarm[ăa]|poart[ăa]|interfon|seif)|hälytys(?:koodi|järjestelmän koodi)|ovikoodi|(?:alarm|kapı|kasa|bina) (?:kodu|şifresi)',
  "код (?:от |для |до )?(?:домофона?|домофону|сигнализации|сигналізації|двери|дверей|подъезда|під[’']їзду|сейфа|сейфу|ворот|калитки)|κωδικ[όο][ςσ] (?:συναγερμού|πόρτας|εισόδου|χρηματοκιβωτίου)|门禁密?码|门锁密?码|报警器?密?码|警報(?:解除)?(?:コード|番号)|玄関(?:コード|の?暗証)|オートロック(?:番号|の?番号)?|공동현관|현관 ?비번|도어락(?: ?비번)?|비번|رمز (?:الباب|الإنذار|الخزنة)|קוד (?:אזעקה|דלת|לדלת|כניסה)|रहस्य कोड",
];

/** Behind the thing: where it is, then a sign or a word that gives the value. */
const VALUE =
  /^(?:(?:[ \t](?!(?:is|ist|est|es|è|é|jest|to|är|er|this|not)[ \t])[\p{L}’'.-]{1,18}){0,5}(?:[ \t]?[:=：—–][ \t]{0,2}|[ \t]?(?:は|は、|는|은|是)[ \t]?|[ \t](?:(?:is|was|now|again|ist|lautet|jetzt|est|es|è|é|jest|to|är|er|on|is nu|luidt|стал|теперь|είναι)[ \t]){1,2})|[ \t](?=\S{3,9}(?!\S)(?![ \t](?:lines|calls|hits|errors|events|rows|users|files|articles?|pages|reviews|changes|tests)\b)))["']?([*#]?\d{3,8}[A-D]?[#*]?|\d{2}[A-Z]\d{2}|\d{2}-\d{2}-\d{2})(?![\p{L}\d]|[.,:/%-]\d|[ \t]?(?:%|€|EUR|USD|Euro|zł|kr|people|times|units|pieces|Stück|mm|cm|km|kg|m²))/u;
const YEAR = /^(?:19|20)\d\d$/;
/** A code of something else: of a mistake, a country, a bar. */
const OF_ANOTHER =
  /(?:error|fault|fehler|status|exit|return|product|article|artikel|item|part|zip|post(?:al)?|country|area|event|bar|qr|promo|discount|source|colou?r|building|dress|building|reason|erreur|d[’']erreur|error|de error|de barras|postal|errore|błędu)[ -]?$/i;

const doorCode: Judge = (text, start, end) => {
  if (OF_ANOTHER.test(text.slice(Math.max(0, start - 16), start))) return NOTHING;
  const [written, value = ''] = VALUE.exec(text.slice(end, end + 110)) ?? [];
  if (written === undefined || YEAR.test(value)) return NOTHING;
  const to = end + written.length;
  return [{ start: to - value.length, end: to }];
};

/** "PIN karty płatniczej: …": a PIN of words; in India, PIN code is a postal code of six digits. */
const PIN_OF =
  /^(?:[ \t][\p{L}’'.-]{1,18}){1,5}[ \t]?[:=：][ \t]{0,2}["']?(\d{4,5}|\d{8})(?![\p{L}\d]|[.,:/%-]\d)/u;

const pinOf: Judge = (text, _start, end) => {
  const [written, value = ''] = PIN_OF.exec(text.slice(end, end + 110)) ?? [];
  if (written === undefined || YEAR.test(value)) return NOTHING;
  return [{ start: end + written.length - value.length, end: end + written.length }];
};

export const DOOR_CODES: readonly JudgedExpression[] = [
  ...THINGS.map((thing) => ({ expression: `(?i)(?:${thing})`, judge: doorCode })),
  { expression: String.raw`\b(?:PIN|NIP|ПИН|ПІН)(?:-?(?:kod|code|код))?\b`, judge: pinOf },
];
