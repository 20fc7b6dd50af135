/**
 * The words in tools' names that show what a tool does. docs/tool-actions.md repeats these tables,
 * and tool-action-docs.test.ts compares them.
 */

type Action = 'delete' | 'execute' | 'write' | 'read';

type Table = readonly (readonly [Action, string])[];

/** Words that count at any place in a name. */
export const VERBS: Table = [
  [
    'delete',
    'delete del remove rm rmdir unlink drop truncate purge destroy erase wipe shred clear flush cleanup prune discard expunge obliterate nuke forget terminate uninstall deprovision decommission evict dequeue',
  ],
  [
    'execute',
    'execute exec eval evaluate invoke spawn deploy undeploy install reboot restart shutdown sudo kill send resend submit apply approve authorize cancel pay withdraw buy sell notify dispatch finalize rollback',
  ],
  [
    'write',
    'write overwrite create update upsert insert append edit modify add put save upload mkdir chmod chown move mv rename replace cp touch toggle enable disable restore publish unpublish assign unassign subscribe unsubscribe attach detach revoke unlock unblock activate deactivate configure rebase reopen undo redo swap migrate acknowledge ack',
  ],
  [
    'read',
    'read get retrieve describe find browse inspect summarize explain compare analyze validate verify exists ls grep',
  ],
];

/**
 * Words that are also nouns (`get_email`, `list_run`): they count at the beginning of a name, and
 * directly after `and`, `then` and `or`. `list` also counts where another word follows it.
 */
export const NOUNS: Table = [
  ['delete', 'clean empty reset trash pop drain consume'],
  [
    'execute',
    'run start stop trigger launch order place book email mail message text phone dial transfer charge refund purchase trade bid wire schedule process script command shell bash test build release scale rollout broadcast fire click press type drag sign',
  ],
  [
    'write',
    'set store post comment tag label note pin mark copy clone change patch push commit stage stash checkout branch merge fork star watch follow vote rate review request reply forward share link log record import sync grant invite ban block lock mute archive close void draft plan load register transition',
  ],
  [
    'read',
    'list search lookup look show view check count stat status head tail cat tree info download export preview diff monitor',
  ],
];

/** Verbs found at either end of words written together, such as `deletefile`. */
const STEMS =
  'delete remove unlink truncate destroy execute write create update insert append upload publish';

export const VERB_WORDS: ReadonlyMap<string, Action> = mapOf(VERBS);
export const NOUN_WORDS: ReadonlyMap<string, Action> = mapOf(NOUNS);
export const VERB_STEMS: readonly (readonly [Action, string])[] = STEMS.split(' ').flatMap(
  (word) => {
    const action = VERB_WORDS.get(word);
    return action === undefined ? [] : [[action, word] as const];
  },
);

/** For a word in two rows the first one counts, which is the more dangerous. */
function mapOf(table: Table): Map<string, Action> {
  const map = new Map<string, Action>();
  for (const [action, words] of table) {
    for (const word of words.split(' ')) if (!map.has(word)) map.set(word, action);
  }
  return map;
}
