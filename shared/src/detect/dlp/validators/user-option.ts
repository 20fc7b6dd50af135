/** What `-u` and `--user` of a command name besides a user and a password. */

/** Programs of containers, up to the option: no other program stands between that logs in. */
const OF_CONTAINERS =
  /\b(?:docker|podman|nerdctl|docker-compose)\b(?:(?!\b(?:curl|wget|https?|xh|mosquitto_\w{3})\b)(?:[^\n]|\\\n))*$/;
/** `-u http://host:8080`, `--user 1000:1000`, `-u host:/srv/data`. */
const NO_PASSWORD = /:["']?\/(?:\/|\w+\/)|[ =]["']?\d{1,10}:\d{1,10}$/;

/**
 * Whether the option names an address, a path of another machine, or a user with a group.
 *
 * @param before what stands before it
 * @param option the option with its value
 */
export const isNoLogin = (before: string, option: string): boolean =>
  NO_PASSWORD.test(option) || OF_CONTAINERS.test(before);
