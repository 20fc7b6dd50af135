// Loaded into the chat's server, whose address of the service cannot be set.
const there = process.env.CHAT_DOUBLE;
const { fetch } = globalThis;
globalThis.fetch = (url, options) =>
  fetch(String(url).replace('https://slack.com', there), options);
