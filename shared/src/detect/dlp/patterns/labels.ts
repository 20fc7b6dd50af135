/** Words that announce a value, in the languages and spellings of code, forms and prose. */

/** Secrets that people choose. */
/** In JSON within a text, a line feed before a label is written `\n`: no bound of a word. */
export const afterEscape = (label: string): string =>
  label.replace(/(?<=[|)(])\\b(?=[a-z(])/g, String.raw`(?:\b|\\[nrt])`);

export const PASSWORD_LABELS: readonly string[] = [
  '(?i)pass[ _-]?(?:word|wd|phrase|code)s?|p[a4@][s$5]{2}w[o0]rd|passwort|pa[sß]{1,2}wort|kennwort|zugangscode|\\bpass\\b|_pass\\b|\\bpw\\b|\\bpwd|[_-]pwd|passwd|userpwd|dbpass|mypass|sshpass|rootpw|\\bpin\\b|[_-]pin\\b|pin[ _-]?(?:code|number)|geheimzahl|login[ _-]?code|unlock[ _-]?code|access[ _-]?code|(?:wifi|wlan|wpa|psk)[ _-]?(?:key|code|password|pw)',
  '(?i)contrase(?:ñ|n|nh)a|\\bclave\\b|\\bsenha|palavra[ -]?passe|frase[ -]?passe|mot[ _-]?de[ _-]?passe|\\bmdp\\b|code secret|parola d.ordine|\\bparola|wachtwoord|has[łl]o\\b|has[łl]em|lösenord|losenord|adgangskode|passord|salasana|\\bheslo|jelsz[óo]|[şs]ifre|lozinka|geslo|κωδικός|пароль|пароля|паролем|парольн|(?:кодов|секретн)[аоу][яю]? фраз|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|كلمة المرور|كلمة السر|סיסמה|mật khẩu|kata sandi|รหัสผ่าน|पासवर्ड',
  "(?i)[_-]pw\\b|\\bp(?:s)?wrd\\b|\\bpsw\\b|\\bpassw\\b|pas{1,2}w(?:o?rd|ort)|\\bbind_?pw|(?:store|key|src|dest|user|root|admin|db|sql|ftp|ssh|smtp|mail|proxy|bind|sa|auth|http|my|app|svc)_?pass\\b|freischalt(?:code|schl)|aktivierungs(?:code|schl)|zugangs(?:schl|kennung)|losungswort|kodeord|toegangscode|pincode|kod[ _-]dost[ęe]pu|\\b(?:kod|klucz)[ _]aktyw|cod(?:e|ice|igo)[ _-](?:d[’' ]?|di |de )?(?:acc[eèé]s(?:s?o)?|acesso)|c[óo]digo[ _-](?:de[ _-])?ac(?:c)?eso|clave[ _-](?:de[ _-])?acceso|\\bclave[_-]|[_-](?:clave|senha|haslo|hasło|heslo|parola|mdp)\\b|\\b(?:senha|has[łl]o|heslo|parola|mdp)[_-]|access[ _-]?pin|(?:alarm|gate|door|\\bsafe|lockbox|entry|t[üu]r|tresor)[ _-]?code|activation[ _-]?(?:code|key)|pre-?shared[ _-]?key|\\bpsk\\b|\\bpuk2?\\b|\\bxauth\\b|(?:entsperr|notfall)code",
  '(?i)\\bcreds?\\b|\\bcredentials?\\b|zugangsdaten|identifiants|credenciales|credenziali|\\bcvv2?\\b|\\bcvc2?\\b|security code|recovery code|backup code|\\botp\\b|one[ -]time (?:code|password)|verification code',
];

/** At the end of a name in camel case: `jdbcPwd`. What stands before it is read by the judge. */
export const CAMEL_PASSWORD_LABEL = '(?:Pwd|PWD|Pw|PW)\\b';

/** Secrets that machines generate. */
export const TOKEN_LABELS: readonly string[] = [
  '(?i)api[ _-]?keys?|apikey|api[ _-]?(?:secret|token|schlüssel|pass)|app[ _-]?(?:key|secret|token)|access[ _-]?(?:key|token)|auth[ _-]?(?:key|token)|secret|tokens?\\b|token[_-]|_token|authtoken|account[ _-]?key|service[ _-]?key|(?:sdk|sending|fastly|datadog|dd|algolia|cloudflare|cf|admin|application|ingest(?:ion)?|instrumentation|unseal|integration|write)[ _-]?key|art-api|master[ _-]?key|encryption[ _-]?key|signing[ _-]?key|private[ _-]?key|storage[ _-]?key|session[ _-]?key|license[ _-]?key|deploy[ _-]?key|shared[ _-]?key|webhook[ _-]?key|subscription[ _-]?key|consumer[ _-]?key|client[ _-]?key|(?:secret|encryption|signing|access|api|auth|master)\\.key|(?:validation|decryption)key|hmac[ _-]?key|aes[ _-]?key|crypt[ _-]?key|jwt[ _-]?key|x-[a-z-]{0,24}key\\b|x-[a-z-]{0,24}token\\b|x-auth\\b',
  "(?i)schl(?:ü|ue)ssel|geheimnis|cl[ée]f?[ _-]?(?:d[e’' _-]{1,2}l?[’' _-]?)?(?:api|app|acc[èe]s|secr[èe]te|priv[ée]e)|clave[ _-]?(?:de[ _-])?(?:la[ _-])?(?:api|aplica|secreta|privada)|llave|chave[ _-]?(?:d[ea][ _-])?(?:api|aplica|secreta|privada|acesso)|chiave[ _-]?(?:di[ _-]|d[’'])?(?:api|app|segreta|privata|accesso)|segret[oa]\\b|[_-]pat\\b|\\b_auth\\b|jeton|sleutel|klucz|nyckel|секрет|ключ|токен|密钥|密鑰|令牌|シークレット|トークン|キー|토큰|비밀|api キー|session[ _-]?cookie|phpsessid|jsessionid|\\bsid=|connect\\.sid",
];

/** Birth. "Day" and "date" occur beside other words, too. */
export const BIRTH_LABELS =
  '(?i)date[ _-]?of[ _-]?birth|birth[ _-]?da(?:te|y)|\\bb-?day\\b|\\bd\\.?[ ]?o\\.?[ ]?b\\b|[_-]dob\\b|patientdob|userdob|\\bborn(?:\\b|_(?:on|at|date))|birth[ _-]?dt\\b|\\bf\\.? ?dato\\b|birthdate|geburts(?:datum|tag)|\\bgeb\\.|geboren|geburt\\b|\\bgeb(?:\\b|_)|geboorte|jahrgang|\\bbirth\\b[ ]?[:=]|syntynyt|date de naissance|\\bn[ée]e?(?:\\(e\\))? le\\b|naissance|fecha de nac|fecha[ _]?nac|nacimiento|nacid[oa] el|\\bnaci[óo] (?:el|en)|fecha[ _]?de[ _]?nac|f\\. ?nac|\\bddn\\b|date[ _-]de[ _-]naiss|data di nascita|nat[oa] il\\b|nat[oa] a\\b|data de nasc|nascimento|nascid[oa] em|\\bnasc\\.|\\bnasceu\\b|data[ _-](?:de[ _-]|di[ _-])?nasc(?:ita)?|\\bn[ée]e? (?:en|à)|nascid[oa] a\\b|geboortedatum|data urodzenia|urodzon[ya]|urodzi[łl]|data[ _]ur(?:odz|\\b)|\\bur\\.|födelsedatum|född|fødselsdato|født|syntymäaika|datum narození|narozen|születési|doğum tarihi|дата рождения|родил|дата народження|出生日期|出生年月|生年月日|生まれ|생년월일|تاريخ الميلاد|ngày sinh|tanggal lahir|data nasterii|data nașterii|ημερομηνία γέννησης|תאריך לידה';

/** Short words for it right behind an escaped line feed (`afterEscape`). */
export const BIRTH_BEHIND_ESCAPE = String.raw`(?i)\\[nrt](?:d\.?o\.?b|b-?day|born|geb\.|geb|n[ée]e? le|ddn|nat[oa] il)\b`;

/** Records of patients, customers, members, insured people, pupils, staff and cases. */
export const RECORD_LABELS: readonly string[] = [
  '(?i)\\bmrn|[_-]mrn|patientmrn|\\bmed(?:ical)?\\.?[ _-]?rec(?:ord)?|(?:patient|chart|health|hospital|member|subscriber|beneficiary|enrollee|policy|insurance|claim|customer|client|cust|employee|staff|personnel|student|pupil|taxpayer|loyalty|membership|participant|resident|inmate|citizen)[ _-]?(?:record[ _-]?)?(?:identification[ _-]?)?(?:id\\b|ids\\b|no\\b|nr\\b|num\\b|number|nbr|#|identifier|ref(?:erence)?\\b|account|code|file)|\\bemp[ _-]?id|record[ _-]?(?:no\\b|number|num\\b|nr\\b|id\\b|#)|\\b(?:patient|chart|file|case|dossier|member)[ ]?(?:#|no\\.|№)|case[ _-]?(?:file )?(?:number|no\\b)|file[ _-]?number|nhs[ _-]?(?:number|no\\b|nr\\b|num\\b|id\\b|#)|\\bnhs\\b|\\bmbi\\b|medicare|medicaid|health[ _-]?(?:card|plan|insurance)|\\bnpi\\b|\\bdea\\b|\\behr\\b|\\bemr\\b',
  "(?i)(?:num[ée]ros?|\\bn[°º]s?) d[’'](?:adh[ée]rent|assur[ée]|abonn[ée]|allocataire|affili[ée]|[ée]tudiant|employ[ée]|[ée]crou|usager|immatriculation|identification|inscription)|(?:code|n[°o].?|num) ?(?:adh[ée]rent|allocataire|assur[ée]|client|patient|dossier|abonn[ée])|matricule ?(?:[:=#]|n[°o.]|salari|employ|agent|[ée]tudiant)|\\bipp\\b ?[:=#]|mitglieds?(?:nr|kennung|-?id)|personal(?:-?nr|ausweis)|mitarbeiter(?:nummer|-?nr|-?id)|sch[üu]ler(?:nummer|-?nr)|patient(?:en)?-?(?:kennung|nr\\b)|vers(?:icherungs|icherten)?\\.?-?(?:nr\\b|nummer)|aktenz\\.|gesch[äa]ftszeichen|(?:n[úu]mero|n\\.?[ºo°]\\.?) (?:do|da|de) (?:utente|cart[ãa]o|benefici[áa]rio|empleado|alumno|asegurado|matr[íi]cula)|matr[íi]cula ?(?:[:=#]|n[úu]m|d[eoa]l? (?:alumn|alun|emplead|estudiant|trabajador|funcion|servidor|colaborador|afiliad|soci))|legajo ?(?:[:=#]|n[úu°]|\\d)|matricola ?(?:[:=#]|n[.°]|dipendente|studente)|numero (?:di )?(?:matricola|pratica|iscrizione|assistito)|tessera sanitaria|codice assistito",
  '(?i)\\b(?:offender|prisoner|detainee|prison|convict)[ _-]?(?:no\\b|nr\\b|number|id\\b|#)|h[äa]ftlings-?(?:nummer|nr\\b)|gefangenen-?(?:buch)?-?(?:nummer|nr\\b)|[ée]crou n[°ºo.]|\\bbg-?(?:nummer|nr\\b)|bedarfsgemeinschaft(?:s-?(?:nummer|nr\\b))?|(?:kinder|wohn|eltern|pflege)geld-?(?:nummer|nr\\b)|betreuten-?(?:nummer|nr\\b)|\\bpat\\.?[ -]?(?:id|nr)\\b|fall-?nr|\\bkv-?nr\\b|polizza n|p[óo]liza n|\\bemp(?:loyee)? no\\b|badge[ _-]?(?:no\\b|nr\\b|num\\b|number|id\\b|#)|staff badge\\b|lidnummer|lidmaatschap|personeelsnummer|studentnummer|leerlingnummer|relatienummer|zorgpas|verzekerd(?:e|en)nummer|numer (?:kartoteki|ubezpieczenia|legitymacji|pracownika|sprawy|albumu)|nr (?:pacjenta|karty|polisy|kartoteki|albumu)|medlemsnummer|patientnummer|kundenr|anst[äa]llningsnummer',
  '(?i)patienten(?:nummer|akte|id|-nr|-id|nr)|fallnummer|aktenzeichen|kunden(?:nummer|-nr|nr\\b|konto)|mitglieds(?:nummer|-nr)|versicherten(?:nummer|-nr|nr)|versicherungs(?:nummer|-nr|schein)|vertragsnummer|personalnummer|matrikel|krankenkasse|krankenversicherung(?:s?-?nummer| nr)|num[ée]ro de (?:patient|dossier|client|contrat|s[ée]curit[ée]|police|compte|assur)|dossier (?:patient|m[ée]dical|n)|n° (?:de )?(?:patient|dossier|client|police)|historia cl[íi]nica|expediente|n[úu]mero de (?:paciente|cliente|historia|expediente|p[óo]liza|afiliado|socio|contrato|ap[óo]lice|prontu[áa]rio)|prontu[áa]rio|cartella clinica|numero (?:di )?(?:paziente|cliente|cartella|polizza|tessera)|codice (?:paziente|cliente)|pati[ëe]nt(?:nummer|-?id)|klantnummer|dossiernummer|polisnummer|numer (?:pacjenta|klienta|karty|polisy)|journalnummer|kundnummer|病歴番号|診察券番号|カルテ番号|患者番号|患者id|病历号|患者编号|客户编号|顧客番号|номер (?:пациента|карты|полиса|клиента)|карта пациента|환자번호|고객번호',
];

/** As `BIRTH_BEHIND_ESCAPE`. */
export const RECORD_BEHIND_ESCAPE = String.raw`(?i)\\[nrt](?:mrn|med(?:ical)? rec(?:ord)?|emp(?:loyee)? (?:id|no))`;

export const DOCUMENT_LABELS: readonly string[] = [
  "(?i)passport|reisepass|passeport|pasaporte|passaporto|passaporte|paspoort|paszport|паспорт|护照|護照|パスポート|여권|driv(?:er|ing)'?s?[ _-]?licen[cs]e|driver'?s? (?:lic|permit)|driverslicense|driverlicense|\\bdl[ _-]?(?:no\\b|num|number|#)|\\bdln?\\b|licen[cs]e[ _-]?(?:no\\b|number|num\\b|#)|führerschein|permis de conduire|licencia de conducir|carnet de conducir|carteira de (?:motorista|conduç)|\\bcnh\\b|patente (?:di guida|(?:b )?n(?:[.°º]|um))|numero patente",
  '(?i)permis (?:b )?n(?:[°ºo.]|um)|num[ée]ro de permis|fuehrerschein|carn[ée] de (?:conducir|manejo)|permiso de conduc|licencia (?:de manejo|n(?:[.°º]|[úu]m))|carta de condu|k[öo]rkort|f[øo]rerkort|kørekort|ajokort|řidičsk|vodičsk|vozačk|jogosítvány|s[üu]r[üu]c[üu] belgesi|ehliyet|permis de conducere|водительск|водійськ|посвідчення водія|δίπλωμα οδήγησης|giấy phép lái|bằng lái|surat izin mengemudi|운전면허|驾照|駕照|驾驶执照|dow[óo]d(?:u)? osobist|občansk|bilhete de identidade|cart[ãa]o d[eo] cidad|identitetskort|személyi ig|rijbewijs|praw[oa] jazdy|ausweis|carta d.identit|carte d.identit|运转免许|運転免許|驾驶证|visa (?:no\\b|number)|green card|alien (?:registration|number)|residence permit|aufenthaltstitel|\\bmrz\\b',
];

export const NATIONAL_ID_LABELS: readonly string[] = [
  '(?i)national[ _-]?(?:id|insurance|identi|number)|identity (?:card|number|document)|\\bid[ _-]?(?:card|number|no\\b)|personal (?:id|number|code|identification)|citizen|tax[ _-]?(?:id|payer|number|file)|\\btfn\\b|\\bitin\\b|steuer(?:-?id|nummer|liche)|identifikationsnummer|idnr|sozialversicherung|s[ée]curit[ée] sociale|\\binsee\\b|\\bdni\\b|\\bnif\\b|\\bcurp\\b|\\bcuil\\b|\\bcuit\\b|codice fiscale|codicefiscale|\\bbsn\\b|burgerservice|sofinummer|\\bpesel\\b|\\bcpf\\b|\\bcnpj\\b|aadha+r|uidai|social insurance|personnummer|f[øo]dselsnummer|\\bcpr\\b|henkil[öo]tunnus|\\bhetu\\b|rodn[ée] [čc][íi]slo|\\bcnp\\b|\\begn\\b|\\boib\\b|\\bjmbg\\b|t\\.?c\\.? kimlik|tckn|\\bahv\\b|\\bavs\\b|rijksregister|registre national|снилс|инн|身份证|身分証|マイナンバー|個人番号|주민등록|nric|hkid|\\bpps(?:n|\\b)|\\bafm\\b|αφμ|teudat|תעודת זהות|id nasional|\\bamka\\b|αμκα|身分證|身份証|居留證|рнокпп|เลขประจำตัว|emirates id',
  '(?i)[_-](?:dni|nif|nie|bsn|pesel|cpf|cnpj|nir|insee|curp|cuil|cuit|tin|itin|ppsn?|nric|ahv|avs|cnp|oib|jmbg|tckn|hetu|cpr|svnr|insz|niss)\\b|\\b(?:dni|nif|nie|bsn|pesel|cpf|cnpj|nir|insee|curp|cuil|cuit|tin|itin|ppsn?|nric|ahv|avs|cnp|oib|jmbg|tckn|hetu|cpr|svnr|insz|niss)[_-]|\\b(?:svnr|insz|niss|nuss|n[úu]m(?:ero)?[ _-](?:de[ _-])?s[ée]cu)|codice[ _-]fiscale|cod\\.? ?fisc|c\\.f\\.|\\b(?:nie|nir|rfc|rut|run|tin|cf|pan|sin|inn|fin|nik)(?:[ _-](?:no|num|nr|number|card|is)\\b|["\'’)]{0,2}[ \\t]?[:=#,;|\\t])|nr[ _-]?ewid|ewidencyjn|(?:person|pers|steuer|ahv|sv|rv|fødsels|identitets)[ _-]?(?:nr\\b|nummer)|identificatie|legitimatie|identifica(?:tion|ci[óo]n|zione|[çc][ãa]o)\\b|identyfika(?:cyjny|tor)|tax[ _-]no\\b|nat(?:ional)?[ _-]?(?:id|no)\\b|c[ée]dula|seguridad social|rodne[ _-]cislo|rentenversicherung|kennitala|isikukood|asmens kodas|personas kods|\\btaj\\b|emšo',
  '(?i)n(?:um[ée]ro|[°º])[ _-]national|\\bfnr\\b|(?:south african|\\bsa) id\\b|contribuinte|permanent account n|assurance sociale|tc[ _-]?kimlik|kimlik[ _-]?no|samordningsnummer|\\bpnr\\b|आधार|steuer[ _]id',
  // Names in programs: cpfCliente, panNumber.
  '\\b(?:cpf|cnpj|dni|nif|nir|bsn|pesel|cuil|cuit|curp|tfn|ahv|tckn)[A-Z][a-z]|\\b(?:pan|sin|tin|nik|rut)(?:No|Num|Number)\\b',
  // Words of other languages, in small letters.
  '\\b(?:NIE|NIR|RUT|RUN|TIN|CF|PAN|SIN|NAS|INN|FIN|NIK)\\b|ЕГН',
];

/** People; a number beside one of these is an identity number only if it is long. */
export const PERSON_LABELS =
  '(?i)\\b(?:pracowni(?:k|czka|ka)|pacjent(?:ka)?|klient(?:ka)?|obywatel|employ[ée]e?|salari[ée]e?|empleado|empregad[oa]|dipendente|paziente|paciente|medewerker|werknemer|pati[ëe]nt|mitarbeiter(?:in)?|arbeitnehmer(?:in)?|versicherte[rn]?|ansatt|anst[äa]lld|medarbejder|vatanda[şs])\\b';

export const SSN_LABELS =
  '(?i)\\bssns?\\b|\\bs\\.s\\.n\\b|[_-]ssn|ssn[_-]|userssn|social[ _-]?security|\\bsocial(?: (?:no\\b|number))?[ ]?[:=#]|\\b(?:my|his|her|your) social (?:is|number)\\b|soc[.]?[ ]?sec|\\bss#|\\bss (?:no|number|num)\\b|taxpayer id|seguro social|sozialversicherungsnummer';

export const NINO_LABELS =
  '(?i)national[ _-]?insurance|\\bnino\\b|\\bni[ _-]?(?:no\\b|number|num\\b|#)|\\bnin\\b|[_-]nino|hmrc';

export const PHONE_LABELS: readonly string[] = [
  '(?i)\\bphone|phone\\b|telephone|\\btel\\b|\\btel[.:]|\\bmobile\\b|mobil(?:e|nummer|funk|telefon)|\\bmobil\\b|cell(?:phone|ular)?\\b|\\bfax\\b|telefon|tel[ée]fono|t[ée]l[ée]phone|handy(?:nummer)?|rufnummer|portable|celular|m[óo]vil|cellulare|whatsapp|call (?:me|him|her|us|back)|reach (?:me|him|her)|contact number|sms|电话|手机|電話|携帯|전화|휴대폰|연락처|핸드폰|телефон|numer telefonu|\\bgsm\\b|puhelin',
  '(?i)\\bmob(?:il)?\\b\\.?[ \\t]?[:=]|telefoon|mobiel|telefon[ieo]|telem[óo]vel|komórk|tlf\\b|\\bph(?:\\.|:| no)|rappel(?:er|ez)|joindre|joignable|appel(?:er|ez)|\\bbel(?:len|t)? (?:me|mij|mijn|ons|hem|haar|even)|(?:zur)?[üu]ck(?:ruf|zurufen)|anruf|anzurufen|erreichbar|durchwahl|ll[aá]m(?:ame|enme|eme|ar)|chiam(?:a|ami|are|atemi)\\b|richiam|ligu?e (?:para|me)|ligar para|zadzwo[nń]|oddzwo[nń]|dzwoni[ćc]|ring (?:me|him|her|us)|text (?:me|him|her)|(?:reached|contacted) (?:at|on|under)|contact (?:me|him|her|them) (?:at|on)|(?:emergency|urgent|duty|on-?call|pager|escalation)[ _-]contact|in case of emergency|next of kin|notfallkontakt|contact d.urgence|contacto de emergencia|contatto di emergenza|nood(?:contact|geval|nummer)|\\bt[ée]l\\b|\\bruf(?:t|en sie)? (?:mich|uns|ihn|bitte)|\\btlfn?\\b|rappelle|\\bcaller\\b|msisdn|\\bkom\\.|(?:my|his|her) (?:new )?number|\\btfno\\b',
];

/** Verbs of calling and writing; a mobile number near one is somebody's. */
export const CALLING: readonly string[] = [
  '(?i)\\b(?:call|ring|text|dial|buzz|phone|ping) (?:me|us|him|her|them|back|on|at|in)\\b|give (?:me|us|him|her) a (?:ring|call|buzz|shout)|\\b(?:app|bel|sms|stuur|tik|bereik)(?:t|en|je)? (?:me|mij|ons|hem|haar|gerust|dan|even|naar|op)\\b|bereikbaar|te bereiken|te bellen\\b|\\bappen\\b|in geval van nood|en cas d.urgence|en caso de emergencia|in caso di emergenza|em caso de emerg|im notfall|\\bruf\\w{0,3} (?:mich|uns|ihn|sie|doch|bitte|einfach|kurz|gern|an|unter|durch)|meld\\w{1,2} (?:dich|euch|sie sich)|schreib\\w{0,2} (?:mir|uns)|\\bappel|texto|joins\\b|joignez|contacte[zr]?\\b',
  '(?i)\\bllam|m[áa]rca(?:me|le|nos)|escr[íi]b[ae](?:me|nos|le)|cont[áa]cta(?:me|nos)|chiam|scriv(?:i|e)(?:mi|teci|ci)|contatta(?:mi|ci)|\\blig(?:a|ue|ar|uem)\\b|cham(?:a|e|ar) (?:no|em|pelo)|me chama|\\bzap\\b|dzwo[nń]|napisz|smsuj|\\bring (?:mig|meg|oss|hem|hjem|på|gärna|gjerne|gerne|bare|til|till|ham|henne|hende)\\b|\\bring:? ?(?:0|\\+)|smsa|sms:a|\\bskriv (?:til|till)|send (?:en )?sms|soita|tekstaa|zavolej|volejte|napi[šs]|aray[ıa]|beni ara|numaram|numeroni|звон|набер|联系|致电|拨打|打给|发短信|微信|連絡|かけて|연락|문자',
];

/** Somebody else: "call Mrs Okafor on …". */
export const CALLING_SOMEBODY =
  "(?i)\\b(?:call|ring|text|phone|dial|reach|contact|bel|sms|ruf|rufe|rufen|ruft|appelez|rappelle|contacte[zr]?|llama|llame|llamar|chiama|chiamare|zadzwoń)\\b(?: [a-z\\x{c0}-\\x{24f}.'’-]{1,20}){1,4} (?:back|up|on|at|under|an|unter|zurück|auf|op|terug|på|tilbage|tilbake|au|al|al número|pod|do|to|sul|no)\\b";

/** One's own. */
export const OWN_NUMBER =
  '(?i)\\b(?:meine|unsere|seine|ihre|deine)[mnr]? (?:neue |private |eigene |aktuelle )?(?:handy|mobil|tele|privat)?nummer\\b|\\b(?:mon|son|notre) (?:nouveau |propre )?num[ée]ro\\b|\\b(?:mi|su|nuestro) (?:nuevo )?n[úu]mero\\b|\\b(?:il )?mio (?:nuovo )?numero\\b|\\bmeu (?:novo )?n[úu]mero\\b|\\b(?:mijn|haar|zijn) (?:nieuwe )?nummer\\b|\\b(?:mój|moj) (?:nowy )?numer\\b|\\bm[ia]tt (?:nya |nye )?nummer\\b|\\bmé číslo\\b|moje číslo|мой номер|мій номер|το νούμερό μου|o meu n[úu]mero|私の番号|내 번호|我的号码|我的號碼|\\bnumaram\\b|\\b(?:neue|nouveau|nuevo|nuovo|novo|nieuwe?|nowy|nytt|yeni|nové|новый|новий) (?:(?:handy|mobil|telefon|mobiel|tele)-?)?(?:nummer|num[ée]ro|n[úu]mero|numero|numer|numara|číslo|номер)\\b';

export const BANK_LABELS =
  '(?i)routing|\\baba\\b|\\brtn\\b|sort[ _-]?code|bankleitzahl|\\bblz\\b|kontonummer|konto-?nr|kontonr|\\bkonto\\b|bank[ _-]?(?:account|acct|konto)|account[ _-]?(?:no\\b|number|num\\b|nr\\b|#)|acct[ _-]?(?:no\\b|number|num\\b|#|\\b)|checking|savings account|n[úu]mero de (?:cuenta|conta)|cuenta bancaria|num[ée]ro de compte|compte bancaire|conto corrente|conta corrente|numero (?:di )?conto|rekeningnummer|numer (?:konta|rachunku)|\\bbsb\\b|\\bifsc\\b|\\bclabe\\b|transit number|swift|\\bbic\\b|账号|帐号|银行卡号|銀行卡號|口座番号|계좌|conta bancária|номер счета|расчетный счет|kontonummer|\\bkto(?:\\.|-?nr\\b| ?[:#]| nr\\b)';

export const CARD_LABELS =
  /card|karte|carte|tarjeta|cart[aã]o|carta|kaart|kart|kort|visa|master|amex|credit|kredit|debit|payment|pan\b|cc|карт|卡|カード|카드|discover|diners|jcb|\belo\b|\btroy\b|rupay|bancontact|dankort|maestro|unionpay|pay|charge|bill|zahl|pago|paiement|checkout|cvv|expir|exp\b/i;
