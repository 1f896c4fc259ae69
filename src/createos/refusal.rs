//! What a failure of a provider call means.

/// What a failure means for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// There is no session, or it has ended.
    SignedOut,
    /// The provider does not find it. Beyond 200 rows that is no proof (docs/measured/createos-cli.md 4.5).
    NotFound,
    /// The sandbox's name is in use; a paused box keeps its name.
    NameTaken,
    /// Too many sandboxes at once; paused ones count.
    Cap,
    /// Too many sandboxes made today.
    DailyCap,
    /// The shape is not in the account's plan.
    Shape,
    Credit,
    Rate,
    /// `pause` and `resume` of CLI 0.0.24 and older (docs/measured/createos-cli.md 3.14).
    LifecycleBroken,
    /// The call took longer than its limit: what it asked for may have happened.
    TimedOut,
    /// The caller raised its stop flag: what the call asked for may have happened.
    Interrupted,
    /// The box is paused, or about to be: nothing was done in it.
    Paused,
    /// The box is on its way to run: nothing was done in it.
    NotYetUp,
    /// The box's image has no bash, in which everything runs there.
    NoBash,
    /// The connection to the box ended in the middle: what was asked for may go on there.
    Cut,
    /// The program could not be started.
    NotStarted,
    /// The service understood the request and said no, for none of the reasons above.
    Rejected,
    /// Anything else.
    Other,
}
