# keep TOKEN LIST: the parcel that was brought home becomes the newest layer, the list the new base's.
token=$1 list=$2

parcel=$store/fetch-$token/parcel.tgz
mkdir -p "$store/layers" || stop folder "$store"
[ ! -f "$list" ] || mv -f "$list" "$store/base.list" || stop folder "$store"
if [ -f "$parcel" ]; then
    count=0 newest=0
    for layer in "$store"/layers/*.tgz; do
        [ -f "$layer" ] || continue
        name=${layer##*/}
        newest=$((10#${name%.tgz}))
        count=$((count + 1))
    done
    printf -v name '%04d.tgz' $((newest + 1))
    mv -f "$parcel" "$store/layers/$name" || stop folder "$store/layers"
    if [ "$count" -ge 40 ]; then
        # Many small layers become one; the first, the upload, stays as it is.
        joined=$store/joined
        rm -rf "$joined" && mkdir "$joined" || stop folder "$joined"
        for layer in "$store"/layers/*.tgz; do
            case $layer in */0000.tgz) continue ;; esac
            tar -xf "$layer" -C "$joined" --no-same-owner --recursive-unlink 2>/dev/null
        done
        tar -czf "$store/joined.tgz" --format=gnu -C "$joined" . || stop pack "$joined"
        for layer in "$store"/layers/*.tgz; do
            case $layer in */0000.tgz) ;; *) rm -f "$layer" ;; esac
        done
        mv -f "$store/joined.tgz" "$store/layers/0001.tgz"
        rm -rf "$joined"
    fi
fi
rm -rf "$store/fetch-$token" "$store"/contents-*
say kept yes
