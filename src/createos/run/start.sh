# Runs a command in the folder $2: $3, or what was pushed to $1.cmd. The folder $1 gets its output as `out`, its process
# group as `pid` and at last its exit code as `rc`. There is one run for a folder: a start whose answer was lost may be
# repeated.
d=$1 w=$2
mkdir -m 700 "${d%/*}" 2>/dev/null
mkdir -m 700 "$d" 2>/dev/null || { [ -d "$d" ] && exit 75; exit 76; }
: >"$d/out" && mkfifo "$d/pipe" "$d/wake" || exit 76
# Somebody who follows a run gives up earlier than that.
for f in "${d%/*}"/*/rc; do
    [ -z "$(find "$f" -mmin +15 2>/dev/null)" ] || rm -rf "${f%/rc}"
done
# By a pipe: a program that opens /dev/stderr anew would cut the file.
cat <"$d/pipe" >>"$d/out" &
k=$!
cd -- "${w:-$HOME}" 2>/dev/null || cd /
# A group of its own, so that all of it can be ended.
set -m
if [ "$#" -gt 2 ]; then
    bash -c "$3" </dev/null >"$d/pipe" 2>&1 &
else
    mv "$d.cmd" "$d/cmd"
    bash "$d/cmd" </dev/null >"$d/pipe" 2>&1 &
fi
p=$!
set +m
trap 'kill -TERM -- "-$p" 2>/dev/null' TERM INT HUP
printf '%d\n' "$p" >"$d/pid.new" && mv "$d/pid.new" "$d/pid"
wait "$p"
c=$?
while kill -0 "$p" 2>/dev/null; do
    wait "$p"
    c=$?
done
# What it has left in the pipe; a program that it leaves behind may hold that open for ever.
n=0
while kill -0 "$k" 2>/dev/null && [ "$n" -lt 100 ]; do
    n=$((n + 1))
    sleep 0.01
done
printf '%d\n' "$c" >"$d/rc.new" && mv "$d/rc.new" "$d/rc"
exec 9<>"$d/wake"
printf '\n' >&9
# Whoever follows has a moment to read it: with the last one who has it open it is gone.
sleep 0.1
