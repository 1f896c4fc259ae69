//! After how much idle time a box pauses itself.

use crate::duration;
use crate::error::Error;
use crate::text_type::text_type;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The shortest and the longest that the service accepts.
const ACCEPTED: RangeInclusive<Duration> = Duration::from_secs(60)..=Duration::from_secs(24 * 60 * 60);

text_type! {
    /// A Go duration such as `30m` or `1h30m`, between one minute and 24 hours
    /// (docs/measured/createos-cli.md 4.3). Kept as it was written.
    pub(crate) AutoPause: judge => Error
}

fn judge(text: &str) -> Result<&str, Error> {
    let Some(time) = duration::parse(text) else {
        return Err(Error::usage(format!("auto-pause \"{text}\" is not a duration"))
            .help("use a duration like 10m, 1h or 1h30m"));
    };
    if !ACCEPTED.contains(&time) {
        return Err(Error::usage(format!("auto-pause \"{text}\" is out of range"))
            .help("it must be between 1 minute (1m) and 24 hours (24h)"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_duration_or_out_of_range_is_refused() {
        assert_eq!("1h30m".parse::<AutoPause>().unwrap().as_str(), "1h30m");
        for bad in ["", "30", "m", ".m", "1..5h", "30 m", "-30m", "30min", "1d", "30m;", "999999999999999h"] {
            assert!(bad.parse::<AutoPause>().unwrap_err().message().contains("not a duration"), "{bad}");
        }
        for bad in ["59s", "24h1s", "0s"] {
            assert!(bad.parse::<AutoPause>().unwrap_err().message().contains("out of range"), "{bad}");
        }
    }
}
