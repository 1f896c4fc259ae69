//! How the value of a setting stands in the file.

use crate::error::Error;
use serde_json::Value;
use std::str::FromStr;

/// A text.
pub(super) mod one {
    use super::{Error, FromStr, Value, parsed, what};

    pub(in crate::config) fn read<T: FromStr<Err = Error>>(value: &Value) -> Result<T, String> {
        parsed(value.as_str().ok_or_else(|| format!("expected a text, found {}", what(value)))?)
    }

    pub(in crate::config) fn write(value: &impl ToString) -> Value {
        value.to_string().into()
    }
}

/// `true` or `false`.
pub(super) mod flag {
    use super::{Value, what};

    pub(in crate::config) fn read(value: &Value) -> Result<bool, String> {
        value.as_bool().ok_or_else(|| format!("expected true or false, found {}", what(value)))
    }

    pub(in crate::config) fn write(value: &bool) -> Value {
        (*value).into()
    }
}

/// A list of texts.
pub(super) mod many {
    use super::{Error, FromStr, Value, parsed, texts};

    pub(in crate::config) fn read<T: FromStr<Err = Error>>(value: &Value) -> Result<Vec<T>, String> {
        texts(value)?.into_iter().map(parsed).collect()
    }

    pub(in crate::config) fn write<T: ToString>(values: &[T]) -> Value {
        values.iter().map(T::to_string).collect()
    }
}

/// A list of paths in the worktree.
pub(super) mod paths {
    use super::{Value, texts};
    use crate::worktree::RelPath;

    pub(in crate::config) use super::many::write;

    pub(in crate::config) fn read(value: &Value) -> Result<Vec<RelPath>, String> {
        let path = |text: &str| RelPath::new(text.as_bytes()).map_err(|bad| format!("\"{text}\" is {bad}"));
        texts(value)?.into_iter().map(path).collect()
    }
}

pub(super) fn parsed<T: FromStr<Err = Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: Error| error.message().to_owned())
}

pub(super) fn texts(value: &Value) -> Result<Vec<&str>, String> {
    let wrong = |found: &Value| format!("expected a list of texts, found {}", what(found));
    let list = value.as_array().ok_or_else(|| wrong(value))?;
    list.iter().map(|item| item.as_str().ok_or_else(|| wrong(item))).collect()
}

pub(super) fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
