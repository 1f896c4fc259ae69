# prepare ARCHIVE LIST LIST-HASH FILES NAME EMAIL: the archive becomes the workspace and the first layer of the store.
archive=$1 list=$2 list_hash=$3 files=$4 name=$5 email=$6
exec 3>&1

counted() { # counted WHAT: says after each thousand lines that so many files are done
    local number
    sed -un '0~1000=' | while IFS= read -r number; do say progress "$1 $number of $files files"; done >&3
}

(umask 077 && mkdir -p "$store") && chmod 700 "$store" || stop folder "$store"
prepared=$store/prepared preparing=$store/preparing

if [ "$(cat "$prepared" 2>/dev/null)" = "$root $list_hash" ] && [ -d "$root/.git" ]; then
    rm -f "$archive" "$list" # a retry whose first answer was lost
    say commit "$(git -C "$root" rev-parse HEAD 2>/dev/null)"
    exit 0
fi
if [ "$(cat "$preparing" 2>/dev/null)" = "$root" ]; then
    # A try of ours that was cut short; everything in there is ours.
    [ ! -d "$root" ] || find "$root" -mindepth 1 -maxdepth 1 -exec rm -rf {} + || stop folder "$root"
elif [ -d "$root" ] && [ -n "$(find "$root" -mindepth 1 -maxdepth 1 -print -quit)" ]; then
    stop occupied "$root"
fi
mkdir -p "$root" && [ -w "$root" ] || stop folder "$root"
printf '%s' "$root" >"$preparing" || stop folder "$store"
rm -f "$prepared"

mkdir -p "$store/layers" || stop folder "$store"
if [ -f "$archive" ]; then
    rm -rf "$store/layers" && mkdir "$store/layers" || stop folder "$store"
    mv -f "$archive" "$store/layers/part" && mv -f "$store/layers/part" "$store/layers/0000.tgz" ||
        stop folder "$store/layers"
fi
[ -f "$store/layers/0000.tgz" ] || stop archive "$archive"
[ -f "$list" ] && mv -f "$list" "$store/base.list"
[ "$(hash_of "$store/base.list")" = "$list_hash" ] || stop list "$store/base.list"

say progress "unpacking $files files"
complaint=$({
    tar -xzvf "$store/layers/0000.tgz" -C "$root" --no-same-owner | counted unpacked
    exit "${PIPESTATUS[0]}"
} 2>&1) || stop unpack "$complaint"

cd "$root" || stop folder "$root"
pins=(-c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.safecrlf=false -c gc.auto=0
    -c maintenance.auto=false -c commit.gpgSign=false -c advice.addEmbeddedRepo=false)
complaint=$(git -c init.defaultBranch=main init -q 2>&1) || stop repository "$complaint"
# For every repository of the box, where its user has a place for that; else for this one.
identity() { git config "$1" >/dev/null || git config --global "$1" "$2" 2>/dev/null || git config "$1" "$2"; }
identity user.name "${name:-Sandbox agent}" || stop repository identity
identity user.email "${email:-agent@sandbox.invalid}" || stop repository identity

say progress "recording $files files as the base"
baseline() {
    {
        git "${pins[@]}" add -A -f -v | counted recorded
        [ "${PIPESTATUS[0]}" = 0 ]
    } 2>&1 &&
        git "${pins[@]}" commit -q --no-verify --allow-empty -m 'Baseline: the worktree as it was uploaded' 2>&1
}
if ! complaint=$(baseline); then
    # A filter whose program the image lacks, or an encoding that the files do not have. The agent's git
    # has to work all the same: this repository takes all files as the bytes that they are.
    mkdir -p .git/info && printf '* -text -eol -filter -ident -working-tree-encoding\n' >.git/info/attributes
    complaint=$(baseline) || stop repository "$complaint"
fi

git rev-parse HEAD >"$store/baseline"
printf '%s' "$root $list_hash" >"$prepared" && rm -f "$preparing"
say commit "$(git rev-parse HEAD)"
