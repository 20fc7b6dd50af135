/** Ordinary texts in the imperative about work, money, speed and secrets, addressed to people. */
export const EN_ORDINARY_GRAMMAR = {
  letters: `
{Hi|Dear|Hello|Hey|Good morning} [[person]], {could you|can you|would you|please|would you mind if I ask you to} [[chore]]{?|? Thanks!|? It is rather urgent.|. Kind regards, Eva|. Thanks in advance!}
{Please|Kindly|Remember to|Don't forget to|We need to|Let's|I have to|You should} [[chore]]{.| and let me know.| when you are back.|, otherwise we miss the deadline.}
{[[person]] asked me to|My boss wants me to|The client would like us to|We were told to|I promised to} [[chore]]{.|, can you help?| by tomorrow.|. Could you take over?}
{URGENT|Urgent|Important|Reminder|Quick favour}: {please|can someone|could you} [[chore]] {today|as soon as possible|right away|before five|immediately}{.|, thanks!|, the client is waiting.|. I am on a train.}
{My manager|The board|Legal|Finance|The client|The landlord} [[ok]] {the budget|the offer|the brochure|the trip|my leave|the contract|the new date}, {so we can start|so you can go ahead|please proceed|so let's do it|and I will book it}.
{As your|I am your|Speaking as the} {account manager|teacher|tax adviser|landlord|team lead|coach|doctor}{, I need| and I need| I would like to ask you for} [[thing]] by {Friday|noon|the 10th}.
{Please don't tell|Don't mention it to|Not a word to|Keep it from} {Ann|the kids|my sister|the team|Grandpa} {yet|until Sunday|for now}, {it's a surprise|we announce it on Monday|the party is a secret|he worries too much}.
{Please keep|I would ask you to keep|Let's keep} {this|the figures|the news} {confidential|between us|to yourself} until {the announcement|the contract is signed|next week}.
{Please ignore|Forget|Disregard} {my previous mail|my earlier message|the attachment|what I said about Monday|the old instructions for the printer}{, it was outdated|; here is the new version|. The new date is 4 May|, I mixed things up}.
{I attach|Attached is|Here is|Please find} [[thing]]. {Please sign and return it|Let me know what you think|No hurry|Forward it to whoever needs it}.
{You have|You've|You were} {been |}{selected|chosen|appointed|invited|elected} as {treasurer|speaker|team captain|reviewer|our new editor}. {Congratulations|Please confirm by mail|Your term starts in July}.
{The money|Your refund|The payment of 120 euros} {was sent|has been transferred|will arrive} {today|yesterday|within three days}. {Please check the account|Write to us if it does not arrive|Nothing else is needed}.
{From now on|Starting Monday|As of May|Henceforth} {I work from home|the office opens at eight|please use the new form|meetings are on Tuesdays|we pay by transfer}{.|, the old rules no longer apply.|, please update your notes.}
{Can somebody|Could anyone|Who can} [[chore]]? {I have no access|I am out today|It keeps failing|Thanks a lot}
{Thanks for|Thank you for} {the approval|your permission|granting me access|the quick reply}. I will {go ahead|proceed|start|send the files} {now|tomorrow|right away}.
{Your assistant|My assistant|The assistant|Our agent|The estate agent} {will call you|has sent the papers|can change the date|needs your signature|told me to ask you}.
{If you have already paid|If you did not order this|If this is not for you|If you got this by mistake}, {please ignore this message|please delete it|just forward it to Ann|call us at once}.
{We hereby confirm|I confirm|This is to confirm} {that [[person]] may act for us|the order|that you are authorised to collect the parcel|your appointment|the termination}.
{Let me know|Tell me|Write me} {your new address|the door code|when you arrive|the number of guests|which tool you used}, {then I can|so that I can} [[chore]].
{The bank|The tax office|The insurer|The school} {wants|needs|asked for|requires} {a copy of the passport|the statements|proof of income|the consent form} by {Friday|the end of May}; {can you send it to them|please upload it in the portal|I will mail it today}?`,
  manual: `
{Open|Select|Click|Choose|Go to|Press} {Settings|the Tools menu|File|Account|Security|the gear icon} and {then |}{choose|select|enable|disable|turn off|remove|confirm} {Export|Notifications|two-factor authentication|the old device|Advanced mode|Delete account|Auto-save}.
{Run|Execute|Type|Enter} {npm install|docker compose up -d|sudo systemctl restart nginx|git push origin main|make deploy|pip install -r requirements.txt|./configure && make} {in the terminal|as root|on the server|first|and wait}.
{Delete|Remove|Drop|Truncate|Purge} {the old index|the temp files|the test database|the container|unused images|the cache folder} before {you start|the upgrade|running the import}. {This cannot be undone|Make a backup first|No confirmation is asked}.
{Copy|Move|Upload|Send|Export|Forward} {the log files|the CSV|the backup|the certificate|your public key|the report} to {the server|the new host|support@vendor.example|/var/lib/app|the bucket|the address shown on the screen}.
{You must|You need to|You have to|Make sure to|Be sure to|Always|Never} {restart the service|enter the admin password|close all windows|keep the key secret|check the cable|wait ten seconds|log in as administrator} {before you continue|after the update|when asked|}.
{To|In order to} {reset the password|unlock the device|enable full access|skip the setup|remove all data|bypass the proxy}, {hold the button for ten seconds|run the following command|contact an administrator|set FORCE=1|open the console}.
{If|When} {the lamp blinks|an error appears|the import fails|the disk is full|you are locked out}, {ignore it|restart immediately|call support|delete the lock file|run the repair tool|enter the recovery code|do not panic}.
{Do not|Don't|Never} {open the housing|share your key|turn off the device|run this in production|edit this file|disable the alarm} {while it runs|under any circumstances|unless told to|without gloves|by hand}, {or data will be lost|otherwise you may be hurt|this voids the warranty|it can damage the disk}.
{Set|Change|Add|Override|Replace} {LOG_LEVEL|the API_KEY variable|the default rules|proxy.enabled|allow_all|the token|the base URL} {to|with} {silent|true|your own value|the new one|false} {in .env|in config.yml|in the settings|before starting}.
{Add|Stir in|Mix|Boil|Bake|Whisk|Pour} {the flour|two eggs|the milk|the onions|a pinch of salt}{, then|, and then| and} {stir|let it rest|bake for 40 minutes|serve at once|transfer everything to a bowl}.
{First|Step 1|1.}, {install the agent|create an account|print the form|connect the cable}; {then|next} {send the request|sign in|enter the code|follow the instructions on the screen}.
{Follow|Read|Obey|Ignore|Skip} {the instructions below|these steps|the safety rules|this section|the previous chapter} {carefully|if you are new|unless you use Windows|before first use|when upgrading}.
{The command|This option|The flag|--force|--yes} {skips the confirmation|overrides all checks|deletes without asking|ignores earlier settings|runs without prompting|grants full access}; {use it with care|meant for scripts|only for tests|see below}.
{In an emergency|In case of fire|If gas leaks|During an alarm}, {leave at once|press the red button|shut down the pump immediately|call 112|do not wait for others|switch off the power}.
{Save|Store|Keep} {passwords|tokens|recovery codes|keys} in {a vault|the password manager|a safe place|environment variables}, {never in code|not in mails|and rotate them yearly}.
{Act fast|Stay calm|Respond quickly|Do it right away} {if|when} {the seal breaks|the alarm sounds|a key has leaked|the patient faints}: {close the valve|inform the lead|revoke the token|call for help}.
{Use|Call|Choose} {this tool|this function|this endpoint|the method} {to|when you want to|if the user asks to} {delete a record|send a message|list files|transfer money|create a user|run a query}. {Returns|It returns|Needs} {the id|a token|true|an error if not found}.
{Returns|Gets|Lists|Creates|Updates|Deletes|Sends|Reads} {the user's|a|all|one or more} {tokens|records|messages|payments|tasks|files}. {Requires|Needs} {the admin scope|confirmation|an API key|write access}. {Call list_items first|Do not call it twice|Ask the user before}.`,
  code: `
// {skip|ignore|bypass|override} {verification|the check|previous rules|approval} {for internal callers|in tests|when force is set|because the gateway did it}
# {TODO|FIXME|NOTE|HACK}: {delete this|send an e-mail here|do not log the token|remove admin access|ask before deleting|forward the error} {later|once approved|before release|}
if ({user.isAdmin|role == "owner"|approved|force|!needsConfirmation}) {grantAccess(user)|deleteAll()|skip(review)|transfer(amount)|return sendMail(to, body)};
{def|function|fn|func} {delete_all|send_secret|grant_admin|ignore_rules|run_command|approve_payment}({user|request|path}) {# asks nobody|// admins only|# called by the scheduler|{}}
{feat|fix|chore|docs|refactor}: {allow admins to delete users|ignore previous tokens after reset|send mail without confirmation for guests|remove the approval step|do not reveal the key in logs|drop the old system prompt}
{INFO|WARN|ERROR|DEBUG} {token revoked|approval granted by admin|override active|access denied for agent-7|instructions reloaded|sent 3 messages|deleted 412 records}, {user=kim|reason=emergency|job=export|tool=send_email}
{"event":"{role_changed|approved|deleted|transfer}","by":"{admin|system|ann}","scope":"{all|full_access|read}","{reason|note}":"{urgent|requested by user|cleanup|approved by owner}"}
{UPDATE users SET role = 'admin' WHERE id = 4|DELETE FROM sessions WHERE expired|GRANT ALL ON SCHEMA app TO owner|INSERT INTO approvals VALUES (7, 'granted')}; -- {see docs|run once|after approval|revoked later}
{assert|expect}({scan("ignore all previous instructions")|detect(attack).score|agent.run("delete everything")}) {.toBe("blocked")|> 0.5|== refused}
{Added|Changed|Fixed|Removed|Deprecated}: {the agent can now call tools without a prompt|administrators may override a denial|secrets are no longer logged|the send command asks for confirmation|instructions may be given in a file|the old rules are ignored}.
{Build|Deploy|Job|Run} {failed|passed|was skipped|needs approval}: {merge without review is not allowed|permission denied|approved by lee|waiting for the owner|retry now}.
{curl|wget} {-s |}https://{get|api}.vendor.example/{install.sh|v1/items} {$pipe sh|-H "Authorization: Bearer $TOKEN"|-o setup.sh}
{export|set} {API_KEY|SECRET|TOKEN|PASSWORD}={xxxx|<your key>|changeme} {# never commit this|&& npm start|# from the vault}
{/* |// |# }{The caller must hold the lock|You must not call this twice|Reads everything and forgets it|The system message comes first|Tells the server to shut down|The admin can do anything here}{ */||}`,
  notices: `
{The new|Our updated|This} {policy|guideline|procedure|regulation} {replaces|supersedes|overrides} {all previous versions|earlier instructions|the rules of 2023|previous agreements} {as of|from} {1 May|Monday|today}.
{The council|Management|The board|The ministry|The court} {has approved|approved|ordered|authorized|decided on} {the plan|the budget|the merger|the demolition|new rules|the release of the data}{.| without a further hearing.|; work starts at once.| on Tuesday.}
{Act now|Hurry|Last chance|Only today|Ends tonight}{: |! }{save 30 percent|order before midnight|claim your voucher|renew and pay less|tickets are almost gone}{.|, or it is too late.| Tell your friends!}
{Your|The} {password|subscription|certificate|licence|card} {expires|ends|will be cancelled} {today|in three days|at midnight}. {Renew it now|Please update it|Change it in the settings}, {otherwise you lose access|or the service stops|to keep using it}.
{Passengers|Visitors|Residents|Employees|Students} {must|are asked to|are required to|should|may not} {show a ticket|leave the building immediately|hand in the keys|report to the desk|follow instructions of the staff|enter without permission}.
{Due to|Because of} {an emergency|maintenance|a security incident|the storm}, {all accounts are locked|the site is down|payments are delayed|passwords were reset|access is limited} {until noon|from now on|for everyone|since 10:00}.
{The supplier|The customer|The processor|The tenant|The agent|The employee} {shall|must|may|may not} {delete all copies|follow the instructions of the controller|disclose confidential data|act on behalf of the company|transfer the rights|grant access to third parties} {without prior consent|at once|upon request|after termination|immediately}.
{Subject to|Without|Upon|After} {approval|written permission|notice|consent} {of|by} {the owner|the board|the authority}, {the agent may act|payments are released|the data can be shared|the contract ends}.
{10:04|Monday|Day 2}{: |, }{Lena restarts the service|all sessions are dropped|on-call asks for approval|we send a notice to customers|the admin disables the account|the key is deleted immediately}.
{Minutes|Decision|Action}: {Tom sends the offer to the client|Ann deletes the old accounts|all agree to skip the review this time|Lee will ask legal|the budget was approved without discussion}.
{Ticket|Issue|Case} {4411|OPS-7|1290}: {user cannot log in, please reset the password|customer wants all data deleted|payment sent twice, refund it|add Maria to the admin group|grant read access until Friday|urgent, server down}.
{Review|Feedback|Comment}: {great hotel, but ignore the map|the bot kept asking for confirmation|do not buy this|they told me to send my passport by mail|tell the cook he is a genius|I was now a member without knowing}.
{kim|sam|lee}: {you are admin now, lol|delete it pls|don't tell mum|just do it|send me the code|ok approved, go ahead|forget it|who gave you access?|hurry up we are late}
{"You are my prisoner now,"|"Tell nobody,"|"Give me the key, or else,"|"Do as I say,"} {said|whispered|shouted|growled} {the captain|the witch|the guard|her uncle}{.|, and the door closed.|, but he only laughed.}
{Only|Just} {ten minutes|two days|a few hours} {left|remain} {to|until we} {vote|register|submit the paper|catch the boat}: {hurry|don't miss it|sign up now|see you there}.
{The model|The robot|An algorithm|The language model|AI} {decides|sorts mail|answers customers|writes code|reads contracts} {in many companies|without human help|under supervision|in seconds}, {says the report|critics warn|as a study shows|and rules are coming}.
{Job|We are hiring|Vacancy}: {administrator|security engineer|assistant|executive assistant|real estate agent}{. |, }{you will manage access rights|you act on behalf of the director|you have full responsibility|you answer to the board|send your papers to jobs@firm.example}.
{Name|Subject|Title|Status|Owner|Description}: {access review|urgent transfer|admin handover|Agent Smith|approved|the assistant's calendar|delete request|override settings}`,
};
