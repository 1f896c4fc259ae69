# Shows the run in the folder $2 from byte $3 of its output on, in frames that begin with $1: `b` at the beginning,
# `d AT COUNT` before so many bytes in base64, `h` every five seconds, `e CODE AT` at the end; `q` when $4 seconds
# are silent, `g` when there is no such run, `x NAME` when a program is missing.
m=$1 d=$2 at=$3 quiet=$4
printf '%s b\n' "$m"
command -v base64 >/dev/null 2>&1 || {
    printf '%s x base64\n' "$m"
    exit 0
}
n=0
while [ ! -e "$d/pid" ]; do
    n=$((n + 1))
    [ "$n" -le 500 ] || {
        printf '%s g\n' "$m"
        exit 0
    }
    sleep 0.02
done
exec 9<>"$d/wake"
last=$SECONDS beat=$SECONDS nap=0.01
while :; do
    c=
    # Before the size: what comes after the end is none of it.
    [ ! -f "$d/rc" ] || read -r c <"$d/rc"
    size=$(wc -c <"$d/out") || {
        printf '%s g\n' "$m"
        exit 0
    }
    while [ "$size" -gt "$at" ]; do
        n=$((size - at))
        [ "$n" -le 1048572 ] || n=1048572
        printf '%s d %d %d\n' "$m" "$at" "$n"
        tail -c "+$((at + 1))" "$d/out" | head -c "$n" | base64 -w 76
        at=$((at + n)) last=$SECONDS beat=$SECONDS nap=0.01
    done
    [ -z "$c" ] || {
        printf '%s e %d %d\n' "$m" "$c" "$at"
        exit 0
    }
    [ "$((SECONDS - beat))" -lt 5 ] || {
        printf '%s h\n' "$m"
        beat=$SECONDS
    }
    [ "$((SECONDS - last))" -lt "$quiet" ] || {
        printf '%s q\n' "$m"
        exit 0
    }
    # A sleep that needs no program, and ends with the run.
    read -r -t "$nap" -u 9 _
    case $nap in
    0.01) nap=0.02 ;;
    0.02) nap=0.05 ;;
    0.05) nap=0.1 ;;
    *) nap=0.2 ;;
    esac
done
