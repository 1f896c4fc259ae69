//! Values of flags, each refused with the flag that it came from.

use crate::config::EgressRule;
use crate::error::{Error, Result};
use std::str::FromStr;

fn from_flag(flag: &str, error: &Error) -> Error {
    Error::usage(error.message()).fact("flag", flag).because(error)
}

pub(super) fn parse<T: FromStr<Err = Error>>(flag: &str, value: Option<String>) -> Result<Option<T>> {
    value.map(|text| text.parse().map_err(|error| from_flag(flag, &error))).transpose()
}

pub(super) fn parse_each<T: FromStr<Err = Error>>(flag: &str, values: &[String]) -> Result<Option<Vec<T>>> {
    if values.is_empty() {
        return Ok(None);
    }
    let parsed: Result<Vec<T>> =
        values.iter().map(|text| text.parse().map_err(|error| from_flag(flag, &error))).collect();
    parsed.map(Some)
}

/// `none` alone is the empty list.
pub(super) fn egress(values: &[String]) -> Result<Option<Vec<EgressRule>>> {
    if values.iter().any(|value| value == "none") {
        return if values.len() == 1 {
            Ok(Some(Vec::new()))
        } else {
            Err(Error::usage("--egress none empties the list and stands alone"))
        };
    }
    parse_each("--egress", values)
}
