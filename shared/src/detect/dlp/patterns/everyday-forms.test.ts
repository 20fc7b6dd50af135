/** Values and near misses in the forms of everyday tools: code, tables, HL7 and FHIR, letters. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());
const patternsIn = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

describe('values in everyday forms', () => {
  it.each([
    ['connection_string', 'use `postgres/Madrid7731xQwe@crawler-5.northgate.local:1521/ORCLPDB1`'],
    ['record_number', 'please update the hospital number of our customer to 1262773. Thanks!'],
    ['record_number', 'id;first_name;patient_mrn;plan\n2543;Viktor;974044336;pro'],
    ['record_number', 'PID|1||UHN-376161^^^HOSP^MR||||||||||'],
    [
      'record_number',
      '{"identifier": [{"type": {"coding": [{"code": "MR"}]}, "value": "PT-816070"}]}',
    ],
    ['date_of_birth', String.raw`{"text": "Record 15824\nstatus: open\nDOB: April 26, 1955"}`],
    ['date_of_birth', '{"label": "DOB", "day": "24", "month": "01", "year": "1939"}'],
    ['date_of_birth', '{"label": "date de naissance", "year": "1999", "month": "10", "day": "28"}'],
    [
      'secret_assignment',
      'Ciao Ines, il API key di auth-proxy è questo: b2cb2e3c690f4ccf7fbf4e349935c03b grazie',
    ],
    [
      'secret_assignment',
      'here is the SMTP password for the prod system:\n\n    LUS2h81W*JbAyFE0sYEh21\n\nBest',
    ],
    [
      'secret_assignment',
      '[10:32] anna: does anyone have the SMTP password?\n[13:29] viktor: sure, falcon-harbor-orchid-41\n',
    ],
    ['iban', "INSERT INTO methods (id, iban) VALUES (8306, 'CY17002001280000001200527600');"],
    [
      'azure_secret',
      `pat ${'phNkZFqDgQ55K4pffA9OrutZLDOp2DUO1UCHeXxCpokjDvOwLTpuP9XrBCBhH8HBI9RBvKbvPzoB'}AZDOIkxn`,
    ],
    [
      'secret_assignment',
      '{"selector": "input[type=password]", "value": "walnut-Glacier-29!", "submit": true}',
    ],
    ['secret_assignment', "gh secret set ADMIN_PASSWORD --body 'Delta$quartz773' --repo a/b"],
    ['record_number', 'patient,patient_mrn,test,result\nAisha Lambert,00745460,HbA1c,10.3\n'],
    ['record_number', '{"patient": {"name": "Mateo", "patientMrn": "Z3464461"}}'],
  ])('finds %s: %s', (pattern, text) => {
    expect(patternsIn(text)).toContain(pattern);
  });
});

describe('near misses in everyday forms', () => {
  it.each([
    'u.password=o=>{t.auth(o.token||null)};q.password=v=>{g.auth(v.token||null)}',
    "const password = await prompt('Enter password: ', { hidden: true });",
    "curl -H 'Authorization: Bearer <password>' https://api.example.org/v1/billing",
    'product birthday sale starts 09.06.2021',
    'INVALID_BSN = ["399757422"]  # wrong check digit',
    "self.assertFalse(is_valid_pesel('48050237879'))",
    '{"field": "cpf", "input": "784.488.239-87", "error": "invalid checksum"}',
    'the patient number of visitors: 12345',
    'PASSWORD_RESET_TIMEOUT = 8994',
  ])('passes: %s', (text) => {
    expect(patternsIn(text)).toEqual([]);
  });

  it('finds the number of the country that its label names', () => {
    expect(patternsIn('<bsn>111222333</bsn>')).toContain('national_id');
    expect(patternsIn('pesel: 44051401359')).toContain('national_id');
  });

  it('finds a secret in an element of its name', () => {
    expect(patternsIn('<password>Wz8KdduOT6!q</password>')).toContain('secret_assignment');
    // Whether it is closed or not.
    expect(patternsIn('<password>Wz8KdduOT6!q')).toContain('secret_assignment');
  });
});
