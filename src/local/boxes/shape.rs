//! Shapes and durations as the provider command line writes them.

use crate::duration;
use crate::error::Error;
use crate::local::wire::spec::Limits;
use crate::text_type::text_type;
use std::time::Duration;

/// The shapes that CreateOS is known to have (docs/measured/createos-cli.md 4.1). A local box has no limits of its
/// own: the shape is kept so that it shows what was asked for.
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

/// So many processes and threads a box may have, and so many more for each processor: builds have as many as that, a
/// program that only multiplies is stopped before the host is in trouble.
const PROCESSES: u64 = 1024;
const PER_PROCESSOR: f64 = 512.0;

/// Whether a box on this machine can have this shape.
///
/// # Errors
/// The shapes that it can have.
pub(crate) fn knows_shape(text: &str) -> Result<(), &'static [&'static str]> {
    if SHAPES.contains(&text) { Ok(()) } else { Err(&SHAPES) }
}

text_type! {
    pub(crate) LocalShape: |text| match SHAPES.contains(&text) {
        true => Ok(text),
        false => Err(Error::usage(format!("shape \"{text}\" is not allowed, choices: [{}]", SHAPES.join(" ")))),
    } => Error
}

impl LocalShape {
    pub(crate) fn vcpu(&self) -> f64 {
        self.parts().0
    }

    pub(crate) fn mem_mib(&self) -> u64 {
        self.parts().1
    }

    /// What of it the kernel is told for each entry.
    pub(crate) fn limits(&self) -> Limits {
        let (vcpu, mem_mib) = self.parts();
        let processes = PROCESSES + (vcpu * PER_PROCESSOR) as u64;
        Limits { processes, memory_mib: mem_mib, shared_mib: mem_mib / 2 }
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

/// A duration such as `1h30m` or `1.5s`. A bare number is none.
///
/// # Errors
/// The text is none.
pub(crate) fn duration(text: &str) -> Result<Duration, Error> {
    duration::parse(text)
        .ok_or_else(|| Error::usage(format!("\"{text}\": use a duration like 10m, 1h, or 30m")))
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
            let shape: LocalShape = shape.parse().unwrap();
            assert!(shape.vcpu() > 0.0 && shape.mem_mib() >= 256, "{shape}");
        }
        assert_eq!("s-2vcpu-4gb".parse::<LocalShape>().unwrap().mem_mib(), 4096);
        assert!("s-3vcpu-4gb".parse::<LocalShape>().unwrap_err().message().contains("choices: [s-0.25vcpu"));
    }

    #[test]
    fn auto_pause_is_between_a_minute_and_a_day() {
        assert_eq!(auto_pause("90s").unwrap(), 90);
        assert!(duration("10").is_err());
        assert!(auto_pause("59s").is_err() && auto_pause("25h").is_err() && auto_pause("60").is_err());
    }
}
