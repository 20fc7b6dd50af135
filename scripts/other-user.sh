#!/usr/bin/env bash
# The README's two steps as an ordinary user on a clean clone: install, start, first answer, demo.
# Run as root; it creates a temporary user and removes it.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "run as root: it switches to an ordinary user" >&2; exit 1; }

user="governance-check-$$"
home="$(mktemp -d)"
useradd --home-dir "$home" --no-create-home --shell /bin/bash "$user"
cleanup() {
  pkill -KILL -u "$user" || true
  userdel "$user" 2>/dev/null || true
  rm -rf "$home"
}
trap cleanup EXIT

git clone --quiet --no-local . "$home/clone"
chown -R "$user" "$home"
chmod 700 "$home"
nodedir="${npm_config_nodedir:-$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")}"
# The registry's settings of this machine are the installer's, not the project's.
for name in .npmrc; do [ -f "$HOME/$name" ] && install -o "$user" -m 600 "$HOME/$name" "$home/$name"; done

as_user() {
  runuser -u "$user" -- env -i HOME="$home" PATH="$PATH" LANG=C.UTF-8 \
    npm_config_nodedir="$nodedir" ${NODE_EXTRA_CA_CERTS:+NODE_EXTRA_CA_CERTS="$NODE_EXTRA_CA_CERTS"} \
    bash -ec "cd '$home/clone'
$1"
}

as_user 'npm ci'
as_user 'SERVICE_PORT=0 npm start > start.log 2>&1 & pid=$!
  for _ in $(seq 600); do grep -q "address" start.log && break; sleep 0.1; done
  url=$(sed -n "s/^ *address *//p" start.log)
  curl -sf "$url/ready" && echo " ready as $(id -un) at $url" || { cat start.log; exit 1; }
  pkill -TERM -x node -u "$(id -u)"; wait $pid || true; tail -1 start.log | grep stopped'
# The build of another user is run as long as it is current.
owned() { chown -R "$1" "$home/clone/dist"; }
owned root
as_user 'SERVICE_PORT=0 npm start > start.log 2>&1 & pid=$!
  for _ in $(seq 600); do grep -q "address" start.log && break; sleep 0.1; done
  grep -q "address" start.log && echo " runs the build of another user" || { cat start.log; exit 1; }
  pkill -TERM -x node -u "$(id -u)"; wait $pid || true
  touch service.ts
  npm start > start.log 2>&1 && exit 1
  grep -q "^dist/ cannot be written by this user" start.log || { cat start.log; exit 1; }'
owned "$user"
as_user 'npm run demo'
echo "an ordinary user can install, start and see the demo"
