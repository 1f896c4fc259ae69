# list TOKEN LIST LIST-HASH LIMIT PACKED-LIMIT: what differs from the base, packed into one parcel in the store.
# The agent's repository has no part in it: a private index of the base's paths, the ignore files of
# the workspace, the bytes on disk.
token=$1 list=$2 list_hash=$3 limit=$4 packed_limit=$5

[ -d "$root" ] || stop gone "$root"
(umask 077 && mkdir -p "$store") || stop folder "$store"
say store "$store"
[ ! -f "$list" ] || mv -f "$list" "$store/base.list" || stop folder "$store"
[ "$(hash_of "$store/base.list")" = "$list_hash" ] || stop list "$store/base.list"

# Parcels of fetches that were never applied: the last two may still be under review.
find "$store" -maxdepth 1 -name 'fetch-*' -printf '%T@ %f\n' | sort -rn | tail -n +3 | cut -d' ' -f2 |
    while IFS= read -r old; do rm -rf "${store:?}/$old"; done
work=$store/fetch-$token
meta=$work/.createos-sandbox
mkdir -m 700 "$work" "$meta" || stop folder "$work"
cd -P "$root" || stop gone "$root"

list_names() {
    export GIT_DIR=$store/list.git GIT_WORK_TREE=$root GIT_INDEX_FILE=$work/index
    export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
    [ -d "$GIT_DIR" ] || git init -q --template= || return
    sed -z 's,^\([0-9]*\) [0-9a-f]* ,\1 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\t,' "$store/base.list" |
        git update-index -z --index-info || return
    git -c core.fsmonitor=false -c core.untrackedCache=false ls-files -z --cached --others --exclude-standard
}
(list_names) >"$work/all" 2>"$work/errors" || stop listing "$(tail -n 3 "$work/errors")"
# git names a repository inside the workspace with a trailing slash and does not look into it.
sed -zn 's,/$,,p' "$work/all" >"$meta/nested"
sed -z '/\/$/d; s,^,./,' "$work/all" | sort -zu >"$work/names"

# A path of the base whose folder has become a link is gone; what the link leads to is not it.
sed -z 's,/[^/]*$,,' "$work/names" | sort -zu >"$work/folders"
sed -z 's,^\./,,' "$work/folders" | sort -z >"$work/folders.written"
xargs -0r realpath -zm --relative-to=. -- <"$work/folders" 2>/dev/null | sort -z >"$work/folders.real"
comm -z -23 "$work/folders.written" "$work/folders.real" >"$work/behind"
if [ -s "$work/behind" ]; then
    declare -A behind=()
    while IFS= read -r -d '' folder; do behind["./$folder"]=1; done <"$work/behind"
    while IFS= read -r -d '' name; do
        folder=${name%/*}
        [ -n "${behind[$folder]+behind}" ] || printf '%s\0' "$name"
    done <"$work/names" >"$work/names.real"
    mv "$work/names.real" "$work/names"
fi

# What each name is: x executable, f file, l link (its target follows as t).
xargs -0r bash -c 'find "$@" -maxdepth 0 \( -type f -perm -100 -printf "x%p\0" -o -type f -printf "f%p\0" \
    -o -type l -printf "l%p\0t%l\0" \)' find <"$work/names" >"$work/found" 2>>"$work/errors"
# Something that cannot be read is not gone.
denied=$(grep -am1 'Permission denied' "$work/errors") && stop unreadable "$denied"

sed -zn 's,^x,,p' "$work/found" >"$work/executables"
sed -zn 's,^f,,p' "$work/found" >"$work/files"
xargs -0r sha256sum -z -- <"$work/executables" 2>/dev/null |
    sed -z 's,^\([0-9a-f]*\) [ *]\./,100755 \1 ,' >"$work/theirs"
xargs -0r sha256sum -z -- <"$work/files" 2>/dev/null |
    sed -z 's,^\([0-9a-f]*\) [ *]\./,100644 \1 ,' >>"$work/theirs"

mkdir "$work/targets"
links=()
while IFS= read -r -d '' name && IFS= read -r -d '' target; do
    printf '%s' "${target:1}" >"$work/targets/${#links[@]}"
    links+=("${name:3}")
done < <(sed -zn '/^[lt]/p' "$work/found")
for ((i = 0; i < ${#links[@]}; i++)); do printf '%s\0' "$i"; done >"$work/numbers"
i=0
while IFS= read -r -d '' line; do
    printf '120000 %s %s\0' "${line:0:64}" "${links[i]}"
    i=$((i + 1))
done < <(cd "$work/targets" && xargs -0r sha256sum -z -- <"$work/numbers") >>"$work/theirs"

sort -z "$work/theirs" -o "$work/theirs"
sort -z "$store/base.list" >"$work/base"
comm -z -13 "$work/base" "$work/theirs" >"$meta/changed"

sed -z 's,^[0-9]* [0-9a-f]* ,,' "$work/theirs" | sort -z >"$work/hashed"
sed -zn 's,^[xfl]\./,,p' "$work/found" | sort -z >"$work/here"
sed -z 's,^[0-9]* [0-9a-f]* ,,' "$store/base.list" | sort -z >"$work/known"
comm -z -23 "$work/here" "$work/hashed" >"$meta/unreadable"
comm -z -23 "$work/known" "$work/here" >"$meta/gone"

if [ ! -s "$meta/changed" ] && [ ! -s "$meta/gone" ] && [ ! -s "$meta/nested" ] && [ ! -s "$meta/unreadable" ]; then
    rm -rf "$work"
    say parcel none
    exit 0
fi

sed -z 's,^[0-9]* [0-9a-f]* ,./,' "$meta/changed" >"$work/wanted"
if [ -s "$work/wanted" ]; then
    size=$(du -lbc0 --files0-from="$work/wanted" 2>/dev/null | tail -zn 1 | cut -f1 | tr -d '\0')
    [ "${size:-0}" -le "$limit" ] || stop large "$size"
fi
# Media and archives do not get smaller, and trying takes most of the time: a sample of the larger files
# decides. What will not fit the transfer's limit is refused before it is packed.
packer='gzip -1'
if [ "${size:-0}" -gt 16000000 ]; then
    xargs -0r bash -c 'find "$@" -maxdepth 0 -type f -size +512k -print0' find <"$work/wanted" 2>/dev/null >"$work/big"
    head -zn 256 "$work/big" | xargs -0r head -qc 65536 -- >"$work/sample" 2>/dev/null
    tried=$(gzip -1 <"$work/sample" | wc -c)
    if [ "$tried" -gt $(($(wc -c <"$work/sample") * 19 / 20)) ]; then
        big=$(du -lbc0 --files0-from="$work/big" 2>/dev/null | tail -zn 1 | cut -f1 | tr -d '\0')
        [ $((${big:-0} * 19 / 20)) -le "$packed_limit" ] || stop packed "$big"
        [ $((size + size / 20)) -gt "$packed_limit" ] || packer="cat"
    fi
fi
# A file that changes meanwhile is noticed by whoever hashes it again.
tar -cf - --format=gnu --hard-dereference --no-recursion --owner=0 --group=0 --numeric-owner \
    -C "$work" .createos-sandbox/{changed,gone,nested,unreadable} -C "$PWD" --null -T "$work/wanted" 2>>"$work/errors" |
    $packer >"$work/parcel.tgz" || stop pack "$(tail -n 3 "$work/errors")"
packed=$(wc -c <"$work/parcel.tgz")
[ "$((packed))" -le "$packed_limit" ] || stop packed "$((packed))"
say parcel "$work/parcel.tgz"
