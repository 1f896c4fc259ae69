//! Why this machine does not isolate: the step, the usual reason, the narrow fix.

use crate::command;
use crate::error::Error;
use crate::local::wire::spec::{Refused, Step};

/// The error for a step that the system refused. Its exit code is 2: nothing ran.
pub(crate) fn explain(refused: &Refused) -> Error {
    let system = std::io::Error::from_raw_os_error(refused.errno);
    let what = match refused.step {
        Step::DropRoot => "giving up root",
        Step::UserNamespace => "making a user namespace",
        Step::IdMap => "writing the uid map",
        Step::Namespaces => "making the namespaces",
        Step::Mount => "mounting",
        Step::Proc => "mounting a new /proc",
        Step::Confine => "giving up privileges",
        Step::Setup => "preparing the box",
    };
    let error = Error::cannot_run("this machine does not let a box be isolated; nothing was run")
        .fact("step", what)
        .fact("call", &refused.detail)
        .fact("reason", system.to_string());
    let sysctl = |name: &str| std::fs::read_to_string(format!("/proc/sys/{name}")).unwrap_or_default();
    let apparmor = sysctl("kernel/apparmor_restrict_unprivileged_userns").trim() == "1";
    let missing = [libc::ENOSYS, libc::EINVAL].contains(&refused.errno);
    match refused.step {
        Step::Namespaces if refused.errno == libc::EAGAIN => {
            Error::failed("the box, or its user, has as many processes as it may; nothing was run")
                .fact("reason", system.to_string())
                .help(format!("end some of them: {}", command::own(["local", "sandbox", "process", "list"]).word("BOX")))
        }
        Step::UserNamespace if sysctl("user/max_user_namespaces").trim() == "0" => error
            .help("user namespaces are switched off: sudo sysctl -w user.max_user_namespaces=15000"),
        Step::UserNamespace if sysctl("kernel/unprivileged_userns_clone").trim() == "0" => error
            .help("user namespaces are for root only here: sudo sysctl -w kernel.unprivileged_userns_clone=1"),
        step if apparmor && step != Step::DropRoot && !rustix::process::geteuid().is_root() => error.help(
            "AppArmor keeps unprivileged programs from using user namespaces (Ubuntu 23.10 and newer): give this \
             one program a profile with `userns,`, see man 5 apparmor.d; \
             the wide fix is: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        Step::UserNamespace | Step::IdMap | Step::Namespaces => error.help(
            "in a container, allow user namespaces in its seccomp profile, as in: docker run --security-opt seccomp=unconfined",
        ),
        Step::Proc => error.help(
            "in a container whose /proc is partly masked no new one may be mounted, as in: \
             docker run --security-opt systempaths=unconfined",
        ),
        Step::Mount if missing => error.help("Linux 5.12 or newer is needed, see: uname -r"),
        Step::Confine if missing => error.help("Linux with seccomp filters is needed, on x86_64 or aarch64"),
        Step::DropRoot if missing => error.help(
            "this root lives in a user namespace that has no other user, as in a container: \
             run it as an ordinary user, or map more uids",
        ),
        Step::DropRoot => error.help("run it as an ordinary user, or as a root that may change its uid"),
        Step::Mount | Step::Confine | Step::Setup => error,
    }
}
