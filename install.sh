#!/bin/sh
# Installs createos-sandbox: in a checkout by building it, elsewhere by downloading a release.
# Needs no root and never asks for it. The old binary stays until the new one is complete and has run.
set -eu

# Where releases are; the release workflow fills it in.
base_url=''
name=createos-sandbox

usage() {
    cat <<'END'
Install createos-sandbox.

  In a checkout it is built with cargo; elsewhere a release is downloaded and its checksum verified.

Usage: install.sh [OPTIONS]

Options:
  --dir DIR        Put the binary into DIR (default: ~/.local/bin)
  --version V      Download this version instead of building, or instead of the newest
  --base-url URL   Download from URL/download/vV/ or URL/latest/download/
  --shim           Also make the link by which `createos sandbox setup herdr` works
  --dry-run        Say what would be done and do nothing
  --uninstall      Remove the binary and that link; refused while Herdr is set up with it
  --force          Uninstall although Herdr is still set up with it
  -h, --help       Print this
END
}

say() { printf '%s\n' "$*"; }

fail() { # fail MESSAGE [HELP]
    printf 'error: %s\n' "$1" >&2
    if [ $# -gt 1 ]; then printf 'help: %s\n' "$2" >&2; fi
    exit 1
}

wrong_use() {
    printf 'error: %s\nhelp: install.sh --help\n' "$1" >&2
    exit 2
}

have() { command -v "$1" >/dev/null 2>&1; }

# The target triple of the release asset for this machine.
target() {
    case "$(uname -m)" in
        x86_64 | amd64) arch=x86_64 ;;
        aarch64 | arm64) arch=aarch64 ;;
        *) fail "there is no release for the processor $(uname -m)" "build it in a checkout: ./install.sh" ;;
    esac
    case "$(uname -s)" in
        Linux) say "$arch-unknown-linux-musl" ;;
        Darwin) say "$arch-apple-darwin" ;;
        *) fail "there is no release for $(uname -s); Linux and macOS only" ;;
    esac
}

# A word as a POSIX shell reads it back: bare when nothing in it means anything to a shell.
quoted() { # quoted WORD
    case $1 in
        '' | *[!0-9A-Za-z/._+@%,:=-]*) ;;
        *)
            say "$1"
            return
            ;;
    esac
    rest=$1 done=''
    while :; do
        case $rest in
            *\'*)
                done=$done${rest%%\'*}"'\\''"
                rest=${rest#*\'}
                ;;
            *) break ;;
        esac
    done
    say "'$done$rest'"
}

# Plain http would let anybody on the way replace both the file and its checksum. A user name before an @ would make
# another host look like this machine.
check_base_url() {
    case "$base_url" in
        '') fail "this copy of install.sh knows no place to download from" "pass --base-url, or run it in a checkout" ;;
        *[!0-9A-Za-z.:/_~%+[\]-]*) wrong_use "--base-url has a character that is not accepted: $base_url" ;;
        https://[!/]*) return ;;
        http://*) ;;
        *) wrong_use "--base-url must start with https://" ;;
    esac
    host=${base_url#http://}
    host=${host%%/*}
    case $host in
        127.0.0.1 | localhost | '[::1]') return ;;
        127.0.0.1:* | localhost:* | '[::1]':*) ;;
        *) wrong_use "--base-url must start with https://" ;;
    esac
    case ${host##*:} in
        '' | *[!0-9]*) wrong_use "--base-url must start with https://" ;;
    esac
}

# What a downloader's words say about the server's answer.
refusal() { # refusal WORDS ELSE
    status='' before=''
    set -f
    for word in $1; do
        case $before:$word in
            HTTP/*:[1-5][0-9][0-9] | error::[1-5][0-9][0-9]) status=$word ;;
        esac
        before=$word
    done
    set +f
    case $status in
        404 | 410) say "the server does not have it" ;;
        401 | 403 | 407) say "the server refuses it (HTTP $status)" ;;
        429 | 5??) say "the server cannot give it now (HTTP $status)" ;;
        [34]??) say "the server answered HTTP $status" ;;
        *) say "$2" ;;
    esac
}

# The user's own files of settings are left out: what they say about proxies is in variables as well, and the rest,
# such as --insecure, is not for this. No redirect leaves https.
fetch() { # fetch URL FILE
    code=0
    only='=https'
    case $1 in http:*) only='=http,https' ;; esac
    downgraded="it leads away from https"
    if have curl; then
        words=$(curl -q -fsSL --proto "$only" --proto-redir "$only" --connect-timeout 20 --max-time 900 -o "$2" "$1" 2>&1) || code=$?
        case $code in
            0) return ;;
            1) why=$downgraded ;;
            22) why=$(refusal "$words" "$words") ;;
            5 | 6 | 7 | 28 | 35 | 56) why="the server cannot be reached" ;;
            18) why="the download broke off" ;;
            23) why="it could not be written; is there space?" ;;
            60) why="the server's certificate is not trusted" ;;
            *) why=${words:-curl ended with code $code} ;;
        esac
    elif have wget; then
        # -S shows every answer on the way. GNU wget would try twenty times; the one of busybox has no such options.
        case $(wget --help 2>&1) in
            *--no-config*) words=$(wget --no-config -q -S --tries=2 --timeout=60 -O "$2" "$1" 2>&1) || code=$? ;;
            *) words=$(wget -q -S -O "$2" "$1" 2>&1) || code=$? ;;
        esac
        case $only$words in
            =https*[Ll]ocation:\ http:* | =https*[Ll]ocation:http:*) code=downgraded ;;
        esac
        case $code in
            0) return ;;
            downgraded) why=$downgraded ;;
            3) why="it could not be written; is there space?" ;;
            4) why="the server cannot be reached" ;;
            5) why="the server's certificate is not trusted" ;;
            *) why=$(refusal "$words" "${words:-wget ended with code $code}") ;;
        esac
    else
        fail "neither curl nor wget is there to download with" "install one of them"
    fi
    fail "could not download $1: $why" "nothing was changed; try again, or build it in a checkout"
}

sha256() { # sha256 FILE
    if have sha256sum; then
        sum=$(sha256sum <"$1")
    elif have shasum; then
        sum=$(shasum -a 256 <"$1")
    elif have openssl; then
        sum=$(openssl dgst -sha256 -r <"$1")
    else
        fail "there is no sha256sum, shasum or openssl to verify the download with"
    fi
    say "${sum%% *}"
}

# The checksum of asset $2 in the list $1; empty when it is not there.
listed_sha256() {
    while read -r sum file; do
        if [ "${file#\*}" = "$2" ]; then
            say "$sum"
            return
        fi
    done <"$1"
}

download() { # download INTO
    asset=$name-$(target)
    if [ -n "$version" ]; then from=$base_url/download/v$version; else from=$base_url/latest/download; fi
    fetch "$from/SHA256SUMS" "$1/SHA256SUMS"
    expected=$(listed_sha256 "$1/SHA256SUMS" "$asset")
    if [ -z "$expected" ]; then
        fail "$from/SHA256SUMS does not list $asset" "nothing was changed; there may be no build for this machine"
    fi
    fetch "$from/$asset" "$1/$name"
    actual=$(sha256 "$1/$name")
    if [ "$actual" != "$expected" ]; then
        printf 'error: the checksum of %s is wrong\n  expected   %s\n  got        %s\n' "$asset" "$expected" "$actual" >&2
        printf 'help: nothing was changed; the file is damaged or was tampered with, do not use it\n' >&2
        exit 1
    fi
}

build() { # build INTO
    have cargo || fail "cargo is not on PATH" "install Rust (https://rustup.rs), or download a release: --version V"
    say "Building $name with cargo; the first time takes some minutes …"
    # On a terminal cargo's own progress shows that it goes on.
    quiet=--quiet
    if [ -t 2 ]; then quiet=''; fi
    # The folder on PATH keeps cargo from advising to add it: it is gone in a moment.
    PATH="$PATH:$1/built/bin" cargo install ${quiet:+"$quiet"} --locked --no-track --path "$checkout" --root "$1/built" ||
        fail "the build failed" "nothing was changed; see above"
    mv "$1/built/bin/$name" "$1/$name"
}

# Root's files in somebody's home would be closed to him.
check_home() {
    case $dir/ in
        "${HOME:-/nowhere}"/*) ;;
        *) return 0 ;;
    esac
    { have id && have ls && [ "$(id -u)" = 0 ]; } || return 0
    # shellcheck disable=SC2012  # the owner is all that is read
    owner=$(ls -ldn "$HOME" 2>/dev/null | { read -r _ _ owner _ && say "$owner"; }) || return 0
    [ "$owner" = 0 ] ||
        fail "HOME belongs to uid $owner, and this runs as root; nothing was changed" \
            "run it as that user, without sudo, or choose a folder for everybody: --dir /usr/local/bin"
}

# What installs that were killed have left: their folder says which process they were.
sweep() {
    for old in "$dir/.$name"-??????; do
        if [ ! -d "$old" ] || [ -L "$old" ] || [ ! -f "$old/pid" ]; then continue; fi
        read -r pid <"$old/pid" || continue
        case $pid in '' | *[!0-9]*) continue ;; esac
        if kill -0 "$pid" 2>/dev/null; then continue; fi
        rm -rf "$old/built"
        rm -f "$old/SHA256SUMS" "$old/$name" "$old/pid"
        rmdir "$old" 2>/dev/null || :
    done
}

# Another copy that a shell finds before the one in $dir, or none.
earlier_copy() {
    there=$(command -v "$name" 2>/dev/null) || return 0
    case $there in
        /*) ;;
        *) return 0 ;;
    esac
    ours=$(CDPATH='' cd -P -- "$dir" && pwd -P) || return 0
    theirs=$(CDPATH='' cd -P -- "${there%/*}/" && pwd -P) || return 0
    if [ "$ours" != "$theirs" ]; then say "$there"; fi
}

install() {
    how="build $checkout with cargo"
    if [ -z "$checkout" ]; then
        check_base_url
        how="download ${version:-the newest release} for $(target) from $base_url"
    fi
    check_home
    if [ -n "$dry_run" ]; then
        say "Would $how"
        say "Would put it at $dir/$name"
        if [ -n "$shim" ]; then say "Would run: $(quoted "$dir/$name") shim install"; fi
        return
    fi
    mkdir -p "$dir" 2>/dev/null || fail "could not make the folder $dir" "choose another one: --dir DIR"
    if [ -d "$dir/$name" ]; then fail "$dir/$name is a folder" "move it away, or choose another place: --dir DIR"; fi
    sweep
    # Beside its place, so that the last step is a rename: all or nothing.
    staging=$(mktemp -d "$dir/.$name-XXXXXX" 2>/dev/null) ||
        fail "could not write into $dir" "choose another folder: --dir DIR"
    trap 'rm -rf "$staging"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    say $$ >"$staging/pid" || fail "could not write into $dir" "choose another folder: --dir DIR"
    if [ -n "$checkout" ]; then build "$staging"; else download "$staging"; fi
    chmod 755 "$staging/$name"
    shown=$("$staging/$name" --version) ||
        fail "the new binary does not run on this machine" "nothing was changed; build it in a checkout: ./install.sh"
    mv -f "$staging/$name" "$dir/$name" || fail "could not replace $dir/$name" "nothing was changed"
    say "Installed $shown to $dir/$name"
    if [ -n "$shim" ]; then "$dir/$name" shim install; fi
    earlier=$(earlier_copy)
    if [ -n "$earlier" ]; then
        say "Another copy comes first on PATH: $earlier"
        say "  Remove it, or put $dir before its folder. This one by its path:"
    fi
    case "${earlier:+/}:$PATH:" in
        ":"*":$dir:"*) next $name ;;
        "/"*":$dir:"*) next "$(quoted "$dir/$name")" ;;
        *)
            say "$dir is not on PATH. In your shell's file:"
            say "  export PATH=$(quoted "$dir"):\"\$PATH\""
            next "$(quoted "$dir/$name")"
            ;;
    esac
}

# The same next step as after `try`; it says what is missing.
next() {
    lead=Next
    if [ "$(uname -s)" = Linux ]; then
        say "Next, with boxes on this machine: $1 setup herdr --provider local"
        lead=or
    fi
    say "$lead, with CreateOS microVMs: $1 setup herdr"
}

# Whether Herdr is set up with this program: a setup is on record, or the registry names our plugin's folder.
is_set_up() { # is_set_up DATA
    if [ -f "$1/receipts/herdr.json" ]; then return 0; fi
    registry=${XDG_CONFIG_HOME:-${HOME:-}/.config}/herdr/plugins.json
    [ -f "$registry" ] || return 1
    while read -r line || [ -n "$line" ]; do
        case $line in
            *"$1/herdr-plugin"*) return 0 ;;
        esac
    done <"$registry"
    return 1
}

uninstall() {
    if [ ! -e "$dir/$name" ] && [ ! -L "$dir/$name" ]; then
        say "There is no $dir/$name to remove."
        return
    fi
    data=${XDG_DATA_HOME:-${HOME:-}/.local/share}/$name
    if [ -z "$force" ] && is_set_up "$data"; then
        fail "Herdr is still set up with $name; nothing was removed, which only --force would do" "first: $name setup herdr --undo"
    fi
    check_home
    if [ -n "$dry_run" ]; then
        say "Would run: $(quoted "$dir/$name") shim remove"
        say "Would remove $dir/$name"
        return
    fi
    "$dir/$name" shim remove >/dev/null 2>&1 || say "The link that --shim makes could not be removed."
    rm -f "$dir/$name" || fail "could not remove $dir/$name"
    say "Removed $dir/$name"
    if [ -d "$data" ]; then
        say "$data stays: it holds what undo needs, kept patches and local boxes."
    fi
}

main() {
    dir='' version='' checkout='' shim='' dry_run='' force='' action=install from_release=''
    while [ $# -gt 0 ]; do
        option=$1
        case $option in
            --dir=* | --version=* | --base-url=*)
                value=${option#*=}
                option=${option%%=*}
                ;;
            --dir | --version | --base-url)
                [ $# -gt 1 ] || wrong_use "$option needs a value"
                value=$2
                shift
                ;;
        esac
        shift
        case $option in
            --dir) dir=$value ;;
            --version) version=${value#v} from_release=yes ;;
            --base-url) base_url=${value%/} from_release=yes ;;
            --shim) shim=yes ;;
            --dry-run) dry_run=yes ;;
            --uninstall) action=uninstall ;;
            --force) force=yes ;;
            -h | --help)
                usage
                exit 0
                ;;
            *) wrong_use "unknown option: $option" ;;
        esac
    done
    case $version in
        *[!0-9A-Za-z.+-]*) wrong_use "this is no version: $version" ;;
    esac
    if [ -z "$dir" ]; then
        [ -n "${HOME:-}" ] || fail "HOME is not set" "pass --dir DIR"
        dir=$HOME/.local/bin
    fi
    case $dir in
        /*) ;;
        *) dir=$PWD/$dir ;;
    esac
    # A checkout is where this file lies, not where it is run; piped into a shell it lies nowhere.
    case $0 in
        */*)
            here=$(CDPATH='' cd -- "${0%/*}" && pwd) || here=''
            if [ -z "$from_release" ] && [ -n "$here" ] && [ -f "$here/Cargo.toml" ]; then checkout=$here; fi
            ;;
        install.sh) if [ -z "$from_release" ] && [ -f "$PWD/Cargo.toml" ] && [ -f "$PWD/$0" ]; then checkout=$PWD; fi ;;
    esac
    "$action"
}

# The last line, so that a script that arrived half does nothing.
main "$@"
