/** Marks of platforms' tokens, each with the length that its issuer gives: nothing goes on behind it. */
export const MORE_PLATFORMS: readonly string[] = [
  // CircleCI, Clojars, Doppler, Linear, Dynatrace.
  String.raw`(?:\b|_)(?:CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[a-f0-9]{40}|CLOJARS_[a-f0-9]{60})`,
  String.raw`(?:\b|_)(?:dp\.(?:scim|audit)\.[A-Za-z0-9]{40,44}|lin_oauth_[a-f0-9]{64}|dt0s(?:01|02|06|08|16)\.[A-Z0-9]{8}\.[A-Z0-9]{64})`,
  // CockroachDB, Neon, Zuplo, Defined Networking, Sourcegraph, Infracost.
  String.raw`(?:\b|_)(?:CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}|napi_[a-z0-9]{64}|zpka_[a-z0-9]{32}_[a-f0-9]{8})`,
  String.raw`(?:\b|_)(?:dnkey-[A-Za-z0-9_=-]{26}-[A-Za-z0-9_=-]{52}|sgp_(?:(?:[a-f0-9]{16}|local)_)?[a-f0-9]{40}|ico-[A-Za-z0-9]{32})`,
  // Apify, Polar, Deno Deploy, Inngest, Paddle, ReadMe, 42.
  String.raw`(?:\b|_)(?:apify_api_[A-Za-z0-9]{36}|polar_oat_[A-Za-z0-9]{40,60}|dd[op]_[A-Za-z0-9]{36}|signkey-(?:prod|test|staging)-[a-f0-9]{64})`,
  String.raw`(?:\b|_)(?:pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}|rdme_[a-z0-9]{70}|s-s4t2(?:ud|af)-[a-f0-9]{64})`,
  // HubSpot, Harness, Jina, E2B, Bitwarden Secrets Manager.
  String.raw`(?:\b|_)(?:pat-(?:na|eu)\d-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}|[ps]at\.[A-Za-z0-9_-]{22}\.[a-f0-9]{24}\.[A-Za-z0-9]{20})`,
  String.raw`(?:\b|_)(?:jina_[A-Za-z0-9_-]{60}|e2b_[a-f0-9]{40}|0\.[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{22}==)`,
];
