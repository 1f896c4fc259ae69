//! The names of signals.

/// The names of signals, from 1 on.
const SIGNALS: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// 15 for `SIGTERM`, `TERM`, and either in lower case; `None` when there is no such signal.
pub(crate) fn number(name: &str) -> Option<i32> {
    let upper = name.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    SIGNALS.iter().zip(1..).find_map(|(known, number)| (*known == name).then_some(number))
}

/// `SIGTERM` for 15.
pub(crate) fn name(signal: i32) -> String {
    let name = usize::try_from(signal - 1).ok().and_then(|index| SIGNALS.get(index));
    name.map_or_else(|| format!("SIG{signal}"), |name| format!("SIG{name}"))
}
