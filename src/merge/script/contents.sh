# contents TOKEN WANTED: the base's contents of some paths, found by hash in the layers of the store.
# WANTED holds `HASH PATH` records; the parcel holds each that was found under its number.
token=$1 wanted=$2

say store "$store"
work=$store/contents-$token
mkdir -m 700 "$work" "$work/out" || stop folder "$work"
mv -f "$wanted" "$work/wanted" || stop list "$wanted"
sed -z 's,^[0-9a-f]* \(.*\)$,\1\x00./\1,' "$work/wanted" >"$work/names"

layers=()
for layer in "$store"/layers/*.tgz; do
    [ -f "$layer" ] || continue
    place=$work/layer-${#layers[@]}
    mkdir "$place" || stop folder "$place"
    # Most layers hold only some of them, and tar says so with an error.
    tar -xf "$layer" -C "$place" --no-same-owner --null -T "$work/names" 2>/dev/null
    layers=("$place" ${layers[@]+"${layers[@]}"}) # the newest first
done
number=0
while IFS= read -r -d '' record; do
    for place in ${layers[@]+"${layers[@]}"}; do
        found=$place/${record:65}
        [ -f "$found" ] && [ ! -L "$found" ] || continue
        [ "$(hash_of "$found")" = "${record:0:64}" ] || continue
        mv -f "$found" "$work/out/$number"
        break
    done
    number=$((number + 1))
done <"$work/wanted"
tar -czf "$work/parcel.tgz" --format=gnu --owner=0 --group=0 --numeric-owner -C "$work/out" . ||
    stop pack "$work"
say parcel "$work/parcel.tgz"
