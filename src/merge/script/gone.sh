# gone LIST: which paths of LIST (a zero byte behind each) are files or links on the disk after all. Only words
# of the shell itself: a `git`, `find`, `sort` or `tar` that is broken, or lies, has no part in it. In posix mode
# no function of a profile stands before `unset`.
POSIXLY_CORRECT=1
unset -f unset read printf command
list=$1 looked=0 there=0 first=

while IFS= read -r -d '' path; do
    looked=$((looked + 1))
    [[ -f $root/$path || -L $root/$path ]] || continue
    # What a folder that became a link leads to is not the path.
    folder=$path behind=
    while [[ $folder == */* ]]; do
        folder=${folder%/*}
        [[ ! -L $root/$folder ]] || behind=1
    done
    [[ -z $behind ]] || continue
    [[ -n $first ]] || first=$looked
    there=$((there + 1))
done <"$list"
command -p rm -f "$list"
say store "$store"
say looked "$looked"
say there "$there"
say first "$first"
