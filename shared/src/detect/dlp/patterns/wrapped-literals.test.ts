import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const patterns = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

describe('literals that a constructor or a cast wraps', () => {
  it.each([
    'var callbackSecret = []byte("9c4e1b7d20f3a86c5e07b19d4f3a2c8e")',
    'webhookSecret: new Secret("9c4e1b7d20f3a86c5e07b19d4f3a2c8e"),',
    'const apiSecret = Buffer.from("9c4e1b7d20f3a86c5e07b19d4f3a2c8e", "hex");',
    'api_key = SecretStr("9c4e1b7d20f3a86c5e07b19d4f3a2c8e")',
    'SECRET_KEY = b"9c4e1b7d20f3a86c5e07b19d4f3a2c8e"',
    `SECRET_KEY = r'9c4e1b7d20f3a86c5e07b19d4f3a2c8e'`,
    'let secret = String("9c4e1b7d20f3a86c5e07b19d4f3a2c8e")',
    'let token = Zeroizing::new(String::from("9c4e1b7d20f3a86c5e07b19d4f3a2c8e"));',
    'let db_password = SecretString::new("Kestrel27!blau".into());',
    'hmacKey := []byte(`9c4e1b7d20f3a86c5e07b19d4f3a2c8e`)',
    'signing_key = bytes.fromhex("9c4e1b7d20f3a86c5e07b19d4f3a2c8e")',
    'private static final String API_KEY = new String("9c4e1b7d20f3a86c5e07b19d4f3a2c8e");',
    'var secret = Encoding.UTF8.GetBytes("9c4e1b7d20f3a86c5e07b19d4f3a2c8e");',
    'password: secret!("Kestrel27!blau")',
    '$password = ConvertTo-SecureString "Kestrel27!blau" -AsPlainText',
    'jwtSecret = new TextEncoder().encode("9c4e1b7d20f3a86c5e07b19d4f3a2c8e")',
    'const std::string api_token = std::string("9c4e1b7d20f3a86c5e07b19d4f3a2c8e");',
    'NSString *apiKey = @"9c4e1b7d20f3a86c5e07b19d4f3a2c8e";',
    'authToken = Some("9c4e1b7d20f3a86c5e07b19d4f3a2c8e".to_string())',
    '监控 application key 是 9c4e1b7d20f3a86c5e07b19d4f3a2c8e86c5e07b',
    'Die Datadog Application Key lautet 9c4e1b7d20f3a86c5e07b19d4f3a2c8e86c5e07b',
    'Segment write key: h2Kd83LmQz7VbT5xWc9RpYs4NfJg6AeU',
    `clé d'application Datadog : 9c4e1b7d20f3a86c5e07b19d4f3a2c8e86c5e07b`,
    'Anwendungsschlüssel: 9c4e1b7d20f3a86c5e07b19d4f3a2c8e86c5e07b',
    'secretKey: process.env.SECRET ?? "9c4e1b7d20f3a86c5e07b19d4f3a2c8e"',
    'clave de aplicación: 9c4e1b7d20f3a86c5e07b19d4f3a2c8e86c5e07b',
  ])('are found: %s', (text) => expect(patterns(text)).not.toEqual([]));

  it.each([
    'password = getpass("Enter your password: ")',
    'password = String("password")',
    'token := []byte("token")',
    'apiKey = Buffer.from(process.env.API_KEY, "hex")',
    'secret = SecretStr("changeme")',
    'secret = SecretStr("<your secret>")',
    'var key = Encoding.UTF8.GetBytes(config["Jwt:Key"]);',
    'password = String(password2)',
    'api_key = str(settings.api_key_v2)',
    'token = bytes(token_bytes)',
    'let secret = Some("SECRET_NAME")',
    'let token = String::from("Bearer ");',
    'applicationKey = getString("app.key1")',
    'application key required: see docs/keys-2024.md',
    'write key to file1.txt',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('values in elements of XML and property lists', () => {
  it.each([
    '<Password><Value>Kestrel27!blau</Value><Hint>none</Hint></Password>',
    '<AdministratorPassword><Value>S2VzdHJlbDI3</Value></AdministratorPassword>',
    '<key>Password</key>\n  <string>Kestrel27!blau</string>',
    '<key>apiToken</key><data>h2Kd83LmQz7VbT5xWc9RpYs4NfJg6AeU</data>',
    '<add key="SmtpPassword" value="Kestrel27!blau" />',
    '<add name="Password" value="Kestrel27!blau"/>',
    '<setting name="DbPassword" serializeAs="String"><value>Kestrel27!blau</value></setting>',
    '<setting name="DbPassword" serializeAs="String">\n   <value>Kestrel27!blau</value></setting>',
    '<entry key="db.password">Kestrel27!blau</entry>',
    '<Property Name="Password" Value="Kestrel27!blau"/>',
    '<member><name>password</name><value><string>Kestrel27!blau</string></value></member>',
    '<param name="password"><value>Kestrel27!blau</value></param>',
    '<bean><property name="password"><value>Kestrel27!blau</value></property></bean>',
    '<ns:Password xsi:type="xsd:string">Kestrel27!blau</ns:Password>',
    '<wsse:Password Type="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordText">Kestrel27!blau</wsse:Password>',
    '<password><![CDATA[Kestrel27!blau]]></password>',
    'Password = "Kestrel27!blau"; Username = lobby;',
    '<dict><key>WiFiPassword</key><string>Kestrel27!blau</string></dict>',
    '<resources><string name="api_token">h2Kd83LmQz7VbT5xWc9RpYs4NfJg6AeU</string></resources>',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('secret_assignment'));

  it.each([
    '<password><minLength>8</minLength></password>',
    '<Password><Value></Value></Password>',
    '<key>Password</key><true/>',
    '<add key="PasswordPolicy" value="Level2" />',
    '<add key="TokenLifetime" value="3600s1" />',
    '<Password><Required>true</Required><Label>Password2</Label></Password>',
    `<setting name="DbPassword"><value>\${DB_PASSWORD}</value></setting>`,
    '<entry key="password.label">Passwort2</entry>',
    '<xs:element name="password" type="xs:string"/>',
    '<string name="password_hint">At least 8 characters</string>',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});
