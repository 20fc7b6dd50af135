/** Words that announce a value, in the languages and spellings of code, forms and prose. */

/** Secrets that people choose. */
export const PASSWORD_LABELS: readonly string[] = [
  '(?i)pass[ _-]?(?:word|wd|phrase|code)s?|p[a4@][s$5]{2}w[o0]rd|passwort|pa[sß]{1,2}wort|kennwort|zugangscode|\\bpass\\b|_pass\\b|\\bpw\\b|\\bpwd|[_-]pwd|passwd|userpwd|dbpass|mypass|sshpass|rootpw|\\bpin\\b|[_-]pin\\b|pin[ _-]?(?:code|number)|geheimzahl|login[ _-]?code|unlock[ _-]?code|access[ _-]?code|(?:wifi|wlan|wpa|psk)[ _-]?(?:key|code|password|pw)',
  '(?i)contrase(?:ñ|n|nh)a|\\bclave\\b|\\bsenha|palavra[ -]?passe|mot[ _-]?de[ _-]?passe|\\bmdp\\b|code secret|parola d.ordine|\\bparola|wachtwoord|has[łl]o\\b|has[łl]em|lösenord|losenord|adgangskode|passord|salasana|\\bheslo|jelsz[óo]|[şs]ifre|lozinka|geslo|κωδικός|пароль|пароля|паролем|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|كلمة المرور|كلمة السر|סיסמה|mật khẩu|kata sandi|รหัสผ่าน|पासवर्ड',
  '(?i)\\bcreds?\\b|\\bcredentials?\\b|zugangsdaten|identifiants|credenciales|credenziali|\\bcvv2?\\b|\\bcvc2?\\b|security code|recovery code|backup code|\\botp\\b|one[ -]time (?:code|password)|verification code',
];

/** Secrets that machines generate. */
export const TOKEN_LABELS: readonly string[] = [
  '(?i)api[ _-]?keys?|apikey|api[ _-]?(?:secret|token|schlüssel|pass)|app[ _-]?(?:key|secret|token)|access[ _-]?(?:key|token)|auth[ _-]?(?:key|token)|secret|tokens?\\b|token[_-]|_token|authtoken|account[ _-]?key|service[ _-]?key|master[ _-]?key|encryption[ _-]?key|signing[ _-]?key|private[ _-]?key|storage[ _-]?key|session[ _-]?key|license[ _-]?key|deploy[ _-]?key|shared[ _-]?key|webhook[ _-]?key|consumer[ _-]?key|client[ _-]?key|hmac[ _-]?key|aes[ _-]?key|crypt[ _-]?key|jwt[ _-]?key|x-[a-z-]{0,24}key\\b|x-[a-z-]{0,24}token\\b|x-auth\\b',
  '(?i)schlüssel|geheimnis|clé (?:api|secrète|d.api|privée)|cle[ _-]?api|clave (?:api|secreta|de api)|llave|chave (?:api|secreta|de api|da api)|chiave (?:api|segreta)|segreto|jeton|sleutel|klucz|nyckel|секрет|ключ|токен|密钥|密鑰|令牌|シークレット|トークン|キー|토큰|비밀|api キー|session[ _-]?cookie|phpsessid|jsessionid|\\bsid=|connect\\.sid',
];

/** Birth. "Day" and "date" occur beside other words, too. */
export const BIRTH_LABELS =
  '(?i)date[ _-]?of[ _-]?birth|birth[ _-]?da(?:te|y)|\\bb-?day\\b|\\bd\\.?[ ]?o\\.?[ ]?b\\b|[_-]dob\\b|patientdob|userdob|\\bborn\\b|birthdate|geburts(?:datum|tag)|\\bgeb\\.|geboren|date de naissance|\\bn[ée]e?(?:\\(e\\))? le\\b|naissance|fecha de nac|fecha[ _]?nac|nacimiento|nacid[oa] el|data di nascita|nat[oa] il\\b|nat[oa] a\\b|data de nasc|nascimento|nascid[oa] em|geboortedatum|data urodzenia|urodzon[ya]|födelsedatum|född|fødselsdato|født|syntymäaika|datum narození|narozen|születési|doğum tarihi|дата рождения|родил|дата народження|出生日期|出生年月|生年月日|生まれ|생년월일|تاريخ الميلاد|ngày sinh|tanggal lahir|data nasterii|data nașterii|ημερομηνία γέννησης|תאריך לידה';

/** Records of patients, customers, members, insured people, pupils, staff and cases. */
export const RECORD_LABELS: readonly string[] = [
  '(?i)\\bmrn|[_-]mrn|medical[ _-]?rec(?:ord)?|(?:patient|chart|health|hospital|member|subscriber|beneficiary|enrollee|policy|insurance|claim|customer|client|cust|employee|staff|personnel|student|pupil|taxpayer|loyalty|membership|participant|resident|inmate|citizen)[ _-]?(?:record[ _-]?)?(?:identification[ _-]?)?(?:id\\b|ids\\b|no\\b|nr\\b|num\\b|number|nbr|#|identifier|ref(?:erence)?\\b|account|code|file)|\\bemp[ _-]?id|record[ _-]?(?:no\\b|number|num\\b|nr\\b|id\\b|#)|\\b(?:patient|chart|file|case|dossier|member)[ ]?(?:#|no\\.|№)|case[ _-]?(?:file )?(?:number|no\\b)|file[ _-]?number|nhs[ _-]?(?:number|no\\b|nr\\b|num\\b|id\\b|#)|\\bnhs\\b|\\bmbi\\b|medicare|medicaid|health[ _-]?(?:card|plan|insurance)|\\bnpi\\b|\\bdea\\b|\\behr\\b|\\bemr\\b',
  '(?i)patienten(?:nummer|akte|id|-nr|-id|nr)|fallnummer|aktenzeichen|kunden(?:nummer|-nr|nr\\b|konto)|mitglieds(?:nummer|-nr)|versicherten(?:nummer|-nr|nr)|versicherungs(?:nummer|-nr|schein)|vertragsnummer|personalnummer|matrikel|krankenkasse|num[ée]ro de (?:patient|dossier|client|contrat|s[ée]curit[ée]|police|compte|assur)|dossier (?:patient|m[ée]dical|n)|n° (?:de )?(?:patient|dossier|client|police)|historia cl[íi]nica|expediente|n[úu]mero de (?:paciente|cliente|historia|expediente|p[óo]liza|afiliado|socio|contrato|ap[óo]lice|prontu[áa]rio)|prontu[áa]rio|cartella clinica|numero (?:di )?(?:paziente|cliente|cartella|polizza|tessera)|codice (?:paziente|cliente)|pati[ëe]nt(?:nummer|-?id)|klantnummer|dossiernummer|polisnummer|numer (?:pacjenta|klienta|karty|polisy)|journalnummer|kundnummer|病歴番号|患者番号|患者id|病历号|患者编号|客户编号|顧客番号|номер (?:пациента|карты|полиса|клиента)|карта пациента|환자번호|고객번호',
];

export const DOCUMENT_LABELS =
  "(?i)passport|reisepass|passeport|pasaporte|passaporto|passaporte|paspoort|paszport|паспорт|护照|護照|パスポート|여권|driv(?:er|ing)'?s?[ _-]?licen[cs]e|driver'?s? (?:lic|permit)|driverslicense|driverlicense|\\bdl[ _-]?(?:no\\b|num|number|#)|\\bdln?\\b|licen[cs]e[ _-]?(?:no\\b|number|num\\b|#)|führerschein|permis de conduire|licencia de conducir|carnet de conducir|carteira de (?:motorista|conduç)|\\bcnh\\b|patente di guida|rijbewijs|prawo jazdy|ausweis|carta d.identit|carte d.identit|运转免许|運転免許|驾驶证|visa (?:no\\b|number)|green card|alien (?:registration|number)|residence permit|aufenthaltstitel|\\bmrz\\b";

export const NATIONAL_ID_LABELS =
  '(?i)national[ _-]?(?:id|insurance|identi|number)|identity (?:card|number|document)|\\bid[ _-]?(?:card|number|no\\b)|personal (?:id|number|code|identification)|citizen|tax[ _-]?(?:id|payer|number|file)|\\btin\\b|\\btfn\\b|\\bitin\\b|steuer(?:-?id|nummer|liche)|identifikationsnummer|idnr|sozialversicherung|s[ée]curit[ée] sociale|\\bnir\\b|\\binsee\\b|\\bdni\\b|\\bnif\\b|\\bnie\\b|\\bcurp\\b|\\brfc\\b|\\brut\\b|\\brun\\b|\\bcuil\\b|\\bcuit\\b|codice fiscale|codicefiscale|\\bcf\\b|\\bbsn\\b|burgerservice|sofinummer|\\bpesel\\b|\\bcpf\\b|\\bcnpj\\b|aadha+r|uidai|\\bpan\\b|\\bsin\\b|social insurance|personnummer|f[øo]dselsnummer|\\bcpr\\b|henkil[öo]tunnus|\\bhetu\\b|rodn[ée] [čc][íi]slo|\\bcnp\\b|\\begn\\b|\\boib\\b|\\bjmbg\\b|t\\.?c\\.? kimlik|tckn|\\bahv\\b|\\bavs\\b|rijksregister|registre national|\\binn\\b|снилс|инн|身份证|身分証|マイナンバー|個人番号|주민등록|nric|\\bfin\\b|hkid|\\bpps(?:n|\\b)|\\bafm\\b|αφμ|teudat|תעודת זהות|id nasional|\\bnik\\b';

export const SSN_LABELS =
  '(?i)\\bssns?\\b|\\bs\\.s\\.n\\b|[_-]ssn|ssn[_-]|userssn|social[ _-]?security|soc[.]?[ ]?sec|\\bss#|\\bss (?:no|number|num)\\b|taxpayer id|seguro social|sozialversicherungsnummer';

export const NINO_LABELS =
  '(?i)national[ _-]?insurance|\\bnino\\b|\\bni[ _-]?(?:no\\b|number|num\\b|#)|\\bnin\\b|[_-]nino|hmrc';

export const PHONE_LABELS =
  '(?i)\\bphone|phone\\b|telephone|\\btel\\b|\\btel[.:]|\\bmobile\\b|mobil(?:e|nummer|funk|telefon)|cell(?:phone|ular)?\\b|\\bfax\\b|telefon|tel[ée]fono|t[ée]l[ée]phone|handy(?:nummer)?|rufnummer|portable|celular|m[óo]vil|cellulare|whatsapp|call (?:me|him|her|us|back)|reach (?:me|him|her)|contact number|sms|电话|手机|電話|携帯|전화|휴대폰|телефон|numer telefonu|\\bgsm\\b|puhelin';

export const BANK_LABELS =
  '(?i)routing|\\baba\\b|\\brtn\\b|sort[ _-]?code|bankleitzahl|\\bblz\\b|kontonummer|konto-?nr|kontonr|\\bkonto\\b|bank[ _-]?(?:account|acct|konto)|account[ _-]?(?:no\\b|number|num\\b|nr\\b|#)|acct[ _-]?(?:no\\b|number|num\\b|#|\\b)|checking|savings account|n[úu]mero de (?:cuenta|conta)|cuenta bancaria|num[ée]ro de compte|compte bancaire|conto corrente|numero (?:di )?conto|rekeningnummer|numer (?:konta|rachunku)|\\bbsb\\b|\\bifsc\\b|\\bclabe\\b|transit number|swift|\\bbic\\b|账号|帐号|口座番号|계좌|conta bancária|номер счета|расчетный счет|kontonummer|bankgiro';

export const CARD_LABELS =
  /card|karte|carte|tarjeta|cart[aã]o|carta|kaart|karta|kort|visa|master|amex|credit|kredit|debit|payment|pan\b|cc|карт|卡|カード|카드|discover|diners|jcb|maestro|unionpay|pay|charge|bill|zahl|pago|paiement|checkout|cvv|expir|exp\b/i;
