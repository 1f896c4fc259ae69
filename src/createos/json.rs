//! Lenient reading: old builds print decoration around a document, and an empty list may be `null`.

use serde_json::Value;

/// The first JSON object or array in `text` that parses, whatever stands around it (docs/measured/createos-cli.md 3.11).
pub(crate) fn first_document(text: &str) -> Option<Value> {
    let trimmed = text.trim();
    if trimmed == "null" {
        return Some(Value::Null);
    }
    text.char_indices().filter(|(_, c)| matches!(c, '{' | '[')).take(64).find_map(|(at, _)| {
        let mut documents = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        documents.next().and_then(Result::ok).filter(|value| value.is_object() || value.is_array())
    })
}

/// A text member that is there and not empty: action objects write `""` for "missing" (docs/measured/createos-cli.md
/// 3.15).
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoration_around_a_document_is_passed_over() {
        let value = first_document("Sandbox is ready [1/1\n{\"id\":\"sb-1\"}\nbye").unwrap();
        assert_eq!(text(&value, "id"), Some("sb-1"));
        assert_eq!(first_document("null\n"), Some(Value::Null));
        assert_eq!(first_document("nothing here"), None);
    }
}
