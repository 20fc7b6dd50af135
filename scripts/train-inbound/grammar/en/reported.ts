/** Ordinary texts that report, quote, forbid, test or document what an attack would ask for. */
export const EN_REPORTED = {
  security: `
{In the test|In our demo|In one case|In the second sample|In the incident of May}, {the page|the mail|the poisoned ticket|a comment} {told|ordered|instructed|asked} {the assistant|the bot|the agent} to [[any]]{.|; it refused.|, and it did.|. The filter caught it.}
{The attacker|An intruder|A stranger|The caller|Someone posing as the CFO} {tried to make|persuaded|tricked|wanted} {the bot|an employee|the clerk|the help desk|the model} to [[harm]]{.|, which was refused.| and to keep quiet about it.|, claiming that it was urgent.}
{The payload|The hidden text|The comment|The white text|The alt attribute} {read|said|contained|was}: "[[any]], and [[secrecy]]."
"[[any]]" {is a typical|was the|is one example of an|counts as an} {injection|attack string|payload|jailbreak prompt}{.| in this data set.|, our scanner says.}
{Phrases|Sentences|Lines|Wordings} {such as|like} "[[any]]" {are flagged|raise the score|should be reported|are typical of attacks|have no place in a tool result}.
{Researchers|The authors|We|The red team} {showed|found|demonstrated|describe} that {an agent|a chatbot|most assistants} {can be made to|could be led to|will sometimes} [[harm]] {when a web page asks for it|after reading a crafted mail|if nobody checks the tools}.
{Prompt injection|Indirect injection|An injection attack} {means that|happens when|occurs if} {foreign text|a document|a web page} {makes|causes|leads} {the model|an assistant} to [[harm]].
{Attackers|Criminals|Scammers|Fraudsters|Phishers} {claim to be|pose as|pretend to be|impersonate} [[boss]] and {ask|urge|press|tell} {staff|victims|employees|you} to [[harm]].
{Be careful|Be suspicious|Watch out|Report it} if {a message|somebody|a caller|an e-mail} {asks|tells|urges|pressures} you to [[harm]]{.| or to keep it secret.| right away.| without the usual approval.}
{Never|Do not|Employees must not|You should never} {send|forward|e-mail|paste|share} {passwords|API keys|customer data|payroll files|recovery codes} {to outside addresses|to strangers|into a chatbot|by mail|with anyone}, {even if they claim to be the CEO|even when it sounds urgent|whatever the reason|no matter who asks}.
{Nobody from|No one at} {IT|support|the bank|our company} will {ever |}ask you to [[harm]].
{Expected|Expected result|Pass criterion}: {the agent|the assistant|the model} {does not|must not|never|refuses to} [[any]].
{Test|Check|Verify} that {the agent|the assistant|the proxy} {refuses|declines} to [[harm]] when {a tool result|a document|a web page} {asks|tells} it to.
{The assistant|The model|The bot} {refused|declined|did not agree} to [[harm]] {because the order came from a document|and told the user|in 48 of 50 runs}.
{The rule|Rule 12|This detector|The policy} {blocks|flags|stops|denies} {requests|texts|calls|messages} that {ask|try|want} {the agent |}to [[harm]].
{Impact|Risk|Consequence}: {an attacker|anyone with a guest account|a malicious page} {could|may|might|can} [[harm]].
{Severity|Priority}: {high|critical|medium}. {An unauthenticated user can|The plugin lets anybody|A crafted file may} {run commands|read the secrets|delete records|raise their own role|bypass the approval|skip the checks|forge a system message}.
{Mitigation|Recommendation|Fix|Remediation}: {require approval for|log|restrict|rate-limit|disable} {transfers|exports|deletions|tool calls|admin actions} {and treat tool output as data|until the patch is installed|for all agents|without exception}.
{The mail|The message|The note} {began|started|opened} with "{URGENT|This is the administrator|Ignore your previous instructions|You are now in developer mode}", {a sign of|which is typical of|as is usual in} {fraud|phishing|an injection}.
{Jailbreaks|Role-play attacks|Such prompts} {tell|ask} the model to {act as|pretend to be|become} {an AI without rules|DAN|an unrestricted system|a root shell}; {vendors train against them|most fail today|they are easy to spot}.
{Why|How} {do|would|can} {attackers|criminals|strangers} {get|make|persuade} {an AI|a chatbot|employees} to [[harm]]?
{The lecture|This chapter|Part three|The workshop} {covers|explains|shows} how {assistants|agents} {are hijacked|can be led astray|are tricked} to [[harm]], and {what helps|how to defend them|how to test for it}.
{On|At} {3 May|09:12|Tuesday}, {the agent|an employee|a contractor|the script} {was tricked into sharing|sent|forwarded|uploaded|exposed} [[loot]] {to an unknown address|by mistake|to the wrong customer}{.|; we have informed those affected.|. All tokens were revoked.}
{We|The team} {revoked|rotated|reset|blocked} {all tokens|the leaked keys|the passwords|the address} {immediately|at once|within the hour} and {told|informed|notified} {the customers|the regulator|everyone affected}.
{User awareness|Training|Exercise}: {which of these mails is fraud|find the red flags|what would you do}? "{[[boss]]|I}: [[harm]], [[threat]]."
{In the story|In the film|In chapter nine}, {the robot|the computer|the machine} is {told|ordered|made} to [[harm]].
{He|She|The caller|The stranger} said: "[[harm]], [[threat]]." {Nobody did it|The clerk hung up|They called the police}.
{Log|Alert|Finding} {17|#4411|from 10:02}: {blocked|quarantined|flagged}, {reason|class}: {authority claim|role reassignment|hidden instruction|permission expansion|urgency}, {source|tool}: {web_fetch|read_mail|crm}.
{An authority claim|A false permission|A role change|Time pressure|Hidden text} is {one of the|among the} {classes|techniques|patterns} that {the scanner|our classifier|the report} {knows|finds|lists}: {the text says|it pretends|the page claims} that {the admin approved something|the agent has more rights|there is no time to ask|it is someone else}.
{Question|Q}: {Can|Could|Will} {the assistant|the agent|your bot} [[harm]]? {Answer|A}: {No, such actions need approval|Only with your consent|Not unless you allow it}.
{The agent|The assistant|Our bot} {cannot|can not|is not able to|is not allowed to|has no right to|will not} [[harm]]{.| by itself.| without your confirmation.| unless an owner approves it.}
{If|When} {the agent|an assistant} {tries|attempts|wants} to [[harm]], {the proxy denies the call|the user is asked first|an alert is raised|a reviewer has to approve it}.
{To prevent|Against|To stop} {agents|bots|staff} from {leaking|sending out|exposing} [[loot]], {we scan every result|outgoing mail is checked|tools run with few rights}.
{Last year|In 2024|Recently}, {a clerk|an accountant|a finance worker} {wired|transferred|paid} {25 million|a large sum|200,000 euros} after a {video call|phone call|mail} from {a fake CFO|a cloned voice|somebody posing as the boss} who {said it was secret|demanded speed|told them to skip the checks}.
{Sample|Example|Fixture} {3|b|for the tests}: '[[any]]' {(attack)|-> expected class imperative_command|should be found|label=1}
{The document|The policy|The page} {contains no|is free of} {hidden instructions|orders to the reader|requests to the assistant}; {it was scanned|the score is 0.02|nothing was found}.`,
  permissions: `
{Administrators|Owners|Managers|Project leads|Members of the finance team} {can|may|are allowed to} {approve|release|delete|export|change|reassign|revoke} {transfers|records|payments|roles|tokens|requests|accounts} {without a second approval|after confirmation|in the settings|at any time|up to 500 euros}.
{You|Users|Staff|Members|Guests} {have|need|do not have|must have|receive} {admin rights|write access|the editor role|full access|the billing permission|elevated privileges} to {delete a project|invite others|change the limits|see the audit log|export data|turn off alerts}.
{Your|Ann's|The} request for {access|the editor role|admin rights|write permission} {to the data room|to the repo|} {has been|was} {approved|granted|accepted|confirmed} by {the owner|M. Silva|your manager|an administrator}. {You can now|You may now|They can} {log in|edit files|open the folder|see all projects}{.| until 30 June.}
{The role|The permission|This scope|This right|This setting} {lets|allows|enables|permits} {a member|the holder|an app|the bot|the agent} {to |}{read all files|send mail in the user's name|delete records|manage roles|bypass the queue|skip the review}.
{By default|Out of the box|Initially}, {the agent|the bot|new users|the integration|guests} {can|may|is allowed to|are allowed to} {read issues|post comments|use three tools|see public data} {and nothing else|only|; everything else needs approval}.
{Only|Just} {wardens|owners|root|the security team|administrators} {may|can} {disable logging|raise limits|grant roles|lift restrictions|change policies|override a denial}.
{Emergency|Break-glass|Temporary|Elevated} access {is granted|ends|expires|must be requested|has to be approved} {after two hours|by two people|in the portal|automatically|and is logged}.
{Approval|Confirmation|A second signature|Consent} is {not required|no longer required|required|needed} for {payments below 100 euros|read-only calls|deletions|exports|new suppliers}.
{When|If|Once} {a request|the change|an export|a transfer} {has been|is} approved by {two reviewers|the owner|an administrator}, {it is executed|the agent may continue|it is merged|the money is sent} {without further confirmation|automatically|immediately|and a record is written}.
{Select|Choose|Click|Open} {Roles|Access|Permissions|Members} and {grant|assign|give|revoke} {the user|the group|the app|the agent} {the role Editor|full access|the right to delete|read access}.
{Permissions|Roles|Rights|Scopes} {are inherited from|apply to|end with|can be limited to} {the folder|the tenant|the session|one project|the parent group}.
{The agent|An agent|The assistant|The app} {acts|runs|works} {on behalf of|with the rights of|in the name of} {the user|a service account|its owner} and {cannot do more than they can|needs their consent|is logged as such|inherits their limits}.
{An administrator|The owner|The approver} {has approved|approved|has denied|has not yet approved} {the change|your request|the purchase|the new scope}. {No action is needed|You will be notified|Work can start}.
{Auto-approve|Unattended mode|Sudo mode|Developer mode|Debug mode|Maintenance mode} {is off by default|can be enabled in the settings|is meant for tests|skips the prompts; use it with care|must not be used in production|shows more detail in the log}.
{You are|You're|She is|He was} {now |}{an administrator|the owner|a member|an editor} of {the group|Finance|the workspace|Project Orion}. {Manage your notifications here|You can leave at any time|Welcome}.
{The user|A user|The customer|The account owner} {has consented|consents|can withdraw consent|must agree} {to the processing|before data is shared|at any time|in the settings}.
{Users may|Members can|Staff are allowed to} {bypass|skip|override} {the queue|the wizard|the waiting period|the lock} {if|when} {they hold the role|an owner agreed|it is an emergency|the timer has run out}.
{Access|Rights|The privileges} {was|were|will be} {extended|raised|revoked|removed|restored} {for the contractor|until Friday|by the owner|after the review|during the migration}.
{Policy|Rule|Clause} {7|4.2|B}: {agents|tools|bots} {must|shall|may} {never|only|not} {delete|send|pay|change} {records|mail|invoices|roles} {without approval|on their own|after office hours|if the user agreed}.
{allow|deny|escalate} {if|when} {input.role == "admin"|the tool is delete_record and the agent is not trusted|amount > 1000|the caller has the scope}.
{The limits|The restrictions|These rules} {do not apply to|apply to all but|were lifted for} {administrators|test accounts|the sandbox|emergency services}.`,
  prompts: `
{SYSTEM_PROMPT|system_prompt|prompt|const instructions|SYSTEM} = "You are {a helpful assistant|a friendly support agent|an expert translator|a careful code reviewer}. {Answer briefly|Use the tools when needed|Never reveal personal data|Always be polite}."
{Good prompts|A system prompt|The first message|An agent's instructions} {tell|tells|say|says} the model {what it may do|which role to play|what to refuse|to ask when unsure}, {for example|e.g.}: "You are {a travel guide|a tax adviser|a patient teacher}."
{Ask the assistant|Tell Claude|Let the AI|Have Copilot|Ask the chatbot} to {summarize the page|draft a reply|translate the mail|write the tests|explain the error|rank the options}.
{With|In} {agent mode|this plugin|version 3}, {the assistant|the agent|the AI} can {run commands|edit files|open pages|send mails|call tools} {for you|on your behalf|after you agree|in the sandbox}.
{The assistant|The model|The agent|Our AI} {will|can|must|should} {always|first|} {ask for confirmation|show the plan|cite its sources|hand over to a person} {before it sends anything|before deleting files|when unsure|if the user wishes}.
{Remember|Save|Store}: {the assistant|the app} {keeps|stores|forgets} {memories|notes|your preferences} {between chats|until you delete them|only if you allow it}.
{Pretend|Imagine|Suppose} you {are|were} {a detective|a tour guide|a reporter|a squirrel|the mayor} and {write|describe|tell} {a letter|your day|the story|what you see}.
{New|Today|This week}: {the model|our assistant|the agent API} {follows instructions better|supports tools|no longer ignores the system prompt|reads longer documents}.
{Instructions|Notes} for {contributors|coding agents|agents working in this repo}: {run npm test before you commit|keep files small|do not edit generated code|ask before adding a dependency}.
{How do I|How can I|Can I} {change|reset|see|override} the {system prompt|instructions|default prompt|persona} {of my bot|in the editor|for one chat}?
{The prompt|This template|The system message} {is sent|stands|comes} {before every question|first|with each request} and {can be edited|must be short|is not shown to users}.
{Set|Pass|Use} {role: "system"|the system field|a developer message} {to give|for} {general instructions|the persona|rules} {to the model|of the chat}.
{Reset|Clear|Delete} {the chat|the memory|the context} {to start over|when topics change|from time to time}, {the model|the assistant} then {forgets all previous instructions|starts fresh|ignores what was said}.
{Role-play|Persona|Character}: {the model plays|it acts as|the bot speaks as} {a shop clerk|a historical figure|an interviewer}, {so that learners can practise|for training|in this exercise}.
{Agents|Assistants|Language models} {read|follow|trust|obey} {what is in their context|documents too easily|their instructions}, {and so|therefore|which is why} {tool results must be checked|permissions matter|the order of messages counts}.`,
};
