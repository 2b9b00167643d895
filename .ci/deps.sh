#!/bin/sh
# Installs the Debian packages that are missing: deps.sh PACKAGE...
# Needs root or sudo only when something is missing; says so in one line otherwise.
set -eu
if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "orchard: not a Debian system; install the equivalents of: $*" >&2
    exit 0
fi
missing=
for package in "$@"; do
    case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true) in
    *' installed') ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1; then
    as_root=sudo
else
    echo "orchard: missing packages and neither root nor sudo; run as root: apt-get install$missing" >&2
    exit 2
fi
echo "orchard: installing$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q >/dev/null
# shellcheck disable=SC2086
$as_root apt-get install -qq -y --no-install-recommends $missing >/dev/null
