//! The few system calls that rustix does not offer, and nothing else.

use rustix::io::{Errno, Result};
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd};

/// Which side of a fork this is.
pub(super) enum Fork {
    /// The new process.
    Child,
    /// The old process, with the new one's id.
    Parent(rustix::process::Pid),
}

/// What a call has given, or why it failed.
pub(super) fn check(result: libc::c_long) -> Result<libc::c_long> {
    if result < 0 {
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        return Err(Errno::from_raw_os_error(errno));
    }
    Ok(result)
}

/// `fork`. Sound here because this process has one thread (see `inside`).
pub(super) fn fork() -> Result<Fork> {
    // SAFETY: the process is single-threaded, so no lock is held by a thread that will not exist.
    let pid = check(unsafe { libc::fork() }.into())?;
    match rustix::process::Pid::from_raw(i32::try_from(pid).map_err(|_| Errno::OVERFLOW)?) {
        None => Ok(Fork::Child),
        Some(pid) => Ok(Fork::Parent(pid)),
    }
}

/// Closes every descriptor from `first` to `last`.
pub(super) fn close_range(first: u32, last: u32) -> Result<()> {
    // SAFETY: the callers own everything in the range, or nobody does: it was inherited unasked.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) }).map(|_| ())
}

/// Closes everything but stdin, stdout and stderr. For a process that has opened nothing itself yet.
pub(crate) fn close_inherited() -> Result<()> {
    close_range(3, u32::MAX)
}

/// Sets mount attributes on a whole detached tree (Linux 5.12).
pub(super) fn set_mount_attributes(tree: impl AsFd, set: u64, recursive: bool) -> Result<()> {
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        userns: u64,
    }
    let attributes = Attributes { set, clear: 0, propagation: libc::MS_PRIVATE, userns: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is an empty C string and the struct has the size that is passed.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    })
    .map(|_| ())
}

/// Sets the host name of this UTS namespace.
pub(super) fn set_hostname(name: &str) -> Result<()> {
    // SAFETY: pointer and length belong to one live string.
    check(unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) }.into()).map(|_| ())
}

/// Puts a seccomp filter on this process for good, and on everything that it will start.
pub(super) fn set_filter(program: &[libc::sock_filter]) -> Result<()> {
    let len = libc::c_ushort::try_from(program.len()).map_err(|_| Errno::TOOBIG)?;
    let program = libc::sock_fprog { len, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies `len` instructions out of the slice and writes nothing.
    check(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) })
        .map(|_| ())
}

/// All signals back to their default, none blocked: what a program expects to start with.
pub(super) fn reset_signals() {
    for signal in 1..=64 {
        // SAFETY: the default action needs no handler; numbers that cannot be set are refused.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: an empty set on the stack, filled before it is used.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Sends a signal to every process of this process namespace but its PID 1, which the caller is.
pub(super) fn signal_all(signal: rustix::process::Signal) -> Result<()> {
    // SAFETY: two integers; from PID 1 of a box, -1 means the box.
    check(unsafe { libc::kill(-1, signal.as_raw()) }.into()).map(|_| ())
}

/// `execve`; comes back only with an error.
pub(super) fn exec(program: &CString, argv: &[CString], env: &[CString]) -> Errno {
    let pointers = |list: &[CString]| {
        list.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect::<Vec<_>>()
    };
    let (argv, env) = (pointers(argv), pointers(env));
    // SAFETY: both lists end with a null pointer and outlive the call.
    let result = unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), env.as_ptr()) };
    check(result.into()).err().unwrap_or(Errno::IO)
}

/// Brings the loopback interface of a new network namespace up, so that `localhost` works in it.
pub(super) fn loopback_up() -> Result<()> {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None)?;
    // SAFETY: zero is a valid ifreq; the name fits and stays terminated.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        // Signed on some architectures only.
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
    // glibc and musl give requests different types.
    const SET_FLAGS: libc::Ioctl = libc::SIOCSIFFLAGS as libc::Ioctl;
    // SAFETY: SIOCSIFFLAGS reads one ifreq, which lives until the call returns.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), SET_FLAGS, &raw const request) }.into()).map(|_| ())
}
