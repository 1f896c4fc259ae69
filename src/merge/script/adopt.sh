# adopt TOKEN: what the workspace of a box was started from, as the box knows it: the base that our own store has,
# else the newest commit in which the earlier plugin wrote down what was in step, else nothing.
token=$1

# A box of ours has its workspace somewhere else then.
[ -d "$root" ] || [ ! -f "$store/prepared" ] || stop workspace "$root"
[ -d "$root" ] || stop gone "$root"
(umask 077 && mkdir -p "$store/layers") || stop folder "$store"
say store "$store"
rm -rf "$store"/adopt-*
work=$store/adopt-$token
mkdir -m 700 "$work" "$work/tree" || stop folder "$work"
say list "$work/base.list"

if [ -f "$store/prepared" ] && [ -f "$store/base.list" ]; then
    cp "$store/base.list" "$work/base.list" || stop folder "$work"
    exit 0
fi

# An amended or rebased one holds work of the agent's: its two dates differ.
commit=
if [ -e "$root/.git" ]; then
    commit=$(git -C "$root" -c log.showSignature=false --no-pager log --all --reflog \
        --format='%ct %at %H %ae %s' 2>/dev/null |
        while read -r committed written hash author subject; do
            [ "$committed" = "$written" ] && [ "$author" = herdr@createos.local ] || continue
            case $subject in herdr-baseline | herdr-apply) printf '%s %s\n' "$committed" "$hash" ;; esac
        done | sort -srn -k1,1 | head -n 1)
    commit=${commit#* }
fi
: >"$work/base.list" || stop folder "$work"
[ -n "$commit" ] || exit 0

# Its files as the bytes that they are, whatever the repository's attributes and settings say.
export_tree() {
    local objects
    objects=$(cd "$root" && cd "$(git rev-parse --git-path objects)" && pwd -P) || return
    git init -q --bare --template= "$work/git" || return
    mkdir -p "$work/git/info" || return
    printf '* -text -eol -filter -ident -working-tree-encoding\n' >"$work/git/info/attributes" || return
    export GIT_DIR=$work/git GIT_WORK_TREE=$work/tree GIT_INDEX_FILE=$work/index
    export GIT_ALTERNATE_OBJECT_DIRECTORIES=$objects GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
    cd "$work/tree" && git read-tree "$commit" && git -c core.bare=false checkout-index -qa
}
complaint=$( (export_tree) 2>&1) || stop listing "$complaint"

cd "$work/tree" || stop folder "$work"
{
    find . -type f -perm -100 -print0 | xargs -0r sha256sum -z -- | sed -z 's,^\([0-9a-f]*\) [ *]\./,100755 \1 ,'
    find . -type f ! -perm -100 -print0 | xargs -0r sha256sum -z -- | sed -z 's,^\([0-9a-f]*\) [ *]\./,100644 \1 ,'
    find . -type l -print0 | while IFS= read -r -d '' name; do
        hash=$(readlink -n -- "$name" | sha256sum)
        printf '120000 %s %s\0' "${hash%% *}" "${name:2}"
    done
} >"$work/base.list" || stop folder "$work"
# The contents that the next merge starts from.
[ -f "$store/layers/0000.tgz" ] ||
    tar -czf "$store/layers/0000.tgz" --format=gnu --owner=0 --group=0 --numeric-owner . || stop pack "$work"
rm -rf "$work/tree" "$work/git" "$work/index"
