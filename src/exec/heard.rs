//! What a program far away is heard to say.

/// What is heard of work that takes its time.
#[derive(Debug)]
pub(crate) enum Heard<'a> {
    /// It has printed more.
    Output(&'a [u8]),
    /// The connection to the box is lost. It goes on there, and is asked again.
    Lost,
}
