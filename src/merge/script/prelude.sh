# Runs in the box, before each of the other scripts. $1 is the workspace; the rest is the script's own.
# Answers are marked lines on stdout: a login shell's profile may print whatever it likes around them.
set -u
export LC_ALL=C
for variable in ${!GIT_@}; do unset -v "$variable"; done
umask 022
root=$1
shift

# The private store: what was last in step, out of the workspace and out of the agent's repository.
store=${HOME:-}/.createos-sandbox
case "${HOME:-}/" in
    / | "$root"/*) store=/var/tmp/createos-sandbox-$(id -u) ;;
esac

say() { printf '\ncreateos-sandbox: %s=%s\n' "$1" "${2//$'\n'/ }"; }

stop() { # stop WHY DETAIL
    say stop "$1"
    say detail "${2:-}"
    exit 9
}

need() {
    for tool; do
        command -v "$tool" >/dev/null 2>&1 || stop missing "$tool"
    done
    sha256sum -z /dev/null >/dev/null 2>&1 || stop missing 'sha256sum -z (GNU coreutils)'
    find /dev/null -maxdepth 0 -printf '' >/dev/null 2>&1 || stop missing 'find -printf (GNU findutils)'
    sed -z '' /dev/null >/dev/null 2>&1 || stop missing 'sed -z (GNU sed)'
    tar --version 2>/dev/null | grep -q 'GNU tar' || stop missing 'GNU tar'
}
need git tar gzip sha256sum sort comm find sed xargs grep realpath du head tail cut tr wc

hash_of() { # hash_of FILE
    local line
    line=$(sha256sum <"$1" 2>/dev/null) && printf '%s' "${line%% *}"
}
