//! The system calls that a box does not have. Namespaces divide neither the kernel's keys, which are the
//! host user's, nor its programmable parts; nothing that works in a folder needs them.

use super::sys;
use libc::{BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter};
use rustix::io::{Errno, Result};
use std::mem::offset_of;

/// Answered as by a kernel that was built without them.
const MISSING: [libc::c_long; 19] = [
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_open_by_handle_at,
    libc::SYS_kexec_load,
    KEXEC_FILE_LOAD,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_quotactl,
    // As new as it is, libc lacks it for some targets; every architecture has this number.
    443,
    // The kernel's log, which some machines show to everybody.
    libc::SYS_syslog,
    // What is asked of these, a filter of calls does not see.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_fanotify_init,
];
/// The sockets that there are. The other families lead past the box's network or deep into the kernel: to virtual machines
/// and radios, its cryptography, raw packets, and the keys of IPsec; new ones come with new kernels.
const SOCKETS: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
/// libc lacks it for aarch64 with musl; the kernel's tables give its number.
const KEXEC_FILE_LOAD: libc::c_long = if cfg!(target_arch = "x86_64") { 320 } else { 294 };
/// Requests to a terminal that put words into somebody else's mouth: TIOCSTI and TIOCLINUX.
const FORBIDDEN_IOCTLS: [u32; 2] = [0x5412, 0x541c];

/// The limit for core dumps.
#[allow(clippy::unnecessary_cast, reason = "it is of another type with musl")]
const CORE: u32 = libc::RLIMIT_CORE as u32;
/// Answered as done, without being done.
const DONE: sock_filter =
    sock_filter { code: (BPF_RET | BPF_K) as u16, jt: 0, jf: 0, k: libc::SECCOMP_RET_ERRNO };

/// What the kernel calls this architecture (linux/audit.h): the ELF machine, 64 bits, little endian.
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else {
    None
};
/// Set in the numbers of x32, which says that it is x86_64. No other architecture has numbers this large.
const X32: u32 = 0x4000_0000;

/// Where a program says which namespaces it wants, but for those of clone3, which a filter does not see: it is not there, and
/// everybody then takes clone.
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET)
    .cast_unsigned();
/// Of unshare only: to clone it is a signal's bit.
const TIME: u32 = 0x80;

/// Takes the calls away from this process and everything that it will start. Needs no_new_privs. Those that make
/// namespaces stay where `nested`.
///
/// # Errors
/// The kernel has no seccomp filters, or its numbers are not known here.
pub(super) fn install(nested: bool) -> Result<()> {
    sys::set_filter(&program(ARCHITECTURE.ok_or(Errno::NOSYS)?, nested))
}

fn program(architecture: u32, nested: bool) -> Vec<sock_filter> {
    let mut program = vec![
        load(offset_of!(libc::seccomp_data, arch)),
        skip_unless(BPF_JEQ, architecture, 1, 0),
        // Another architecture numbers its calls otherwise: a program of it cannot run here.
        give(libc::SECCOMP_RET_KILL_PROCESS),
        load(offset_of!(libc::seccomp_data, nr)),
        skip_unless(BPF_JGE, X32, 0, 1),
        refuse(libc::ENOSYS),
    ];
    for call in MISSING {
        program.extend(when(call, vec![refuse(libc::ENOSYS)]));
    }
    if !nested {
        program.extend(when(libc::SYS_clone3, vec![refuse(libc::ENOSYS)]));
        program.extend(when(libc::SYS_setns, vec![refuse(libc::EPERM)]));
        for (call, flags) in [(libc::SYS_clone, NAMESPACES), (libc::SYS_unshare, NAMESPACES | TIME)] {
            let asked = vec![argument(0), skip_unless(BPF_JSET, flags, 0, 1), refuse(libc::EPERM)];
            program.extend(when(call, asked));
        }
    }
    program.extend(when(libc::SYS_socket, sockets()));
    program.extend(when(libc::SYS_ioctl, requests()));
    program.extend(when(libc::SYS_setrlimit, vec![argument(0), skip_unless(BPF_JEQ, CORE, 0, 1), DONE]));
    program.extend(when(libc::SYS_prlimit64, core_limit()));
    program.push(give(libc::SECCOMP_RET_ALLOW));
    program
}

fn sockets() -> Vec<sock_filter> {
    let mut body = vec![argument(0)];
    // Past the others, and past the refusal.
    for (family, past) in SOCKETS.iter().zip((1..=SOCKETS.len()).rev()) {
        body.push(skip_unless(BPF_JEQ, family.cast_unsigned(), short(past), 0));
    }
    body.push(refuse(libc::EAFNOSUPPORT));
    body
}

fn requests() -> Vec<sock_filter> {
    // The kernel looks at the lower half of the request only, and so must this.
    let refused = FORBIDDEN_IOCTLS.map(|request| [skip_unless(BPF_JEQ, request, 0, 1), refuse(libc::EPERM)]);
    [argument(1)].into_iter().chain(refused.into_iter().flatten()).collect()
}

/// A new limit for core dumps is taken as set: none is made whatever it is, and what is set here is what keeps the host's
/// handler out. Programs that want none themselves go on. Who asks for the old one at once would read what nobody wrote.
fn core_limit() -> Vec<sock_filter> {
    vec![
        argument(1),
        skip_unless(BPF_JEQ, CORE, 0, 10),
        argument(2),
        skip_unless(BPF_JEQ, 0, 0, 2),
        upper_half(2),
        // None is set: it is read only.
        skip_unless(BPF_JEQ, 0, 6, 0),
        argument(3),
        skip_unless(BPF_JEQ, 0, 0, 3),
        upper_half(3),
        skip_unless(BPF_JEQ, 0, 0, 1),
        DONE,
        refuse(libc::EPERM),
    ]
}

/// These steps for one call, the number of which is loaded; afterwards it is loaded again.
fn when(call: libc::c_long, body: Vec<sock_filter>) -> Vec<sock_filter> {
    let mut steps = vec![skip_unless(BPF_JEQ, number(call), 0, short(body.len() + 1))];
    steps.extend(body);
    steps.push(load(offset_of!(libc::seccomp_data, nr)));
    steps
}

/// The lower half of an argument: little endian.
fn argument(index: usize) -> sock_filter {
    load(offset_of!(libc::seccomp_data, args) + index * size_of::<u64>())
}

fn upper_half(index: usize) -> sock_filter {
    load(offset_of!(libc::seccomp_data, args) + index * size_of::<u64>() + size_of::<u32>())
}

fn short(length: usize) -> u8 {
    u8::try_from(length).unwrap_or(u8::MAX)
}

fn refuse(errno: i32) -> sock_filter {
    give(libc::SECCOMP_RET_ERRNO | errno.cast_unsigned())
}

fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

fn load(offset: usize) -> sock_filter {
    instruction(BPF_LD | BPF_W | BPF_ABS, 0, 0, u32::try_from(offset).unwrap_or(u32::MAX))
}

/// Compares what was loaded with `value`, and skips so many instructions when it holds and when not.
fn skip_unless(comparison: u32, value: u32, holds: u8, otherwise: u8) -> sock_filter {
    instruction(BPF_JMP | comparison | BPF_K, holds, otherwise, value)
}

fn give(answer: u32) -> sock_filter {
    instruction(BPF_RET | BPF_K, 0, 0, answer)
}

fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or(u16::MAX), jt, jf, k }
}
