/** A small client of the management API, as an administrator's script would be. */
export interface AdminApi {
  token: string;
  get<T = unknown>(path: string): Promise<T>;
  post<T = unknown>(path: string, body?: unknown): Promise<T>;
  patch<T = unknown>(path: string, body: unknown): Promise<T>;
  delete(path: string): Promise<void>;
}

/** Logs in and returns a client whose calls throw the service's `detail` on any error. */
export async function adminApi(url: string, username: string, password: string): Promise<AdminApi> {
  const login = await call(url, 'POST', '/api/v1/auth/admin/login', undefined, {
    username,
    password,
  });
  const { access_token: token } = login as { access_token: string };
  return {
    token,
    get: async <T>(path: string) => (await call(url, 'GET', path, token)) as T,
    post: async <T>(path: string, body?: unknown) =>
      (await call(url, 'POST', path, token, body)) as T,
    patch: async <T>(path: string, body: unknown) =>
      (await call(url, 'PATCH', path, token, body)) as T,
    delete: async (path) => {
      await call(url, 'DELETE', path, token);
    },
  };
}

async function call(
  url: string,
  method: string,
  path: string,
  token?: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
