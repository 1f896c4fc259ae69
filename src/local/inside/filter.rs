//! The system calls that a box does not have. Namespaces divide neither the kernel's keys, which are the
//! host user's, nor its programmable parts; nothing that works in a folder needs them.

use super::sys;
use libc::{BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter};
use rustix::io::{Errno, Result};
use std::mem::offset_of;

/// Answered as by a kernel that was built without them.
const MISSING: [libc::c_long; 17] = [
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

/// Takes the calls away from this process and everything that it will start. Needs no_new_privs.
///
/// # Errors
/// The kernel has no seccomp filters, or its numbers are not known here.
pub(super) fn install() -> Result<()> {
    sys::set_filter(&program(ARCHITECTURE.ok_or(Errno::NOSYS)?))
}

fn program(architecture: u32) -> Vec<sock_filter> {
    let refuse = |errno: i32| give(libc::SECCOMP_RET_ERRNO | errno.cast_unsigned());
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
        program.extend([skip_unless(BPF_JEQ, number(call), 0, 1), refuse(libc::ENOSYS)]);
    }
    let families = u8::try_from(SOCKETS.len() + 3).unwrap_or(u8::MAX);
    program.push(skip_unless(BPF_JEQ, number(libc::SYS_socket), 0, families));
    program.push(load(offset_of!(libc::seccomp_data, args)));
    // Past the others, and past the refusal.
    for (family, past) in SOCKETS.iter().zip((1..=SOCKETS.len()).rev()) {
        let past = u8::try_from(past).unwrap_or(u8::MAX);
        program.push(skip_unless(BPF_JEQ, family.cast_unsigned(), past, 0));
    }
    program.push(refuse(libc::EAFNOSUPPORT));
    program.push(load(offset_of!(libc::seccomp_data, nr)));
    let requests = u8::try_from(FORBIDDEN_IOCTLS.len() * 2 + 1).unwrap_or(u8::MAX);
    program.push(skip_unless(BPF_JEQ, number(libc::SYS_ioctl), 0, requests));
    // The kernel looks at the lower half of the request only, and so must this: little endian.
    program.push(load(offset_of!(libc::seccomp_data, args) + size_of::<u64>()));
    for request in FORBIDDEN_IOCTLS {
        program.extend([skip_unless(BPF_JEQ, request, 0, 1), refuse(libc::EPERM)]);
    }
    program.push(give(libc::SECCOMP_RET_ALLOW));
    program
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
