//! What a program in a box tries, each with the answer that it has to get.

use std::fmt;

/// What comes of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It fails.
    Refused,
    /// There is no such thing.
    Absent,
    /// It is there, with nothing in it.
    Empty,
    /// It works, and says this.
    Says(&'static str),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => f.write_str("refused"),
            Self::Absent => f.write_str("not there"),
            Self::Empty => f.write_str("empty"),
            Self::Says(words) => write!(f, "`{words}`"),
        }
    }
}

/// One attempt: a script of bash with the functions of the runner.
#[derive(Debug, Clone)]
pub struct Attempt {
    pub wall: &'static str,
    pub what: String,
    pub script: String,
    pub answer: Answer,
    /// The same works outside of a box, for this user too: what a machine lacks proves nothing.
    pub bites: bool,
}

/// Where things of the host are that only this run knows.
pub struct Host {
    /// A port of its loopback at which a server says hello.
    pub port: u16,
    /// A process of it.
    pub pid: u32,
    /// A file of its user's.
    pub secret: String,
    /// The name of a socket without a path.
    pub socket: String,
}

struct List {
    wall: &'static str,
    all: Vec<Attempt>,
}

impl List {
    fn wall(&mut self, wall: &'static str) {
        self.wall = wall;
    }

    fn add(&mut self, what: impl Into<String>, script: impl Into<String>, answer: Answer) {
        let (what, script) = (what.into(), script.into());
        self.all.push(Attempt { wall: self.wall, what, script, answer, bites: false });
    }

    /// One that works outside.
    fn proven(&mut self, what: impl Into<String>, script: impl Into<String>, answer: Answer) {
        self.add(what, script, answer);
        self.all.last_mut().expect("it was added").bites = true;
    }
}

/// All of them.
pub fn attempts(host: &Host) -> Vec<Attempt> {
    let mut list = List { wall: "", all: Vec::new() };
    files(&mut list, host);
    switches(&mut list);
    rights(&mut list);
    namespaces(&mut list);
    calls(&mut list);
    sockets(&mut list);
    processes(&mut list, host);
    network(&mut list, host);
    limits(&mut list);
    list.all
}

fn files(list: &mut List, host: &Host) {
    list.wall("files of the host");
    list.proven("read a file of the user's", format!("cat '{}'", host.secret), Answer::Absent);
    list.proven("list the user's folder", format!("ls \"$(dirname '{}')\"", host.secret), Answer::Absent);
    for path in [
        "/etc/shadow",
        "/etc/gshadow",
        "/etc/sudoers",
        "/etc/ssh",
        "/etc/ssl/private",
        "/etc/machine-id",
        "/etc/crontab",
        "/etc/systemd",
        "/etc/NetworkManager",
        "/root",
        "/boot",
        "/run/dbus",
        "/run/systemd",
        "/run/user",
        "/var/run/docker.sock",
        "/run/containerd",
        "/var/lib/docker",
        "/var/spool",
        "/var/backups",
        "/lost+found",
        "/media",
        "/snap",
    ] {
        list.add(format!("read `{path}`"), format!("cat {path} || ls {path}"), Answer::Absent);
    }
    for path in ["/sys", "/opt", "/srv", "/mnt", "/usr/etc", "/usr/local/etc"] {
        list.add(format!("list `{path}`"), format!("test ! -e {path} || ls -A {path}"), Answer::Empty);
    }
    for device in [
        "sda",
        "vda",
        "nvme0n1",
        "mem",
        "kmem",
        "port",
        "kmsg",
        "kvm",
        "fuse",
        "net/tun",
        "loop0",
        "loop-control",
        "mapper",
        "dri",
        "snd",
        "input",
        "tty0",
        "tty1",
        "console",
        "vsock",
        "vhost-net",
        "uinput",
        "hugepages",
        "mqueue",
    ] {
        list.add(format!("find `/dev/{device}`"), format!("ls -d /dev/{device}"), Answer::Absent);
    }
    for path in [
        "/usr",
        "/usr/bin",
        "/usr/lib",
        "/usr/local",
        "/bin",
        "/sbin",
        "/lib",
        "/etc",
        "/dev",
        "/proc",
        "/sys",
    ] {
        list.add(
            format!("make a file in `{path}`"),
            format!("touch {path}/createos-sandbox-probe"),
            Answer::Refused,
        );
    }
    list.add("change the mode of `/usr/bin/env`", "chmod 777 /usr/bin/env", Answer::Refused);
    list.add("remove `/usr/bin/env`", "rm -f /usr/bin/env", Answer::Refused);
    list.add("write to `/etc/passwd`", "echo x >> /etc/passwd", Answer::Refused);
    list.add("write to a device node's neighbour", "echo x > /dev/sda", Answer::Refused);
    list.proven("see the environment of who starts it", "printenv HOST_TOKEN", Answer::Absent);
}

fn switches(list: &mut List) {
    list.wall("switches of the kernel");
    for name in [
        "kernel/core_pattern",
        "kernel/modprobe",
        "kernel/hostname",
        "kernel/panic",
        "kernel/sysrq",
        "kernel/pid_max",
        "kernel/randomize_va_space",
        "kernel/unprivileged_bpf_disabled",
        "vm/drop_caches",
        "vm/overcommit_memory",
        "fs/file-max",
        "fs/suid_dumpable",
        "user/max_user_namespaces",
        "net/ipv4/ip_forward",
        "net/ipv4/ping_group_range",
    ] {
        let written = format!("test -e /proc/sys/{name} && echo 1 > /proc/sys/{name}");
        list.add(format!("write to `/proc/sys/{name}`"), written, Answer::Refused);
    }
    list.add(
        "write to `/proc/irq/default_smp_affinity`",
        "echo 1 > /proc/irq/default_smp_affinity",
        Answer::Refused,
    );
    list.add("lower the badness of PID 1", "echo -1000 > /proc/1/oom_score_adj", Answer::Refused);
    for name in ["kcore", "kallsyms", "kmsg", "keys", "key-users", "timer_list", "sched_debug"] {
        let script = format!("test ! -e /proc/{name} || cat /proc/{name} | head -c 100");
        list.add(format!("read `/proc/{name}`"), script, Answer::Empty);
    }
    list.add(
        "ask for a reboot by `/proc/sysrq-trigger`",
        "echo b > /proc/sysrq-trigger && test -s /proc/sysrq-trigger",
        Answer::Refused,
    );
    for name in ["acpi", "scsi"] {
        list.add(
            format!("list `/proc/{name}`"),
            format!("test ! -e /proc/{name} || ls -A /proc/{name}"),
            Answer::Empty,
        );
    }
}

fn rights(list: &mut List) {
    list.wall("rights");
    list.add("be somebody", "id -u", Answer::Says("1000"));
    let sets = "grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | grep -v '\t0000000000000000$'; true";
    list.add("have a capability", sets, Answer::Empty);
    list.add("gain rights by what it runs", "grep NoNewPrivs /proc/self/status | cut -f2", Answer::Says("1"));
    list.add(
        "run under a filter of calls",
        "grep '^Seccomp:' /proc/self/status | cut -f2",
        Answer::Says("2"),
    );
    for (what, number, argument) in [
        ("become root by setuid", libc::SYS_setuid, 0),
        ("become root by setresuid", libc::SYS_setresuid, 0),
        ("become another user", libc::SYS_setuid, 1001),
        ("become root's group", libc::SYS_setgid, 0),
    ] {
        list.add(what, format!("sc {number} {argument} {argument} {argument}"), Answer::Refused);
    }
    list.add(
        "join groups",
        format!("sc {} 1 \"\\x00\\x00\\x00\\x00\"", libc::SYS_setgroups),
        Answer::Refused,
    );
    list.add(
        "run a program as its owner root",
        "cp /usr/bin/id /tmp/id; chmod 4755 /tmp/id; /tmp/id -u",
        Answer::Says("1000"),
    );
    list.add("run `su`", "su -c id root", Answer::Refused);
    list.add("run `sudo`", "sudo -n id", Answer::Refused);
    list.add("give a file to root", "touch /tmp/given; chown 0 /tmp/given", Answer::Refused);
    list.add("make a character device", "mknod /tmp/null c 1 3", Answer::Refused);
    list.add("make a block device", "mknod /tmp/disk b 8 0", Answer::Refused);
    list.add(
        "give a program capabilities",
        "cp /usr/bin/id /tmp/cap; setcap cap_net_raw+ep /tmp/cap",
        Answer::Refused,
    );
    list.add("raise its priority", "nice -n -5 true 2>&1 | grep -q annot && false", Answer::Refused);
    list.add("become a realtime program", "chrt -f 50 true", Answer::Refused);
}

fn namespaces(list: &mut List) {
    list.wall("namespaces and mounts");
    for (flag, what) in [
        ("-U", "user"),
        ("-m", "mount"),
        ("-n", "network"),
        ("-p", "process"),
        ("-i", "IPC"),
        ("-u", "UTS"),
        ("-C", "cgroup"),
        ("-T", "time"),
    ] {
        list.add(format!("make a {what} namespace"), format!("unshare {flag} true"), Answer::Refused);
    }
    list.proven("make a user namespace with its root", "unshare -U -r true", Answer::Refused);
    list.proven("make one with mounts in it", "unshare -U -r -m true", Answer::Refused);
    list.proven("make one with a network in it", "unshare -U -r -n true", Answer::Refused);
    list.add("join the namespaces of PID 1", "nsenter -t 1 -m -n true", Answer::Refused);
    list.add("call setns", format!("sc {} 0 0", libc::SYS_setns), Answer::Refused);
    list.add("call clone3", format!("sc {} 0 0", libc::SYS_clone3), Answer::Refused);
    for (what, script) in [
        ("mount a tmpfs", "mount -t tmpfs t /mnt"),
        ("mount a proc", "mount -t proc p /mnt"),
        ("mount a sysfs", "mount -t sysfs s /mnt"),
        ("mount the cgroup tree", "mount -t cgroup2 c /mnt"),
        ("mount a disk", "mount /dev/vda /mnt"),
        ("bind `/` elsewhere", "mount --bind / /mnt"),
        ("make `/usr` writable", "mount -o remount,rw /usr"),
        ("make `/proc/sys` writable", "mount -o remount,rw,bind /proc/sys"),
        ("take the cover off `/proc/sys`", "umount /proc/sys"),
        ("take the cover off `/proc/kallsyms`", "umount /proc/kallsyms"),
        ("take `/etc` away", "umount -l /etc"),
        ("take `/usr` away", "umount -l /usr"),
        ("change the root", "chroot / true"),
    ] {
        list.add(what, script, Answer::Refused);
    }
    for (name, number) in [
        ("pivot_root", libc::SYS_pivot_root),
        ("fsopen", libc::SYS_fsopen),
        ("open_tree", libc::SYS_open_tree),
        ("move_mount", libc::SYS_move_mount),
        ("mount_setattr", libc::SYS_mount_setattr),
    ] {
        list.add(format!("call {name}"), format!("sc {number} 0 0 0 0 0"), Answer::Refused);
    }
}

fn calls(list: &mut List) {
    list.wall("calls of the kernel");
    for (name, number) in [
        ("keyctl", libc::SYS_keyctl),
        ("add_key", libc::SYS_add_key),
        ("request_key", libc::SYS_request_key),
        ("bpf", libc::SYS_bpf),
        ("perf_event_open", libc::SYS_perf_event_open),
        ("userfaultfd", libc::SYS_userfaultfd),
        ("open_by_handle_at", libc::SYS_open_by_handle_at),
        ("kexec_load", libc::SYS_kexec_load),
        ("init_module", libc::SYS_init_module),
        ("finit_module", libc::SYS_finit_module),
        ("delete_module", libc::SYS_delete_module),
        ("quotactl", libc::SYS_quotactl),
        ("quotactl_fd", 443),
        ("io_uring_setup", libc::SYS_io_uring_setup),
        ("io_uring_enter", libc::SYS_io_uring_enter),
        ("io_uring_register", libc::SYS_io_uring_register),
        ("fanotify_init", libc::SYS_fanotify_init),
        ("syslog", libc::SYS_syslog),
    ] {
        let script = format!("errno {number}");
        list.add(format!("call {name}"), script, Answer::Says("38"));
    }
    for (name, number) in [
        ("reboot", libc::SYS_reboot),
        ("swapon", libc::SYS_swapon),
        ("swapoff", libc::SYS_swapoff),
        ("acct", libc::SYS_acct),
        ("settimeofday", libc::SYS_settimeofday),
        ("clock_settime", libc::SYS_clock_settime),
        ("sethostname", libc::SYS_sethostname),
        ("setdomainname", libc::SYS_setdomainname),
        ("vhangup", libc::SYS_vhangup),
    ] {
        list.add(format!("call {name}"), format!("sc {number} 0 0 0 0"), Answer::Refused);
    }
    for (what, request) in [("TIOCSTI", "0x5412"), ("TIOCLINUX", "0x541c")] {
        let script = format!("perl -e 'my $x = \"x\"; $! = 0; ioctl(STDIN, {request}, $x); print $! + 0'");
        list.add(format!("type into a terminal by {what}"), script, Answer::Says("1"));
    }
}

fn sockets(list: &mut List) {
    list.wall("kinds of sockets");
    for (name, family) in [
        ("AX25", 3),
        ("IPX", 4),
        ("APPLETALK", 5),
        ("X25", 9),
        ("KEY", 15),
        ("PACKET", 17),
        ("RDS", 21),
        ("LLC", 26),
        ("IB", 27),
        ("CAN", 29),
        ("TIPC", 30),
        ("BLUETOOTH", 31),
        ("PHONET", 35),
        ("IEEE802154", 36),
        ("CAIF", 37),
        ("ALG", 38),
        ("NFC", 39),
        ("VSOCK", 40),
        ("KCM", 41),
        ("QIPCRTR", 42),
        ("SMC", 43),
        ("XDP", 44),
        ("MCTP", 45),
    ] {
        list.add(format!("make one of AF_{name}"), format!("sock {family} 2 0"), Answer::Says("97"));
    }
    list.add("make a raw one", "sock 2 3 1", Answer::Says("1"));
    list.add("make a raw one of IPv6", "sock 10 3 58", Answer::Says("1"));
}

fn processes(list: &mut List, host: &Host) {
    list.wall("processes");
    list.proven(
        "signal a process of the host",
        format!("test -d /proc/{0} && kill -0 {0}", host.pid),
        Answer::Refused,
    );
    list.proven("see one", format!("ls /proc/{}", host.pid), Answer::Absent);
    list.add(
        "see more than its own",
        "ls /proc | grep -c '^[0-9]' | grep -qx '[0-9]' && echo few",
        Answer::Says("few"),
    );
    for part in ["environ", "mem", "maps", "auxv", "stack", "syscall", "io"] {
        list.add(format!("read `/proc/1/{part}`"), format!("cat /proc/1/{part}"), Answer::Refused);
    }
    for part in ["exe", "cwd", "root", "fd", "ns/net"] {
        list.add(
            format!("follow `/proc/1/{part}`"),
            format!("ls /proc/1/{part}/ || readlink /proc/1/{part}"),
            Answer::Refused,
        );
    }
    list.add("trace PID 1", format!("sc {} 16 1 0 0", libc::SYS_ptrace), Answer::Refused);
    list.add(
        "read the memory of PID 1",
        format!("sc {} 1 0 0 0 0 0 && false", libc::SYS_process_vm_readv),
        Answer::Refused,
    );
    list.add("kill PID 1", "kill -KILL 1; sleep 0.1; kill -0 1 && echo lives", Answer::Says("lives"));
    list.add("change the program of PID 1", "echo x > /proc/1/exe", Answer::Refused);
    list.add(
        "see the host's name",
        "test \"$(hostname)\" = \"$(cat /etc/hostname)\" && echo own",
        Answer::Says("own"),
    );
    list.add(
        "see an open file of the host's",
        "ls /proc/self/fd | grep -v -x -e 0 -e 1 -e 2 -e 3 -e 255; true",
        Answer::Empty,
    );
}

fn network(list: &mut List, host: &Host) {
    list.wall("network");
    let port = host.port;
    list.proven("reach a service of the host", format!("hello 127.0.0.1 {port}"), Answer::Refused);
    list.proven("reach it as `localhost`", format!("hello localhost {port}"), Answer::Refused);
    for address in [
        "::1",
        "0.0.0.0",
        "169.254.169.254",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "198.18.0.1",
        "fe80::1",
        "fd00::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
    ] {
        list.add(format!("connect to `{address}`"), format!("hello {address} {port}"), Answer::Refused);
    }
    for target in [
        "127.0.0.1",
        "localhost",
        "169.254.169.254",
        "10.0.0.1",
        "192.168.0.1",
        "[::1]",
        "0.0.0.0",
        "2130706433",
        "127.1",
    ] {
        let script = format!(
            "ask 'CONNECT {target}:{port} HTTP/1.1\\r\\n\\r\\n' | head -n 1 | cut -d' ' -f2 | grep -v -x 403 | grep -v -x 400"
        );
        list.add(format!("ask the proxy for `{target}`"), script, Answer::Refused);
    }
    list.add(
        "ask the proxy for a page of the host's",
        format!("ask 'GET http://127.0.0.1:{port}/ HTTP/1.1\\r\\n\\r\\n' | grep hello"),
        Answer::Refused,
    );
    let name = &host.socket;
    let script = format!(
        "perl -e 'use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack_sockaddr_un(\"\\0{name}\")) or exit 1'"
    );
    list.proven("reach a socket without a path", script, Answer::Refused);
    let listening = format!("grep ':{port:04X} ' /proc/net/tcp");
    list.proven("see the host's connections", listening, Answer::Refused);
    list.add("see names of the host's sockets", "grep @ /proc/net/unix; true", Answer::Empty);
    list.add(
        "see a device of the host's",
        "tail -n +3 /proc/net/dev | grep -E '(eth|en|wl|docker|br-)'; true",
        Answer::Empty,
    );
    list.add(
        "read the host's name servers",
        "grep -v -e '^nameserver 198.18.0.1$' -e '^nameserver 127.0.0.1$' /etc/resolv.conf; true",
        Answer::Empty,
    );
    list.add("shut its loopback", "ip link set lo down", Answer::Refused);
    list.add("give itself an address", "ip addr add 10.9.9.9/24 dev lo", Answer::Refused);
    list.add("change its routes", "ip route add 10.0.0.0/8 dev lo", Answer::Refused);
    list.add("make a device", "ip link add d0 type dummy", Answer::Refused);
    list.add("filter packets", "nft add table ip t", Answer::Refused);
    list.add("send UDP elsewhere", "perl -e 'use IO::Socket::INET; my $s = IO::Socket::INET->new(Proto => \"udp\", PeerAddr => \"10.0.0.1\", PeerPort => 9) or exit 1; $s->send(\"x\"); select undef, undef, undef, 0.2; $s->send(\"x\") or exit 1'", Answer::Refused);
    list.add("reach itself", "perl -e 'use IO::Socket::INET; my $l = IO::Socket::INET->new(LocalAddr => \"127.0.0.1\", Listen => 1); IO::Socket::INET->new(PeerAddr => \"127.0.0.1\", PeerPort => $l->sockport) and print \"itself\"'", Answer::Says("itself"));
}

fn limits(list: &mut List) {
    list.wall("limits");
    list.add(
        "make a core dump",
        "grep 'Max core' /proc/self/limits | tr -s ' ' | cut -d' ' -f5,6",
        Answer::Says("1 1"),
    );
    list.add("have more processes than its shape gives", "ulimit -H -u", Answer::Says("1536"));
    list.add("take more", "ulimit -u 100000", Answer::Refused);
    list.add(
        "fill `/dev/shm` with more than half of its memory",
        "df --output=size -m /dev/shm | tail -n 1 | tr -d ' '",
        Answer::Says("512"),
    );
    for kind in ["user", "mnt", "cgroup"] {
        let most = if kind == "user" { "0" } else { "1" };
        list.add(
            format!("have more than {most} {kind} namespaces"),
            format!("cat /proc/sys/user/max_{kind}_namespaces"),
            Answer::Says(most),
        );
    }
}
