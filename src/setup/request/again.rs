//! The setup that a command line asks for, as a command to be typed again.

use crate::cli::SetupArgs;
use crate::command::{self, Command};

/// What decides which setup is wanted, without how it is to be shown or asked about.
pub(super) fn again(args: &SetupArgs) -> Command {
    let local = args.local.as_ref().map(|folder| folder.to_string_lossy().into_owned());
    let once = [
        ("--local", &local),
        ("--source", &args.source),
        ("--agent", &args.settings.agent),
        ("--shape", &args.settings.shape),
        ("--rootfs", &args.settings.rootfs),
        ("--auto-pause", &args.settings.auto_pause),
        ("--remote-root", &args.settings.remote_root),
        ("--provider", &args.settings.provider),
    ];
    let each = [
        ("--egress", &args.settings.egress),
        ("--exclude", &args.settings.exclude),
        ("--sync-exclude", &args.settings.sync_exclude),
        ("--key", &args.key),
    ];
    let alone = [
        ("--notices", args.notices),
        ("--no-keys", args.no_keys),
        ("--force", args.force),
        ("--reset", args.reset),
    ];
    let once = once.into_iter().flat_map(|(flag, value)| value.iter().map(move |value| (flag, value)));
    let each = each.into_iter().flat_map(|(flag, values)| values.iter().map(move |value| (flag, value)));
    let again = once.chain(each).fold(command::setup(), |again, (flag, value)| again.with(flag, value));
    let given = alone.into_iter().filter(|(_, given)| *given);
    given.fold(again, |again, (flag, _)| again.flag(flag))
}
