# Root of a user namespace of its own, with a network and mounts of its own: a machine with one wire, and at its other end
# all of the internet that there is. Says the process whose namespaces are the machine's, and goes when stdin ends.
set -e
mount --make-rprivate /
mount --bind "$1/hosts" /etc/hosts
mount --bind "$1/resolv.conf" /etc/resolv.conf
mount --bind "$1/nsswitch.conf" /etc/nsswitch.conf
ip link set lo up
unshare -n sleep infinity &
internet=$!
until [ "$(readlink /proc/$internet/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
ip link add wire type veth peer name wire netns "$internet"
ip link set wire up
ip addr add 11.0.0.1/30 dev wire
ip -6 addr add 2600:1::1/64 dev wire nodad
there() { nsenter -t "$internet" -n "$@"; }
there ip link set lo up
there ip link set wire up
there ip addr add 11.0.0.2/30 dev wire
there ip -6 addr add 2600:1::2/64 dev wire nodad
for address in 1.2.3.4 1.2.3.5 10.0.0.5 169.254.169.254; do there ip addr add "$address/32" dev lo; done
there ip -6 addr add 2600:2::5/128 dev lo nodad
ip route add default via 11.0.0.2
ip -6 route add default via 2600:1::2
# Without the function, which would be a shell of its own between the two.
nsenter -t "$internet" -n perl "$1/serve.pl" > "$1/serves" 2> /dev/null &
servers=$!
until grep -q serves "$1/serves"; do sleep 0.05; done
# No root there either: a namespace in which this user is an ordinary one.
unshare -U --map-user=1000 --map-group=1000 sleep infinity &
machine=$!
until [ "$(readlink /proc/$machine/ns/user)" != "$(readlink /proc/self/ns/user)" ]; do sleep 0.05; done
echo "$$ $machine"
read -r _ || true
{ kill "$machine" "$internet" "$servers"; wait; } 2> /dev/null
