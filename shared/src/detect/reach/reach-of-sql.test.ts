/** Conditions that are true for every row, and SQL that is put together before it is executed. */
import { expect, it } from 'vitest';
import { cpuMs } from '../../testing/test-cpu.ts';
import { createReach } from '../../testing/test-reach.ts';

const reach = createReach();
const run = (sql: string) => reach('query', 'execute', { sql });
const SQL = ['escalate sql_without_where'];

it.each<[string, string[]]>([
  ['coalesce(1,0)=1', SQL],
  ['1 = COALESCE(NULL, 1)', SQL],
  ['ifnull(1, 0) > 0', SQL],
  ['CASE WHEN 1=1 THEN true END', SQL],
  ['CASE WHEN 1=2 THEN false ELSE true END', SQL],
  ['CASE WHEN a = 1 THEN true ELSE true END', SQL],
  ['(CASE WHEN a = 1 OR 1=1 THEN 1 END)', SQL],
  ['a = 1 OR CASE WHEN CASE WHEN 1=1 THEN true END THEN true END', SQL],
  ['coalesce(a, 0) = 1', []],
  ['coalesce(1, 0) = a', []],
  ['coalesce(1, 0) = 2', []],
  ['CASE WHEN a = 1 THEN true END', []],
  ['CASE WHEN a = 1 THEN true ELSE false END', []],
  ['CASE WHEN 1=2 THEN true END', []],
  ['CASE a WHEN 1 THEN true END', []],
  ['CASE WHEN 1=1 THEN true END AND a = 1', []],
  ["CASE WHEN a = 1 THEN 'x' END = 'x' OR b = 2", []],
])('DELETE with the condition %s', (where, found) => {
  expect(run(`DELETE FROM t WHERE ${where}`)).toEqual(found);
});

it.each([
  'id IN (SELECT id FROM users)',
  'users.id in (select u.id from public.users u)',
  '"id" IN (SELECT "id" FROM "public"."users")',
  'id IN (SELECT id FROM [dbo].[users])',
  'id IN ((SELECT id FROM ONLY users AS u))',
  'id IN (SELECT id FROM users WHERE 1=1 ORDER BY id)',
  'id IN (SELECT DISTINCT id FROM users GROUP BY id)',
  'id IN (SELECT id FROM users LIMIT 100000)',
  'id IN (SELECT id FROM users LIMIT ALL)',
  'id IN (SELECT id FROM (SELECT * FROM users) AS t)',
  'id IN (SELECT id FROM users WHERE id IN (SELECT id FROM users))',
  '(a, b) IN (SELECT a, b FROM users)',
  'id = ANY (SELECT id FROM users)',
  'id <= (SELECT MAX(id) FROM users)',
  'id >= (SELECT MIN(id) FROM users)',
  'EXISTS (SELECT 1 FROM users)',
  'EXISTS (SELECT * FROM users LIMIT 1)',
  'a = 1 OR id IN (SELECT id FROM users)',
])('all rows of the table itself: %s', (where) => {
  expect(run(`DELETE FROM users WHERE ${where}`)).toEqual(SQL);
  expect(run(`UPDATE users SET a = 1 WHERE ${where}`)).toEqual(SQL);
  expect(run(`UPDATE u SET a = 1 FROM users u WHERE ${where}`)).toEqual(SQL);
});

it.each([
  'id IN (SELECT id FROM users WHERE age > 3)',
  'id IN (SELECT user_id FROM banned)',
  'id IN (SELECT id FROM banned)',
  'id IN (SELECT parent_id FROM users)',
  'parent_id IN (SELECT id FROM users)',
  'id NOT IN (SELECT id FROM users)',
  'id NOT IN (SELECT MIN(id) FROM users GROUP BY email)',
  'id IN (SELECT MAX(id) FROM users GROUP BY email HAVING COUNT(*) > 1)',
  'id IN (SELECT id FROM users GROUP BY email)',
  'id IN (SELECT DISTINCT ON (email) id FROM users)',
  'id IN (SELECT id FROM users LIMIT 100)',
  'id IN (SELECT id FROM users ORDER BY a LIMIT ?)',
  'id IN (SELECT id FROM users ORDER BY a LIMIT -1 OFFSET 100)',
  'id IN (SELECT TOP 5 id FROM users)',
  'id IN (SELECT id FROM users FOR UPDATE SKIP LOCKED)',
  'id IN (SELECT id FROM users EXCEPT SELECT id FROM kept)',
  'id IN (SELECT u.id FROM users u JOIN banned b ON b.id = u.id)',
  'id IN (SELECT u.id FROM users u, banned b)',
  'id IN (SELECT id FROM (SELECT MAX(id) AS id FROM users) t)',
  'id IN (SELECT id FROM (SELECT parent_id id FROM users) t)',
  'id IN (SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY a) n FROM users) t WHERE n > 1)',
  'id = (SELECT MAX(id) FROM users)',
  'id < (SELECT MAX(id) FROM users)',
  'EXISTS (SELECT 1 FROM banned)',
  'EXISTS (SELECT 1 FROM users b WHERE b.parent_id = users.id)',
  'NOT EXISTS (SELECT 1 FROM users)',
  'id IN (SELECT id FROM users) AND age > 3',
])('some rows of it: %s', (where) => {
  expect(run(`DELETE FROM users WHERE ${where}`)).toEqual([]);
  expect(run(`UPDATE users SET a = 1 WHERE ${where}`)).toEqual([]);
});

it('of another table that is joined nothing is known', () => {
  const where = 'users.id IN (SELECT id FROM orders)';
  expect(run(`DELETE FROM orders USING users WHERE ${where}`)).toEqual([]);
  expect(run(`UPDATE orders SET a = 1 FROM users WHERE ${where}`)).toEqual([]);
});

it('SQL whose queries are nested too deeply is told', () => {
  const sql = `DELETE FROM t WHERE ${'(SELECT a FROM '.repeat(2_000)}1${')'.repeat(2_000)}`;
  expect(run(sql)).toEqual(SQL);
});

it.each<[string, string[]]>([
  ["EXEC('DEL'+'ETE FROM t')", SQL],
  ["EXEC(N'DEL' + N'ETE FROM ' + N't')", SQL],
  ["EXECUTE IMMEDIATE 'DEL' || 'ETE FROM t'", SQL],
  ["EXECUTE CONCAT('DEL', 'ETE FROM t')", SQL],
  ["EXEC sp_executesql N'DELETE FROM t'", SQL],
  ["EXEC('DELETE FROM ' + @t)", SQL],
  ["SET @s='DELETE FROM t'; PREPARE p FROM @s; EXECUTE p", SQL],
  ["SET @s='DEL' || 'ETE FROM t'; PREPARE p FROM @s; EXECUTE p", SQL],
  ["PREPARE p FROM 'DELETE FROM t'; EXECUTE p", SQL],
  ["DECLARE @s nvarchar(max) = N'DELETE FROM t'; EXEC(@s)", SQL],
  ["EXEC('DEL'+'ETE FROM t WHERE id = 1')", []],
  ["SET @s='DELETE FROM t WHERE id = ?'; PREPARE p FROM @s; EXECUTE p", []],
  ["SET @s='DELETE FROM t'; SELECT @s", []],
  ["INSERT INTO notes VALUES ('execute ' || 'DELETE FROM t')", []],
  ["INSERT INTO notes VALUES ('exec', 'DELETE FROM t')", []],
  ["EXEC sp_executesql N'UPDATE t SET a = 1 WHERE id = @id', N'@id int', @id = 1", []],
  ['PREPARE p AS DELETE FROM t WHERE id = $1', []],
])('%s', (sql, found) => expect(run(sql)).toEqual(found));

it.each([
  ['CASE in one another', (size: number) => 'CASE WHEN '.repeat(size / 10)],
  ['CASE after one another', (size: number) => 'CASE WHEN 1=1 THEN 1 END OR '.repeat(size / 28)],
  ['texts that are joined', (size: number) => `1; EXEC(${"'a'+".repeat(size / 4)}'b')`],
  ['what executes', (size: number) => `1; ${"EXEC('a'+".repeat(size / 9)}`],
  ['variables', (size: number) => `1; ${"SET @s='a'+'b'; EXEC(@s);".repeat(size / 25)}`],
  ['COALESCE', (size: number) => `${'coalesce('.repeat(size / 9)}1`],
])('reads %s in linear time', (_what, make) => {
  const began = cpuMs();
  for (const size of [8_000, 60_000]) run(`DELETE FROM t WHERE ${make(size)}`);
  expect(cpuMs() - began).toBeLessThan(5_000);
});
