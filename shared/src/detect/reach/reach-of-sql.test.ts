/** Conditions that are true for every row, and SQL that is put together before it is executed. */
import { expect, it } from 'vitest';
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
  const began = performance.now();
  for (const size of [8_000, 60_000]) run(`DELETE FROM t WHERE ${make(size)}`);
  expect(performance.now() - began).toBeLessThan(5_000);
});
