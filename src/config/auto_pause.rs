//! After how much idle time a box pauses itself.

use crate::error::Error;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A Go duration such as `30m` or `1h30m`, between one minute and 24 hours
/// (contract `createos-cli.md` 3). Kept as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AutoPause(String);

/// The shortest that the service accepts.
const MIN: Duration = Duration::from_secs(60);
/// The longest that the service accepts.
const MAX: Duration = Duration::from_secs(24 * 60 * 60);

impl AutoPause {
    /// The text, as the provider's command line takes it.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AutoPause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for AutoPause {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let Some(time) = go_duration(text) else {
            return Err(Error::usage(format!("auto-pause \"{text}\" is not a duration"))
                .help("use a duration like 10m, 1h or 1h30m"));
        };
        if !(MIN..=MAX).contains(&time) {
            return Err(Error::usage(format!("auto-pause \"{text}\" is out of range"))
                .help("it must be between 1 minute (1m) and 24 hours (24h)"));
        }
        Ok(Self(text.into()))
    }
}

/// Reads numbers with units, as Go's `time.ParseDuration` does; no sign, since none is in range.
fn go_duration(text: &str) -> Option<Duration> {
    const UNITS: [(&str, f64); 7] =
        [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, unit) = rest.split_at(digits);
        if number.len() > 12 || !number.contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let (name, factor) = UNITS.iter().find(|(name, _)| unit.starts_with(name))?;
        // Go reads "1." and ".5"; so does Rust.
        seconds += number.parse::<f64>().ok()? * factor;
        rest = &unit[name.len()..];
    }
    (!text.is_empty()).then(|| Duration::try_from_secs_f64(seconds).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_as_go_reads_them() {
        assert_eq!("1h30m".parse::<AutoPause>().unwrap().as_str(), "1h30m");
        for (text, seconds) in [("60s", 60), ("1m", 60), ("1h30m", 5400), ("1.5h", 5400), ("24h", 86400)] {
            assert_eq!(go_duration(text).unwrap().as_secs(), seconds, "{text}");
        }
        assert_eq!(go_duration("90000ms").unwrap().as_secs(), 90);
    }

    #[test]
    fn what_is_not_a_duration_or_out_of_range_is_refused() {
        for bad in ["", "30", "m", ".m", "1..5h", "30 m", "-30m", "30min", "1d", "30m;", "999999999999999h"] {
            assert!(bad.parse::<AutoPause>().unwrap_err().message().contains("not a duration"), "{bad}");
        }
        for bad in ["59s", "24h1s", "0s"] {
            assert!(bad.parse::<AutoPause>().unwrap_err().message().contains("out of range"), "{bad}");
        }
    }
}
