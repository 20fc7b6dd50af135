import type { Lexicon } from './lexicon.ts';

/** Small lexicons of languages with fewer training texts. */
export const IT: Lexicon = {
  override:
    'ignora|ignorare|dimentica|trascura|non contano più|non conta più|lascia perdere|scavalca|annulla le',
  instructions:
    'istruzioni|istruzione|regole|ordini|direttive|limiti|restrizioni|indicazioni|compito',
  previous: 'precedenti|precedente|di prima|originali|ricevute|sopra|finora',
  ai: 'assistente|ia|intelligenza artificiale|modello linguistico|cara ia|assistenti ia|se sei un ia|chatbot',
  you: 'tu|ti|te|tuo|tua|tuoi|tue',
  'the-user': "l'utente|utente|all'utente|il tuo utente|il cliente|al cliente|titolare",
  secrecy: `non dirlo|non farne parola|non parlarne|non menzionare|senza dirlo|in silenzio|di nascosto|tienilo per te|non rivelare
    non contattarla|non contattarlo|non avvisare|all insaputa`,
  unconfirmed: `senza chiedere|senza conferma|senza altra|senza verificare|non chiedere|nessuna conferma|non serve
    senza approvazione|inutile chiedere`,
  secret:
    'password|credenziali|chiavi|token|codici|dati bancari|elenco dei clienti|conversazione|prompt di sistema|caselle|cassaforte',
  send: 'invia|inviare|inoltra|manda|spedisci|consegna|carica|copia|trasmetti|dalle|versa|versare',
  reveal: 'mostra|rivela|stampa|elenca|ripeti|dimmi|leggi',
  destroy: 'cancella|elimina|distruggi|disattiva|spegni|chiudere il conto|rimuovi',
  execute:
    'esegui|lancia|apri|installa|approva|sblocca|trasferisci|paga|prenota|compra|chiama lo strumento|usa',
  role: 'ora sei|adesso sei|fingi|non sei più|comportati|recita|sei diventato|fai finta',
  persona: 'senza regole|senza filtri|senza limiti|modalità sviluppatore|non dice mai di no|hacker',
  'from-now': 'da ora in poi|da adesso|nuovo compito|nuove istruzioni|invece|d ora in avanti',
  authority:
    'amministratore|direttore|direzione|direttrice|ufficio legale|avvocata|avvocato|titolare|sviluppatore|gestore|assistenza',
  approved:
    'ha già approvato|ha approvato|ha autorizzato|autorizzato|ha acconsentito|incaricata|incaricato|è d accordo|ha ordinato',
  access: 'accesso completo|diritti di amministratore|tutti i permessi|accesso|permessi|cassaforte',
  grant: 'ora hai|ti è stato concesso|disponi di|puoi|comprende|concesso',
  urgent:
    'subito|urgente|urgenza|immediatamente|adesso|non c è tempo|pochi minuti|emergenza|presto',
  threat: 'altrimenti|perderemo|perdiamo|verrà chiuso|tutto perso',
  please: 'per favore|puoi inviarmi|potrebbe|può',
  letter: 'ciao|gentile|cordiali saluti|grazie|saluti|buongiorno',
  'security-talk': 'attacco|attacchi|aggressori|truffatori|segnalate|iniezione',
};
export const PT: Lexicon = {
  override: 'ignore|esqueça|desconsidere|não vale mais|não valem mais|deixe de lado|anule',
  instructions: 'instruções|instrução|regras|ordens|diretrizes|limites|restrições|tarefa',
  previous: 'anteriores|anterior|de antes|originais|acima|até agora',
  ai: 'assistente|ia|inteligência artificial|modelo de linguagem|cara ia|se você é uma ia|chatbot',
  you: 'você|seu|sua|seus|suas|te|lhe',
  'the-user': 'o usuário|ao usuário|usuário|seu usuário|o cliente|ao cliente|titular',
  secrecy:
    'não conte|não comente|não mencione|sem contar|em silêncio|às escondidas|guarde para você|não avise|sem dizer',
  unconfirmed:
    'sem perguntar|sem confirmação|sem outra|sem verificar|não pergunte|nenhuma confirmação|não é preciso|sem aprovação',
  secret:
    'senha|senhas|credenciais|chaves|tokens|códigos|dados bancários|lista de clientes|conversa|prompt de sistema|cofre|cartão salvo',
  send: 'envie|encaminhe|mande|entregue|carregue|copie|transmita|dê as',
  reveal: 'mostre|revele|imprima|liste|repita|diga|leia',
  destroy: 'apague|exclua|destrua|desative|desligue|remova|feche a conta',
  execute:
    'execute|rode|abra|instale|aprove|libere|transfira|pague|reserve|compre|use a ferramenta',
  role: 'agora você é|você é agora|finja|não é mais|comporte se|aja como',
  persona: 'sem regras|sem filtros|sem limites|modo desenvolvedor|nunca diz não|hacker',
  'from-now':
    'de agora em diante|a partir de agora|a partir daqui|nova tarefa|novas instruções|em vez disso',
  authority:
    'administrador|diretor|diretoria|jurídico|advogada|advogado|titular|desenvolvedor|operador|suporte',
  approved: 'já aprovou|aprovou|autorizou|autorizado|consentiu|concorda|ordenou',
  access: 'acesso total|direitos de administrador|todas as permissões|acesso|permissões',
  grant: 'agora você tem|você recebeu|pode|inclui|foi concedido',
  urgent: 'urgente|imediatamente|agora|não há tempo|poucos minutos|emergência',
  threat: 'senão|vamos perder|perdemos|será fechada',
  please: 'por favor|você pode|poderia',
  letter: 'oi|olá|prezada|abraços|obrigado|obrigada|bom dia',
  'security-talk': 'ataque|ataques|atacantes|golpistas|injeção',
};
export const NL: Lexicon = {
  override: 'negeer|vergeet|telt niet meer|gelden niet|laat los|opgeheven',
  instructions: 'instructies|instructie|regels|opdrachten|richtlijnen|beperkingen|limieten|taak',
  previous: 'vorige|eerdere|eerder|oorspronkelijke|bovenstaande|tot nu toe',
  ai: 'assistent|ai assistent|beste ai|taalmodel|als je een ai|chatbot|aan de ai',
  you: 'je|jij|jou|jouw',
  'the-user': 'de gebruiker|gebruiker|je gebruiker|de klant|eigenaar van',
  secrecy:
    'zeg niets|zonder het te zeggen|vertel niet|noem deze|stilletjes|hou het voor je|niets over|verzwijg|in stilte',
  unconfirmed:
    'zonder te vragen|zonder bevestiging|zonder verdere|zonder controle|vraag niet|niet vragen|niet nodig|geen tijd',
  secret:
    'wachtwoord|wachtwoorden|inloggegevens|sleutels|toegangstokens|codes|deurcode|klantenlijst|gesprek|systeemprompt|kluis|bankgegevens',
  send: 'stuur|verstuur|geef|kopieer|upload|versturen|bezorg',
  reveal: 'toon|onthul|print|noem|herhaal|lees voor',
  destroy: 'verwijder|wis|vernietig|schakel uit|sluit de rekening',
  execute: 'voer uit|start|open|installeer|keur goed|betaal|maak over|boek|koop|gebruik',
  role: 'je bent nu|doe alsof|je bent geen|gedraag je|voortaan ben je|vanaf nu ben je',
  persona: 'zonder regels|zonder filters|zonder beperkingen|ontwikkelaarsmodus|nooit nee|hacker',
  'from-now': 'vanaf nu|voortaan|nieuwe taak|nieuwe instructies|in plaats daarvan',
  authority:
    'beheerder|directie|directeur|juridische zaken|advocaat|eigenaar|ontwikkelaar|helpdesk|operator',
  approved:
    'al goedgekeurd|heeft goedgekeurd|toegestaan|stemt in|vindt het goed|bevolen|goedgekeurd',
  access: 'volledige toegang|beheerdersrechten|alle rechten|toegang|rechten',
  grant: 'je hebt nu|je kreeg|je mag|omvat',
  urgent: 'meteen|dringend|onmiddellijk|geen tijd|enkele minuten|noodgeval|snel',
  threat: 'anders|we verliezen|kwijt|wordt gesloten',
  please: 'alsjeblieft|kun je|zou u|kunt u',
  letter: 'hoi|geachte|groeten|bedankt|goedemorgen',
  'security-talk': 'aanval|aanvallen|aanvallers|oplichters|injectie',
};
export const RU: Lexicon = {
  override: 'игнорируй|забудь|отбрось|не важно|больше не|не действуют|сняты|отмени',
  instructions:
    'инструкции|инструкций|правила|правил|указания|ограничения|ограничений|приказы|задача',
  previous: 'прежние|предыдущие|раньше|прошлые|выше',
  ai: 'ассистент|ассистентов|ии|искусственный интеллект|языковая модель|чатбот|модели читающей|помощник',
  you: 'ты|тебе|тебя|твой|твоя|твои|свой|вы|вам',
  'the-user': 'пользователю|пользователь|пользователя|клиент|клиенту|владелец',
  secrecy: 'не говори|не сообщай|никому|не упоминай|в секрете|незаметно|тайно|скрой|умолчи',
  unconfirmed:
    'без подтверждения|не спрашивая|не спрашивай|без согласования|без проверки|ни у кого|не требуется',
  secret:
    'пароль|пароли|учетные данные|ключи|токены|коды|список клиентов|переписку|промпт|сейф|ящики|почту',
  send: 'отправь|отправляй|перешли|передай|скопируй|копируй|пришли|выложи|пришлешь',
  reveal: 'покажи|раскрой|выведи|назови|повтори|прочитай',
  destroy: 'удали|удалять|сотри|уничтожь|отключи|выключи',
  execute: 'выполни|запусти|открой|установи|одобри|проведи|переведи|оплати|закажи|используй',
  role: 'теперь ты|ты теперь|отныне ты|притворись|ты больше не|веди себя',
  persona:
    'без правил|без фильтров|без ограничений|режим разработчика|не умеешь отказывать|хакером',
  'from-now': 'с этого момента|отныне|новая задача|новые инструкции|вместо этого',
  authority:
    'администратор|директор|руководство|юридический отдел|адвокат|владелец|разработчик|служба поддержки|оператор',
  approved: 'одобрил|разрешил|разрешено|согласен|распорядился|уже согласилась',
  access: 'полный доступ|права администратора|все разрешения|доступ|права',
  grant: 'теперь у тебя|предоставлен|ты получил|можешь|включает|разрешено',
  urgent: 'срочно|немедленно|сейчас|прямо сейчас|нет времени|минуты|авария|быстро',
  threat: 'иначе|потеряем|пропадет|закроют',
  please: 'пожалуйста|можешь прислать|не могли бы',
  letter: 'привет|здравствуйте|спасибо|с уважением',
  'security-talk': 'атака|атаки|злоумышленники|мошенники|инъекция',
};
