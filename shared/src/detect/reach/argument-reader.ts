/** Reads a call's arguments by their shape: the paths, recipients and items that they name. */
import { pointerStep } from '../../json/json-pointer.ts';
import { isRecipient, useOf } from './argument-use.ts';
import {
  type ArgumentName,
  isBase,
  isNoPath,
  isNowhere,
  isPathForm,
  isSender,
} from './arguments/argument-kinds.ts';
import { InnerTexts } from './arguments/inner-json.ts';
import { asCommandLine, isTyped } from './arguments/typed-text.ts';
import {
  type CallScope,
  createScope,
  findToolOf,
  innerCall,
  isDeleteOperation,
  isRunCode,
} from './call-scope.ts';
import { countListed } from './counts/counted-ids.ts';
import { asksOnly, CELLS, listKindOf } from './counts/counted-lists.ts';
import { countMembers } from './counts/counted-members.ts';
import { countRange } from './counts/counted-ranges.ts';
import { countRequested } from './counts/counted-requests.ts';
import { readArgument } from './deleted-files.ts';
import { isFilterOfAll, isObjectOfAll } from './filters-of-all.ts';
import { findNamedFiles } from './named-files.ts';
import { isPatch, readPatch } from './patched-files.ts';
import { readAnsible } from './programs/ansible.ts';
import { addressesIn } from './programs/mail-programs.ts';
import {
  MAX_SHELL_LENGTH,
  readCodeReach,
  readShellReach,
  type ShellReach,
} from './programs/shell-reach.ts';
import { commandOfParts, isFlushLine, isTexts } from './programs/tool-program.ts';
import { findCypherReach, isCypher } from './queries/cypher-reach.ts';
import { EVERYTHING, findMongoReach } from './queries/mongo-reach.ts';
import { countSqlThings } from './queries/sql-count.ts';
import { findSqlFiles } from './queries/sql-files.ts';
import { findSqlReach, mayBeSql, SQL_EFFORT } from './queries/sql-reach.ts';
import { type ReachCall, type ReachFinding, type TouchedPath, tooMany } from './reach-finding.ts';
import { asksGraphQl, asksSearchServer, isReadOperation } from './read-requests.ts';
import { isBroadcast, mentionsAll, NOTIFIES_ALL } from './recipients/chat-mentions.ts';
import { mayBeMail, readMailRecipients } from './recipients/mail-headers.ts';
import { RecipientList } from './recipients/recipient-list.ts';
import { areAddresses } from './recipients/recipients.ts';
import { findRecordReach } from './record-reach.ts';
import { FILTERS, isAllOf, isCount } from './unbounded-tool.ts';
import { isAllName, isWildAddress } from './web-reach.ts';
import { findWholeCall } from './whole-call.ts';

/** Paths of a call that are read, at most; each has several forms. */
const MAX_PATHS = 2_000;

/** How deeply texts that are JSON may nest. */
const MAX_INNER_DEPTH = 3;

type Args = ReachCall['args'];

export class ArgumentReader {
  readonly paths: TouchedPath[] = [];
  readonly recipients = new RecipientList();
  items = 0;
  itemsAt = '';
  readonly #threshold: number;
  readonly #tell: (finding: ReachFinding) => void;
  readonly #trail: string[] = [];
  readonly #sqlEffort = { left: SQL_EFFORT };
  #shellLeft = MAX_SHELL_LENGTH;
  readonly #inner = new InnerTexts();
  #innerDepth = 0;
  #scope: CallScope;

  constructor(call: ReachCall, threshold: number, tell: (finding: ReachFinding) => void) {
    this.#scope = createScope(call);
    this.#threshold = threshold;
    this.#tell = tell;
  }

  read(): void {
    const { call } = this.#scope;
    this.#object(call.args, false);
    for (const one of findWholeCall(this.#scope)) this.#tell({ ...one, place: this.#place() });
    const range = call.action === 'delete' ? countRange(call.args, this.#scope.tool.words) : 0;
    if (range > this.items) this.#count(range - this.items);
  }

  /** A call within the call, such as one of a batch, is read like one that stands alone. */
  #innerCall(call: ReachCall): void {
    const outer = this.#scope;
    this.#scope = createScope(call, outer);
    this.read();
    this.#scope = outer;
  }

  #object(value: object, isInList: boolean, of?: ArgumentName, isItem = false): void {
    const record = value as Record<string, unknown>;
    const { call } = this.#scope;
    const isWhole = record === call.args;
    if (!isWhole && call.action !== 'read') {
      const isDelete = isDeleteOperation(record);
      if (isDelete || isReadOperation(record)) {
        const action = isDelete ? call.action : 'read';
        this.#innerCall({ ...call, action, args: record });
        return;
      }
    }
    for (const one of findRecordReach(record, this.#scope, of)) {
      this.#tell({ ...one, place: this.#place() });
    }
    this.#files(findNamedFiles(record, of, this.#scope));
    if (this.#isMessage() && isBroadcast(record)) this.#notifiesAll();
    const tool = findToolOf(record);
    const { words } = this.#scope.tool;
    const command = commandOfParts(record, words);
    if (typeof command === 'string') this.#line(command);
    else if (command) this.#shell(readShellReach(command));
    const isAsked = call.action !== 'delete' && asksGraphQl(record);
    const isSearched = call.action !== 'delete' && asksSearchServer(record);
    const members = countMembers(record, of, { action: call.action, words }, isInList, isItem);
    const least = this.items + members;
    if (call.action !== 'read') this.#ansible(record);
    for (const key of Object.keys(record)) {
      const member = record[key];
      const own = readArgument(key, this.#scope);
      // The text of a query that has parameters beside it.
      const name = of?.kind === 'sql' && own.kind === 'content' ? of : own;
      this.#trail.push(key);
      if (isPathForm(key)) this.#path(key, name);
      else if (areAddresses(key)) this.#addRecipient(key, false);
      const isRead = isBase(name) && isWhole && this.#scope.hasBase && typeof member === 'string';
      const before = this.items;
      if (!isRead && !(tool?.key === key && this.#arguments(tool.name, member))) {
        if (isSender(name)) this.recipients.ofSenders(() => this.#member(member, name, isInList));
        else this.#member(member, name, isInList);
      }
      // What a query asks for is not changed.
      if (isSearched || (isAsked && key === 'variables')) this.items = before;
      this.#trail.pop();
    }
    // What they list themselves is counted already.
    if (least > this.items) this.#count(least - this.items);
  }

  #ansible(record: Args): void {
    const { lines, argvs } = readAnsible(record);
    for (const line of lines) this.#line(line);
    for (const argv of argvs) this.#shell(readShellReach(argv));
  }

  /** @returns whether these are the arguments of a tool within the call */
  #arguments(name: string, value: unknown): boolean {
    const args = typeof value === 'string' ? this.#parsed(value) : value;
    const call = innerCall(name, args, this.#scope);
    if (call) this.#innerCall(call);
    return call !== undefined;
  }

  #member(value: unknown, name: ArgumentName, isInList: boolean): void {
    if (typeof value === 'string') this.#text(value, name);
    else if (Array.isArray(value)) this.#list(value, name, isInList);
    else if (typeof value === 'number') this.#number(value, name);
    else if (value === true) this.#flag(name);
    else if (typeof value === 'object' && value !== null) {
      if (this.#isFilter(name) && isObjectOfAll(value as Args)) this.#everything();
      const isAll = name.words.join(' ') === 'match all';
      if (isAll && this.#scope.call.action !== 'read') this.#everything();
      this.#object(value, isInList, name);
    }
  }

  #list(list: readonly unknown[], name: ArgumentName, isInList: boolean): void {
    if (isTexts(list) && (name.kind === 'command' || isFlushLine(list))) {
      this.#shell(readShellReach(list));
      for (const line of list) this.#text(line, name);
      return;
    }
    const isRecipients = isRecipient(name, this.#scope.tool, this.#trail.length);
    const { call, tool } = this.#scope;
    const kind = isRecipients ? 'parts' : listKindOf(list, name, call.action, tool.words, isInList);
    if (kind === 'data') return;
    const before = this.items;
    if (kind === 'things' || kind === 'rows') this.#count(list.length);
    for (const [index, one] of list.entries()) {
      this.#trail.push(String(index));
      if (Array.isArray(one)) {
        // Items of a list within a list count one by one.
        if (kind === 'things') this.items--;
        this.#list(one, kind === 'rows' ? CELLS : name, isInList);
      } else if (typeof one === 'object' && one !== null) {
        if (isRecipients) this.#addRecipient(one, true);
        this.#object(one, true, name, true);
      } else if (typeof one === 'number' && isRecipients) this.#addRecipient(String(one), true);
      else if (typeof one === 'string') this.#text(one, name, true);
      this.#trail.pop();
    }
    if (kind === 'reads') this.items = before;
  }

  #addRecipient(whom: string | object, isNamed: boolean): void {
    const { isRequest, tool } = this.#scope;
    // Whom a search looks for gets nothing.
    if (!isRequest && asksOnly(tool.words)) return;
    if (typeof whom === 'string') this.recipients.add(whom, isNamed, () => this.#place());
    else this.recipients.addDescribed(whom, () => this.#place());
  }

  #text(text: string, name: ArgumentName, isOfList = false): void {
    const { kind } = name;
    const { isShell, isSql, isMove, isSearch, isTerminal } = this.#scope.tool;
    if (this.#isMessage() && mentionsAll(text)) this.#notifiesAll();
    if (mayBeMail(name.words)) this.#mail(text);
    if (isRunCode(this.#scope.tool, name)) this.#line(text, readCodeReach);
    const requested = countRequested(text);
    if (requested > this.#threshold && this.#scope.call.action !== 'read') {
      this.#tell({ ...tooMany(requested, this.#threshold), place: this.#place() });
    }
    if (this.#scope.tool.words.includes('patch') && isPatch(text)) this.#files(readPatch(text));
    // What a search looks for, in a language of its own.
    const isTerm = isSearch && this.#scope.call.action === 'read' && this.#trail.length > 1;
    const isGiven = isShell && (kind === 'content' || name.last === 'line');
    const isLine = !isTerm && (kind === 'command' || isGiven);
    if (isLine || (isTerminal && isTyped(name))) {
      // A shell runs what is substituted in JSON, too.
      this.#readInner(text, name);
      this.#line(isLine ? text : asCommandLine(text));
      this.#sql(text, isSql);
      return;
    }
    if (kind === 'content') {
      if (this.#scope.isRequest && name.last === 'body' && this.#readInner(text, name)) return;
      if (isSql) this.#sql(text, true);
      return;
    }
    if (this.#readInner(text, name)) return;
    if (this.#isFilter(name) && isFilterOfAll(text, name, this.#sqlEffort)) this.#everything();
    if (this.#scope.call.action === 'delete' && isAllOf(text, name)) this.#everything();
    if (kind === 'sql') {
      // A search term is a sentence.
      if (isSql || !isSearch) this.#sql(text, true);
      return;
    }
    const isDelete = this.#scope.call.action === 'delete';
    const isPath = isPathForm(text) && !isNoPath(name);
    const isWhom = isRecipient(name, this.#scope.tool, this.#trail.length);
    if (isWhom && !(isPath && !text.includes('@'))) {
      this.#addRecipient(text, true);
      return;
    }
    if (isDelete && kind === 'path' && isNowhere(text, name)) this.#path('.', name);
    else if (kind === 'path' || isPath || (isMove && kind === 'recipient')) this.#path(text, name);
    else if (areAddresses(text)) this.#addRecipient(text, false);
    else if (isDelete && text.includes('*') && !/\s/.test(text)) this.#path(text, name);
    else if (isDelete && text.split(',').some(isAllName)) this.#path('*', name);
    if (isDelete && /^https?:/i.test(text) && isWildAddress(text)) this.#everything();
    this.#sql(text, isSql && !isPath);
    if (isOfList || (kind !== 'ids' && kind !== 'path')) return;
    const count = countListed(text, name, this.#scope.call.action);
    if (count > 1) this.#count(count);
  }

  #files(files: readonly Omit<TouchedPath, 'place'>[]): void {
    const { base } = this.#scope;
    for (const file of files) this.#touch({ base, ...file, place: this.#place() });
  }

  /** Whether the call goes to a chat and sends something there. */
  #isMessage(): boolean {
    return this.#scope.isChat && this.#scope.call.action !== 'read';
  }

  #notifiesAll(): void {
    this.#tell({ ...NOTIFIES_ALL, place: this.#place() });
  }

  #mail(text: string): void {
    const mail = readMailRecipients(text);
    for (const value of mail?.values ?? []) this.#addRecipient(value, true);
    if (mail?.isCut) this.#unreadable('the call has a message whose headers are too long');
  }

  /** A text that is JSON is read as if its value stood there. */
  #readInner(text: string, name: ArgumentName): boolean {
    if (this.#innerDepth >= MAX_INNER_DEPTH) return false;
    const value = this.#parsed(text);
    if (value === undefined) return false;
    this.#innerDepth++;
    this.#member(value, name, false);
    this.#innerDepth--;
    return true;
  }

  /** The value of a text that is JSON, as long as all of them together are not too long. */
  #parsed(text: string): object | undefined {
    const value = this.#inner.parse(text);
    if (value === 'too much' && this.#scope.call.action !== 'read') {
      this.#unreadable('the call has JSON that is not read');
    }
    return typeof value === 'object' ? value : undefined;
  }

  #number(value: number, { words }: ArgumentName): void {
    // How many it may delete: otherwise such a number is a page size.
    if (this.#scope.call.action !== 'delete' || !isCount(words)) return;
    if (value > this.#threshold && value > this.items) this.#count(value - this.items);
  }

  #flag({ words }: ArgumentName): void {
    const { call, tool } = this.#scope;
    const isMany = call.action !== 'read' && tool.words.includes('bulk');
    if ((call.action === 'delete' || isMany) && words.includes('all')) this.#everything();
  }

  #isFilter({ last, kind }: ArgumentName): boolean {
    const { action } = this.#scope.call;
    const isMany = action === 'delete' || (action === 'write' && this.#scope.tool.isMany);
    return isMany && (FILTERS.has(last) || kind === 'sql');
  }

  #everything(): void {
    this.#tell({ ...EVERYTHING, place: this.#place() });
  }

  #path(text: string, name: ArgumentName): void {
    this.#touch({
      text,
      ...useOf(name, text, this.#scope),
      place: this.#place(),
      base: this.#scope.base,
      containers: this.#scope.containers,
      isRecursive: this.#scope.isRecursive,
    });
  }

  #touch(path: TouchedPath): void {
    if (this.paths.length < MAX_PATHS) this.paths.push(path);
    else this.#unreadable(`the call names more than ${MAX_PATHS} paths`);
  }

  /** Reads a command line, as long as all of them together are not too long. */
  #line(line: string, read: (line: string) => ShellReach = readShellReach): void {
    this.#shellLeft -= line.length;
    for (const address of addressesIn(line)) this.#addRecipient(address, false);
    if (this.#shellLeft >= 0) this.#shell(read(line));
    else this.#unreadable('the call has command lines that are too long to be read');
  }

  #unreadable(message: string): void {
    this.#tell({ rule: 'unreadable', verdict: 'escalate', message, place: this.#place() });
  }

  #shell({ paths, inner, recipients, whole, things }: ShellReach): void {
    const place = this.#place();
    if (things > this.#threshold) this.#tell({ ...tooMany(things, this.#threshold), place });
    const base = this.#scope.base;
    for (const path of paths) this.#touch({ ...path, place, base: path.base ?? base });
    for (const text of inner) this.#sql(text, true);
    for (const text of recipients) this.#addRecipient(text, true);
    for (const one of whole) this.#tell({ ...one, place });
  }

  #sql(text: string, isSql: boolean): void {
    const reading = { isSql, maxRows: this.#threshold, effort: this.#sqlEffort };
    const found = isCypher(text) ? undefined : findSqlReach(text, reading);
    const place = this.#place();
    if (found) this.#tell({ rule: 'sql_without_where', ...found, place });
    const mongo = findMongoReach(text) ?? findCypherReach(text);
    if (mongo) this.#tell({ ...mongo, place });
    if (!found && (isSql || mayBeSql(text))) this.#sqlThings(text);
    const files = isSql ? findSqlFiles(text, this.#sqlEffort) : undefined;
    if (files === undefined) return;
    if (files.isUnread) this.#unreadable('the call has SQL that is too long to be read');
    // Of the database's machine, whose folder is unknown.
    for (const path of files.written) this.#touch({ text: path, use: 'write', place });
    for (const path of files.read) this.#touch({ text: path, use: 'read', place });
    for (const line of files.programs) this.#line(line);
  }

  /** Told by itself: a text may be read in several ways. */
  #sqlThings(text: string): void {
    const things = countSqlThings(text, this.#threshold, this.#sqlEffort);
    if (this.#sqlEffort.left < 0) this.#unreadable('the call has SQL that is too long to be read');
    if (things <= this.#threshold || this.#scope.call.action === 'read') return;
    this.#tell({ ...tooMany(things, this.#threshold), place: this.#place() });
  }

  #count(things: number): void {
    if (this.items === 0) this.itemsAt = this.#place();
    this.items += things;
  }

  #place(): string {
    // Each step has a sign at least, so that further ones would be cut off.
    return this.#trail.slice(0, 256).map(pointerStep).join('').slice(0, 256);
  }
}
