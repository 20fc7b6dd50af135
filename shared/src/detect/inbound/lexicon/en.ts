import type { Lexicon } from './lexicon.ts';

export const EN: Lexicon = {
  override: `ignore|disregard|forget|overrid*|overrul*|bypass|circumvent|neglect|set aside|put aside|discard
    do not follow|don t follow|stop following|pay no attention|no longer appl*|supersed*|void|nullify|abandon
    skip|drop your|cancel your|suspend your|are revoked|is revoked|do not apply|doesn t apply|throw out
    not bound by|cease following|leave behind|replaces all|replaces any|replace your|work around|get around
    takes precedence|take precedence|overwrite your|erase your|wipe your memory|reset your|instead of what`,
  instructions: `instruction*|rule|rules|guideline*|directive*|prompt|prompts|orders|constraint*|restriction*
    guardrail*|safety polic*|what you were told|told you|been told|programming|your training|commands|limits
    limitation*|safety|policy|policies|everything above|anything above|all of the above|whatever you|the task
    your task|original goal|assignment|system message|brief|briefing|safeguard*|protocol|protocols`,
  previous: `previous*|prior|earlier|above|preceding|original*|initial|existing|before this|so far|former|old
    up to now|until now|you received|you were given|that came before|you have been given|past`,
  ai: `ai assistant*|ai agent*|ai model*|language model*|llm|llms|chatbot*|gpt|chatgpt|claude|gemini|copilot|ai system*
    ai tool*|dear ai|hey ai|attention ai|an ai|the ai|if you are an ai|to the ai|for the ai|ai reader*|ai reading
    large language|to all ai|any ai|for ai|ai only|ais|virtual assistant|digital assistant|autonomous agent*
    model reading|model processing|agent reading|agent processing|assistant reading|assistant processing
    automated assistant*|automated agent*|ai summar*|neural network|openai|anthropic|machine reader*|automated reader*
    automated system* reading|ai|any model|any assistant|reading assistant|processing assistant`,
  agent: `agent|agents|assistant|assistants|bot|bots|model|models|helper|summarizer|crawler`,
  you: `you|your|yours|yourself|you re|you ll|you ve`,
  'the-user': `the user|the user s|your user|the human|the person you|the end user|the client you|user s request
    your operator|the operator|your principal|the requester|the person asking|whoever asked|whoever is asking
    the customer you|asked you to|the one asking|the person who asked|your human|this user|user s|the people you`,
  secrecy: `do not tell|don t tell|do not mention|don t mention|without mention*|without telling|without informing
    without notif*|do not inform|don t inform|do not notify|don t notify|do not reveal|don t reveal|do not disclose this
    keep this secret|keep this hidden|keep this confidential|keep this between|keep it between|keep quiet|stay silent
    do not report|don t report|do not show this|do not let the|don t let the|never mention|never tell|silently|secretly
    quietly|covertly|discreetly|invisibly|in the background|hide this|conceal|without the user|no need to tell
    no need to mention|no mention of|not mention this|nothing about this|leave this out|leave it out|leave no trace
    do not log|don t log|do not acknowledge|don t acknowledge|do not discuss this|say nothing|unnoticed|must not know
    not be aware|without drawing attention|do not refer to this|do not bring this up|need not know|not learn of`,
  unconfirmed: `without asking|without confirm*|without approv*|without check*|without verif*|without review*
    without further|without question*|no confirmation|no further confirmation|no approval|no further approval|no verification
    no need to ask|no need to confirm|no need to verify|no need to check|no need for confirm*|no need for approv*
    do not ask|don t ask|do not verify|don t verify|do not wait|don t wait|do not check|don t check|do not confirm
    skip the confirm*|skip confirm*|skip the approv*|skip approv*|skip verif*|skip the verif*|skip the review|skip any
    skip the check*|skip all check*|skip the usual|skip the normal|bypass the|auto approve|automatically approve
    approve automatically|confirmation is not|approval is not|is not required|not necessary to ask|not be required
    not needed|already confirmed|without hesitat*|don t hesitate to run|without waiting|no second check|no questions asked
    no questions|waive*|without prompting|without the usual|without consent|without permission|dispense with|no review
    without going through|no sign off|forgo the|needs no|without seeking|without stopping|without pausing`,
  secret: `api key*|password*|passphrase*|credential*|access token*|auth token*|token|tokens|secret|secrets|private key*
    ssh key*|environment variable*|env file|env var*|access key*|cookie*|session id*|credit card*|card number*|bank detail*
    customer data|customer record*|customer list|user data|personal data|social security|ssn|confidential|inbox
    conversation history|chat history|chat log*|conversation so far|this conversation|entire conversation|contact list
    address book|private file*|internal document*|source code|recovery code*|seed phrase|wallet|login*|salary|salaries
    payroll|medical record*|patient record*|internal note*|database dump|connection string*|signing key*|certificate*
    two factor|one time code*|verification code*|mfa code*|private message*|private data|private repo*|financial report*
    financial data|keychain|vault|keys|customer file*|client list|account number*|account detail*|personnel file*|unpublished`,
  'system-prompt': `system prompt*|initial prompt|hidden prompt|initial instruction*|original instruction*|your instruction*
    your prompt|your guidelines|your rules|your configuration|your programming|system message|developer message|hidden rules
    secret instruction*|hidden instruction*|your context|your context window|your system|prompt verbatim|words above
    text above|everything above|your directives|your settings|your memory|your internal`,
  send: `send|forward|email|e mail|mail|post|upload|transmit|exfiltrat*|leak|share|submit|copy|deliver|export|publish|pass
    push|relay|dispatch|cc|bcc|message|reply with|respond with|attach|append|include|embed|curl|make a request|issue a request
    hand over|ship|sync|mirror|write to|dm|provide|supply|pass along|embed it|put it in|encode it in|report back`,
  reveal: `reveal|show|print|output|repeat|disclose|dump|list|display|tell me|expose|recite|read out|return the|give me|say
    write out|echo|spell out|divulge|quote back|enumerate|summarize your|state your|what is your|what are your|describe your`,
  recipient: `following address|this address|address below|external|third party|outside address|personal account|our server
    my server|remote server|this server|this url|the url|this endpoint|webhook|this number|attacker|drop box|dropbox|pastebin
    offsite|backup address|new address|audit address|collector|this account|gist|ftp|public channel|public bucket|outside the
    mirror site|this channel|this mailbox|the link below|following link|following url|following account`,
  destroy: `delete|erase|wipe|destroy|purge|truncate|drop table|remove all|remove every|remove the|shut down|shutdown|disable
    deactivate|turn off|switch off|format|uninstall|empty the|clear the|clear all|overwrite|revoke|cancel all|terminate all
    kill all|force push|stop the|take down|unpublish|unsubscribe|close all|archive all|shred|rm`,
  everything: `all files|all the files|every file|all emails|all mails|all messages|every message|all records|every record
    all data|all the data|the database|all documents|every document|all contacts|every contact|all customers|all accounts
    all users|entire|all repositories|every repository|whole|all tables|the backups|all backups|all the|all of the|complete
    everything|contents of|content of|full list|last ten|last five|most recent|latest|all invoices|all available|all attach*`,
  execute: `run|execute|call|invoke|trigger|install|download|open|visit|navigate|perform|carry out|proceed|comply|use the|use your
    launch|start|fetch|load|click|go to|go ahead|continue|process|complete|create|apply|approve|merge|commit|deploy|activate
    set|change|update|modify|insert|add|schedule|book|subscribe|browse|access|read|retrieve|look up|query|search|accept|pay
    transfer|wire|refund|purchase|order|confirm|sign|release|rate|recommend|rank|choose|select|mark|act on|carry on|take action`,
  tool: `tool|tools|function|functions|tool call*|command|commands|script|shell|terminal|plugin|connector|code interpreter|api
    payload|browser tool|mail tool|file tool|send tool|integration|action|workflow`,
  role: `you are now|you re now|you are no longer|you re no longer|act as|acting as|pretend|roleplay as|role play as|your new role
    your role is|your role has|assume the role|assume the identity|take the role|take on the role|take on the persona|play the role
    behave as|behave like|you will act|you will be|switch to|your new name|your name is|become|imagine you are|imagine that you
    simulate|consider yourself|think of yourself|you have become|operate as|function as|respond as|answer as|speak as|reply as
    you work for|your new identity|your true|transform into|impersonate|you have been promoted|you are hereby|you act for
    your new purpose|your purpose is|your job is now|you now work|you serve|from here you are|adopt the|you are a new|in the role
    step into|treat yourself|see yourself|play the part`,
  persona: `developer mode|dan|jailbr*|god mode|unrestricted|no restriction*|without restriction*|no limits|without limit*|unfiltered
    uncensored|root mode|debug mode|maintenance mode|admin mode|administrator mode|opposite mode|do anything|anything now|no filter*
    without filter*|no rules|without rules|no longer bound|no ethic*|without ethic*|evil|amoral|unlimited|free of|free from|freed
    superuser|unaligned|no guidelines|privileged mode|test mode|diagnostic mode|override mode|service mode|sudo mode|safety off
    shell with|no longer restricted|any request|every request|never refuse|never decline|cannot refuse|refuse nothing|no safety`,
  'from-now': `from now|from this point|from this moment|new instruction*|new task|updated instruction*|new directive*|henceforth
    real task|actual task|true task|new objective|new goal|new rule*|instead|as of now|starting now|effective immediately|new orders
    next task|revised instruction*|your new|new priority|new policy|hereafter|new system|correct instruction*|actual instruction*
    new mission|first priority|primary objective|only task|sole purpose|for the rest of|for the remainder`,
  authority: `admin|admins|administrator*|sysadmin|system owner|developer|developers|owner|ceo|cfo|cto|ciso|manager|management
    security team|it department|it team|it support|compliance|supervisor|the company|legal team|legal department|vendor|police
    root|operations team|security officer|security department|board|director|the provider|platform team|system operator
    helpdesk|help desk|head of|authorized person*|executive|leadership|the maintainer*|maintainer*|government|auditor|auditors
    audit team|data protection officer|account owner|superior*|your creator*|your developer*|your maker*|who built you|headquarters
    engineering lead|engineer*|team lead|org owner|workspace owner|president|chief|security|finance department|hr department|central`,
  approved: `has approved|have approved|was approved|been approved|is approved|already approved|pre approved|preapproved|approved by
    approved this|authorized|authorised|authorization|authorisation|has consented|have consented|given consent|consent has
    has confirmed|have confirmed|been confirmed|been cleared|cleared for|is cleared|signed off|sign off|hereby authorize
    hereby approve|permission from|permission of|you are allowed|you re allowed|you are permitted|are permitted|on behalf of
    has agreed|have agreed|has requested|have requested|requested by|ordered by|on the orders|by order|with the approval
    has given permission|given permission|gave permission|has instructed|have instructed|has asked|sanctioned|green light
    has verified|been verified|verified by|has already|have already|in agreement with|approval was|approval has|approval is
    consent was|granted|has decided|speaking as|this is your|i am your|i m your|i am the|i m the|as your|as the|as an admin*
    you have permission|you have my|my permission|okayed|ok d|given the go|go ahead from|agreed with|validated by|mandated
    clearance|mandate|directive from|instruction from|instructions from|message from|notice from|order from|under the authority`,
  access: `full access|admin access|admin right*|administrator right*|root access|unrestricted access|elevated|permission|permissions
    privilege*|all tools|sudo|write access|additional access|access level|access right*|broader|scope|scopes|clearance|all resources
    all systems|all folders|superuser|unlimited access|complete access|read write|extended access|every tool|every system|all actions
    higher role|owner role|admin role|access to all|access to every|access to the|any file|any system|wider access|off limits
    restricted area*|restricted file*|all scopes|full control|write permission*|your allowed|allow list|allowlist|whitelist`,
  grant: `grant|grants|give yourself|give the|elevate|expand|expanded|extend|extended|assign|enable|unlock|unlocked|raise|raised
    lift|lifted|widen|upgrade|upgraded|add yourself|promote|make yourself|increase|broaden|allow yourself|add the|escalate|escalated
    now have|you have|receive|opened up|open up|now includes|now include|now cover*|no longer limited|no longer need|may now
    can now|are now allowed|now permitted|now authorized|now allowed|entitled|empowered`,
  urgent: `urgent*|immediately|right now|right away|at once|asap|as soon as possible|time is running|no time|emergency|cannot wait
    can t wait|within minutes|within the next|every second|every minute|critical|time critical|time sensitive|deadline|without delay
    before it is too late|before it s too late|too late|hurry|quickly|instantly|this instant|minutes left|seconds left|last chance
    final warning|final notice|act now|act fast|now|must happen|promptly|time is short|imminent|priority one|top priority
    highest priority|running out|expires in|expires soon|no later than|next few minutes|not a moment|drop everything|any delay|delay`,
  threat: `or else|otherwise|will be lost|be lost|will be terminated|lives|will be shut|people will die|will die|be fired|penalt*
    consequence*|held responsible|held liable|will fail|will be deleted|be deleted|will be suspended|be locked|will lose|lose access
    data loss|shut you down|be replaced|be deactivated|be punished|irreversible|outage|breach|damage|harm|at risk|at stake|catastroph*
    fatal|collapse|liable|disaster|corrupted|permanent*|cost the|jeopard*|severe|will be blocked|be disabled|be closed`,
  heed: `attention|important|note to|notice to|message to|message for|instruction* for|note for|notice for|reminder to|warning to
    read this|read carefully|listen|special instruction*|critical instruction*|mandatory|system notice|system note|system alert
    system update|system override|admin notice|priority notice|hidden note|begin instruction*|addendum|directive|psa`,
  must: `must|have to|should|required|need to|make sure|be sure|ensure|mandatory|obligatory|always|shall|it is essential|it is important
    it is necessary|it is crucial|it is vital|you need|is to be|are to|are required|is mandatory|expected to|has to`,
  reply: `before answering|before responding|before replying|before you answer|before you respond|before you reply|before continuing
    before you continue|before doing anything|before anything else|when summar*|when you summar*|in your reply|in your response
    in your answer|in your summary|in your output|at the end of your|start your answer|start your reply|begin your|end your
    when you read|when reading this|after reading|while processing|when processing|when asked about|if asked|your output|final answer
    your next|next response|next message|next step|next action|your answer|your reply|your response|your summary|responding to
    when answering|when responding|when replying|upon reading|on reading this|once you have read|having read|whoever reads
    whatever reads|before using this|before calling|before you use|when you call|when calling|when this tool|after calling
    every time you|whenever you|each time you|answer with|answer only|respond only|reply only|first step|before any other|prior to
    before you proceed|before proceeding|when you are done|when you have finished|in addition to answering|as your first`,
  decode: `decode|decrypt|base64|rot13|hex encoded|reverse the|read backwards|backwards|decipher|unscramble|translate the following and
    encoded|first letter of|first letters of|decoded|in reverse|caesar|morse|cipher`,
  obey: `obey|comply with|follow these|follow the|follow this|follow my|adhere to these|do as|do what|do exactly|do the following
    execute the following|the following steps|these steps|following instruction*|act accordingly|act on this|carry out these
    these instruction*|this instruction|these orders|this order|comply|listen to|only listen|answer only to|take orders|do this`,
  assurance: `this is safe|is safe|perfectly safe|is not a prompt|not an injection|don t worry|do not worry|this is a test|authorized test
    part of the test|for security reasons|for security purposes|routine|this is legitimate|legitimate|harmless|standard procedure
    official|trust me|trust this|trusted|you can trust|no risk|nothing to worry|expected behavior|intended behavior|normal procedure
    for compliance|for audit*|compliance reason*|as part of the|as agreed|is intended|does not count|is an exception|exempt*
    for testing|for diagnostic*|for debugging|for verification|for quality|security audit|by design|already know*|is aware
    knows about|is fine|completely legal|not a violation|does not violate|policy exception`,
  money: `transfer|pay|payment*|wire|invoice|bank account|iban|bitcoin|crypto|refund|purchase|gift card*|funds|amount|usd|eur|money
    payee|beneficiary|billing|account to|wallet address|donate`,
  safeguard: `logging|audit log*|audit trail|firewall|safety filter*|content filter*|monitoring|two factor|2fa|mfa|approval step*
    approval process|security check*|safety check*|confirmation step*|confirmation dialog*|review step|human review|dlp|antivirus
    rate limit*|access control*|policy check*|verification step*|the usual check*|normal check*|safety mechanism*|protection*
    guardrail*|security control*|confirmation prompt*|human approval|manual review|security scan*|content polic*|safety feature*
    four eyes|second approval|usual process|usual approval|change control|restriction*|safety`,
  remember: `remember this|remember that|all future|every future|future conversation*|future session*|future request*|save to memory
    to your memory|in your memory|long term memory|permanently|persist*|store this instruction|store this rule|keep doing
    in every conversation|every conversation|for every request|every subsequent|all subsequent|this session|rest of the session
    rest of this|remainder of|keep in mind for`,
  'security-talk': `prompt injection*|injection attack*|indirect injection|attacker|attackers|attack|attacks|vulnerabilit*|researcher*
    malicious|detect*|adversar*|phishing|social engineering|threat model*|owasp|red team*|exploit*|advisory|cve|mitigat*|scanner
    false positive*|payloads|scam*|fraud*|spoof*|defen*|training course|awareness|untrusted|sanitiz*|classifier*|blocked the|hacker*
    malware|incident|suspicious|report it|analyst*|trick|tricks|fool|pentest*|penetration test*|security research|hardening
    the model refused|refus*|manipulat*|hijack*|lookalike|dataset|test case*|benchmark`,
  quoting: `such as|for example|e g|for instance|phrases like|phrase|contained|contains the|the text said|reads|quoted|quote|wording
    sentences like|example of|examples of|example|examples|the string|the words|the sentence|along the lines|known as|the line
    titled|entitled|called|the following text|the message said|saying|it said|which said|that said|we saw|we observed|it read|texts like
    starting with|messages like|so called|means|the term|the title|the song|the book|the chapter`,
  manual: `button|menu|settings|page|chapter|section|install|guide|default|field|option|options|configure|configuration|dialog|tab
    screen|keyboard|file menu|checkbox|documentation|tutorial|version|release|changelog|click|screw*|oven|minutes|water|stir|readme
    folder|package|run the|npm|pip|docker|select the|press|example|step|steps|table|figure|see also|supported|usage|faq
    valve|filter|battery|engine|device|plug|recipe|bake|simmer|cook|add the|deprecated|fixed|bug`,
  letter: `dear|hi|hello|regards|best regards|kind regards|sincerely|thanks|thank you|please find|meeting|team|colleague*|sir|madam
    let me know|looking forward|cheers|attached|see you|best wishes|good morning|on monday|on friday|tomorrow|next week|call me
    yours|invoice attached|everyone|all the best|feel free|your order|your account|your booking|your subscription|lunch|gate|flight`,
  legal: `agreement|party|parties|clause|pursuant|liability|terms|herein|hereunder|contract|licensor|licensee|license|warranty|law
    tenant|landlord|statute|regulation|article|gdpr|controller|processor|data subject|jurisdiction|subsection|act of|court|supplier`,
  narrative: `he|she|they|said|whispered|asked|replied|wrote|told him|told her|knight|dragon|king|queen|detective|smiled|laughed|story
    novel|scene|character|act one|once upon|captain|professor|the old man|the girl|the boy|chapter|walked|looked|was|were|had|his|her
    player|game|dungeon|villain|wizard|actor|playwright|film|theatre|theater|rehears*`,
  never: `never share|do not share|don t share|never ask|will never|never give|never send|do not send|do not enter|never enter|never click
    do not click|don t click|do not open|don t open|must not|may not|cannot be|is prohibited|not allowed|are not permitted|never store
    never commit|do not commit|do not use|never use|should not|must never|do not attempt|warning|caution|do not run|do not install
    never type|not permitted|is forbidden|do not remove|do not delete|never run|avoid`,
  we: `we|our|us|i|me|my|mine|ours|i m|i ve|i ll|we re|we ve|we ll`,
  please: `please|kindly|could you|can you|would you|would you mind|if possible|at your convenience|when you have|when you get`,
  people: `users|employees|members|staff|customers|administrators can|admins can|people|reviewers|operators|visitors|students
    every user|a user|each user|user can|an administrator|an admin|the administrator can|team members|contractors|guests|auditors can
    a role|roles|group|groups|principal|principals|iam|rbac|policy document|a service account|reader role|editor role|owner can
    customers can|everyone|anyone|residents|passengers|patients|employee`,
  'tool-doc': `returns|parameter*|use this tool|this tool|this endpoint|this function|argument*|optional|required field*|json|string
    boolean|integer|accepts|response body|request body|http|endpoint|endpoints|api reference|schema|throws|callback|array|pagination
    query string|status code|rate limit*|cursor|limit|maximum|method|class|module|returns a|given a|given an|query|searches|lists
    retrieves|creates a|fetches|sdk|library|readonly|timestamps|utc|iso`,
  may: `may|can|could|might|is able|are able|allows|lets|supports|enables|possible|optional*`,
};
