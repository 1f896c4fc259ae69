//! Shapes and durations as the provider command line writes them.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The shapes that CreateOS is known to have (contract 3). A local box has no limits of its own: the
/// shape is kept so that it shows what was asked for.
const SHAPES: [&str; 10] = [
    "s-0.25vcpu-512mb",
    "s-0.5vcpu-1gb",
    "s-1vcpu-256mb",
    "s-1vcpu-512mb",
    "s-1vcpu-1gb",
    "s-2vcpu-2gb",
    "s-2vcpu-4gb",
    "s-4vcpu-4gb",
    "s-4vcpu-8gb",
    "s-8vcpu-16gb",
];

/// Whether a box on this machine can have this shape.
///
/// # Errors
/// The shapes that it can have.
pub(crate) fn knows_shape(text: &str) -> Result<(), &'static [&'static str]> {
    if SHAPES.contains(&text) { Ok(()) } else { Err(&SHAPES) }
}

/// A known shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Shape(String);

impl Shape {
    /// Virtual processors.
    pub(crate) fn vcpu(&self) -> f64 {
        self.parts().0
    }

    /// Memory in MiB.
    pub(crate) fn mem_mib(&self) -> u64 {
        self.parts().1
    }

    fn parts(&self) -> (f64, u64) {
        let read = || {
            let (cpu, memory) = self.0.strip_prefix("s-")?.split_once("vcpu-")?;
            let memory = match memory.strip_suffix("gb") {
                Some(gib) => gib.parse::<u64>().ok()? * 1024,
                None => memory.strip_suffix("mb")?.parse().ok()?,
            };
            Some((cpu.parse().ok()?, memory))
        };
        read().expect("every known shape has processors and memory in its name")
    }
}

impl FromStr for Shape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if SHAPES.contains(&text) {
            return Ok(Self(text.into()));
        }
        Err(Error::usage(format!("shape \"{text}\" is not allowed, choices: [{}]", SHAPES.join(" "))))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Shape {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Shape> for String {
    fn from(shape: Shape) -> Self {
        shape.0
    }
}

/// A Go duration of hours, minutes and seconds, such as `1h30m` or `1.5s`. A bare number is none.
///
/// # Errors
/// The text is none.
pub(crate) fn duration(text: &str) -> Result<Duration, Error> {
    let wrong = || Error::usage(format!("\"{text}\": use a duration like 10m, 1h, or 30m"));
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let (number, after) = rest.split_at(digits);
        let units = [("ms", 0.001), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];
        let (unit, seconds) =
            units.into_iter().find(|(unit, _)| after.starts_with(unit)).ok_or_else(wrong)?;
        total += number.parse::<f64>().map_err(|_| wrong())? * seconds;
        rest = &after[unit.len()..];
    }
    if text.is_empty() {
        return Err(wrong());
    }
    Duration::try_from_secs_f64(total).map_err(|_| wrong())
}

/// The value of `--auto-pause`: 1 minute to 24 hours, in seconds.
///
/// # Errors
/// The text is no duration, or out of range.
pub(crate) fn auto_pause(text: &str) -> Result<u64, Error> {
    let seconds =
        duration(text).map_err(|error| Error::usage(format!("--auto-pause {}", error.message())))?.as_secs();
    if (60..=86_400).contains(&seconds) {
        return Ok(seconds);
    }
    Err(Error::usage(format!("--auto-pause \"{text}\" must be between 1 minute (1m) and 24 hours (24h)")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_its_size() {
        for shape in SHAPES {
            let shape: Shape = shape.parse().unwrap();
            assert!(shape.vcpu() > 0.0 && shape.mem_mib() >= 256, "{shape}");
        }
        assert_eq!("s-2vcpu-4gb".parse::<Shape>().unwrap().mem_mib(), 4096);
        assert!("s-3vcpu-4gb".parse::<Shape>().unwrap_err().message().contains("choices: [s-0.25vcpu"));
    }

    #[test]
    fn durations_are_gos() {
        assert_eq!(duration("1h30m").unwrap().as_secs(), 5400);
        assert_eq!(duration("1.5s").unwrap().as_millis(), 1500);
        for bad in ["", "10", "m", "1x", "-1m", "1.2.3m", "1m ", "99999999999999999999999h"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        assert_eq!(auto_pause("90s").unwrap(), 90);
        assert!(auto_pause("59s").is_err() && auto_pause("25h").is_err() && auto_pause("60").is_err());
    }
}
