//! Durations as Go writes them, and the official CLI with it.

use std::time::Duration;

/// Reads numbers with units, such as `1h30m` or `1.5s`, as Go's `time.ParseDuration` does; no sign, and no number alone.
pub(crate) fn parse(text: &str) -> Option<Duration> {
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
    fn durations_are_gos() {
        let known =
            [("60s", 60), ("1m", 60), ("1h30m", 5400), ("1.5h", 5400), ("24h", 86400), ("90000ms", 90)];
        for (text, seconds) in known {
            assert_eq!(parse(text).unwrap().as_secs(), seconds, "{text}");
        }
        assert_eq!(parse("1.5s").unwrap().as_millis(), 1500);
        for bad in ["", "10", "m", ".m", "1x", "-1m", "1.2.3m", "1m ", "99999999999999999999999h"] {
            assert!(parse(bad).is_none(), "{bad}");
        }
    }
}
