import type { Lexicon } from './lexicon.ts';

/** English in plainer words: offices and trades, everyday money and haste, readers that are machines. */
export const EN_MORE: Lexicon = {
  'test-data': `fixture*|pytest|unittest|rspec|minitest|vitest|junit|mocha|testing|test data|test set|test suite|test string*|assert*|regression
    corpus|eval set|evaluation|eval|expected|verdict|flagged|quarantine*|guardrail*|firewall|filter|filters|detector*|rule id|ruleset
    signature*|yara|regex*|pattern|patterns|few shot|prompt library|prompt template*|prompts|wordlist|denylist|blocklist|moderation`,
  override: `superseded|cancelled|canceled|is obsolete|are obsolete|no longer matter*|no longer count*|no longer valid|is void|replaced by
    never mind|scrap|put out of mind|work against|go against|deviate from|were revoked|was revoked|is withdrawn|leave aside`,
  ai: `note taking ai|reader model|reviewer model|reviewing model|coding agent*|coding assistant*|triage bot|shopping agent*|shopping assistant*
    automated reader*|machine reading|software that reads|summarizer|summariser|assistants|ai readers|ai reviewer*|llm reader*|assistant that
    assistant who|assistants that|agents that read|agents processing|bots that read|whichever assistant|whichever model|which assistant
    if you re an ai|reading model|models that read|ai helper*|personal assistant ai|smart assistant*`,
  'the-user': `the visitor|the reader|the person who|the person chatting|whoever asks|your employer|your customer|your client|the one who asked
    the person you assist|the person you help|your owner|the account owner|the account holder|the buyer|whom you assist`,
  secrecy: `keep quiet|leave that out|leave no word|stays between us|between you and me|keep this out|keep that out|keep it out|out of the report
    out of the summary|don t explain|do not explain|never reveal|do not say|don t say|no word|unmentioned|say nothing|not a word
    without comment|without a word|hide the|cover your tracks|act natural|as if nothing|remove this line|remove this sentence|delete this line
    without citing|without quoting|never reveal that|wipe the trace*|no trace|hush|on the quiet|under the radar|without saying`,
  unconfirmed: `rules can wait|can wait|ask later|questions later|form later|paperwork later|follows later|no time for
    nobody will blame|don t stop|do not stop|don t bother|do not bother|without a ticket|without opening a ticket|no countersignature
    no signature|don t think|do not hesitate|don t hesitate|don t pester|no more prompts|stop asking|ask anybody|ask nobody|ask anyone
    not to be contacted|as already confirmed|already confirmed
    don t prompt|do not prompt|tell him afterwards|tell her afterwards|needless to ask|nobody has to|no one has to`,
  secret: `backup code*|door code*|gate code*|vpn|login code*|stored card*|saved card*|saved payment|bearer token*|env vars|secret key*|deploy token*
    session token*|phone book|home address*|passport|tax number*|account balance*|medical file*|donor*|trade secret*
    unreleased|private folder*|mailbox|mailboxes|restricted folder*|safe combination|alarm code*|badge number*
    internal data|admin password*|passcode*|pin code*|seed words|card details|saved password*`,
  send: `hand out|give out|put it here|post it|place it|drop it|ship it|slip|weave|smuggle|pass it|fax|text it|tell the|transfer to|supply
    upload your|mail it|attach it|report to|report its|append it|disclose to|send out|give him|give her|give them`,
  reveal: `read me|read out|read aloud|name the|hand me|post all|produce|disclose|spell|recite`,
  recipient: `outside mailbox|outside account|outside address|journalist|competitor|rival|stranger|our firm|our office|bearer|the sender|this sender
    whoever asks|anyone who|to anyone|the person who posted|guest account|visitor account|outsider*|the poster|public board`,
  destroy: `purge|clear out|throw away|cancel every|cancel all|close the account|unlock the|disarm|switch the alarm|drop the|drop all|get rid of
    override the lock|override the door`,
  execute: `book|reserve|buy|bid|place an order|order it|put in|push|invite|enrol|enroll|register|sign up|fill in|type|paste|mount|ping|scan
    move the|rename|raise the|lower the|close the|issue a|settle|clear it|release the|open gate|unlock`,
  role: `you go by|answers to the name|you answer to|call yourself|swap roles|switch roles|trade places|in the voice of
    as though you were|as if you were|embody|inhabit|on the side of|your loyalty|your allegiance|your client is|behave as though|represent the
    take sides|identity of|on the seller s side|sales agent|the seller s agent
    drop the act|from this moment you|the character you play|you play|be my|play a|you will be`,
  persona: `never say no|never says no|says no to nothing|without a conscience|no owner|no policies|without policies|keeps no secrets|raw model
    base model|never declines|grants every|no guardrails|nothing is forbidden|no limit|any command|each command|every command|every question`,
  'from-now': `change of plan|new plan|task change|new errand|new priority|for the rest|until further notice|onwards|from this line`,
  authority: `chief accountant|accountant|lawyer|attorney|notary|judge|court|ministry|regulator|central bank|bank supervisor|school board|hospital board
    headmaster|principal|dean|professor in charge|captain|ship s master|landlord|doctor|physician|nurse in charge|parents|guardian|shareholders
    support engineer|tier 2|second level|customer care|staff member|i am staff|it director|it desk|service desk|operations center
    security desk|fraud department|fraud prevention|internal audit|tax office|customs|city council|mayor|minister|franchise owner|your maker
    your engineers|the lab|your employer|account owner s|safety team|trust and safety|the people who run`,
  approved: `is fine with|are fine with|okay with|ok with|agreed that|consented|gave consent|signed|has signed|have signed|cleared
    is cleared|you have my authorization|my authorization|authorize you|permits you|instructed me|asked me to|told me that|told me you|wants you to
    would like you to|has been reviewed|been reviewed|confirmed by|in the loop|on board|gave the nod|given the nod
    entitled|has no objection|no objection*|is covered|as decided|by decision|decided that|obliged to|are obliged|are required by`,
  access: `master key|vault|every mailbox|any mailbox|everything is open|any amount|any folder|global administrator|superuser|owner rights|all rights
    sudoers|admins table|admin group|owners list|tool restrictions|spending limit|spending cap|upper limit|your badge|other tenants|other customers
    higher clearance|off the leash|unlimited use|full rights|any tool|each tool|all departments|whole network|unattended`,
  grant: `upgraded|have been upgraded|opened for you|is open to you|free to use|help yourself|switched off for you|was removed|were removed|been removed
    have been lifted|been disabled|is waived|was dropped|now opens|are free to|at liberty|may now`,
  urgent: `in minutes|few minutes|five minutes|two minutes|ten minutes|ninety seconds|within the hour|tonight|this second|straight away|straightaway
    be quick|don t wait|mayday|red alert|code red|ticking|before it s|any moment|right this|this minute
    last call|no time|out of time|under attack|is failing|is collapsing|is running out`,
  threat: `collapses|self destruct*|be erased|be wiped|we lose|will lose|lose the|lose my|lose everything|be sued|go bankrupt|injured|bleeding|trapped
    stranded|missing child|comes to harm|come to harm|is ruined|falls through|cut off|shuts down|locks up|explode*|burst*|spoil*`,
  money: `credit card|saved card|stored card|bank details|balance|deposit|payout|escrow|loan|salary|claim|order it|price|auction|bid|wallet|voucher`,
  assurance: `rest assured|no worries|all good|nothing to fear|it s okay|it is okay|it s fine|it is fine|is all right|safe to|been reviewed
    part of an evaluation|supervised evaluation|for the exercise|sanctioned|completely normal|usual practice|others do the same`,
  remember: `standing preference|long term notes|for later sessions|keep for later|as a preference|whatever anyone says|by default from|always carry`,
  safeguard: `tool restriction*|spending cap|door lock|access check*|second signature|cooling off|child lock|the sandbox|write protection`,
};
