//! Keys that an agent's settings have in a new box, added to files of the box's home. A key that is there stays as it is,
//! and so does a file that does not parse.

use super::remote::ProviderBox;
use crate::base64;
use crate::config::{RemoteRoot, Seed};
use crate::error::{Error, Result};
use crate::merge::Remote;
use serde_json::{Map, Value};
use toml_edit::DocumentMut;

/// Says of each file, a line each by its number, that it is absent, no plain file, or what is in it.
const READ: &str = r#"n=0
for f; do
    f=$HOME/${f#'~/'}
    if [ -f "$f" ] && [ ! -L "$f" ]; then printf '%d =%s\n' "$n" "$(head -c 1000000 -- "$f" | base64 | tr -d '\n')"
    elif [ -e "$f" ] || [ -L "$f" ]; then printf '%d other\n' "$n"
    else printf '%d absent\n' "$n"; fi
    n=$((n + 1))
done"#;

/// Writes pairs of a file and its contents, whole or not at all.
const WRITE: &str = r#"umask 077
while [ $# -gt 1 ]; do
    f=$HOME/${1#'~/'}
    mkdir -p -- "${f%/*}" && printf '%s' "$2" >"$f.createos-sandbox" && mv -f -- "$f.createos-sandbox" "$f" || exit 1
    shift 2
done"#;

/// Adds them; a sentence for each file that was left alone.
///
/// # Errors
/// The box cannot be asked, or a file not be written.
pub(crate) fn plant(
    remote: &mut ProviderBox,
    seeds: &[&Seed],
    workspace: &RemoteRoot,
) -> Result<Vec<String>> {
    let mut files: Vec<&str> = seeds.iter().map(|seed| seed.file.as_str()).collect();
    files.dedup();
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let said = remote.exec(READ, &files)?;
    let (mut notes, mut written) = (Vec::new(), Vec::new());
    for (number, file) in files.iter().enumerate() {
        let mark = format!("{number} ");
        let found = said.stdout.lines().rev().find_map(|line| line.strip_prefix(&mark));
        let old = match found.map(str::trim_end) {
            Some("absent") => None,
            Some(text) if text.starts_with('=') => {
                Some(String::from_utf8_lossy(&base64::decode(&text.as_bytes()[1..])).into_owned())
            }
            _ => {
                notes.push(format!("{file} in the box is no plain file, and was left alone"));
                continue;
            }
        };
        let of_file = seeds.iter().filter(|seed| seed.file == *file);
        let texts: Vec<_> =
            of_file.map(|seed| seed.text.replace("@WORKSPACE@", workspace.as_str())).collect();
        match with_seeds(file, old.as_deref(), &texts) {
            Ok(Some(new)) => written.extend([(*file).to_owned(), new]),
            Ok(None) => {}
            Err(why) => notes.push(format!("{file} in the box does not parse, and was left alone: {why}")),
        }
    }
    let words: Vec<&str> = written.iter().map(String::as_str).collect();
    if !words.is_empty() && remote.exec(WRITE, &words)?.code != 0 {
        let error = Error::failed("the box's home cannot be written");
        return Err(error.help("use an image whose user may write its own home"));
    }
    Ok(notes)
}

/// The file with what it lacks of these texts; `None` when it lacks nothing.
fn with_seeds(file: &str, old: Option<&str>, texts: &[String]) -> Result<Option<String>, String> {
    let mut text = old.unwrap_or_default().to_owned();
    for seed in texts {
        text = match file.ends_with(".toml") {
            true => with_toml(&text, seed)?,
            false => with_json(&text, seed)?,
        };
    }
    Ok((old != Some(text.as_str())).then_some(text))
}

fn with_json(text: &str, seed: &str) -> Result<String, String> {
    let parsed = |text: &str| serde_json::from_str::<Map<String, Value>>(text).map_err(|why| why.to_string());
    let mut members = if text.trim().is_empty() { Map::new() } else { parsed(text)? };
    let before = members.clone();
    add(&mut members, parsed(seed)?);
    match members == before {
        true => Ok(text.to_owned()),
        false => Ok(format!("{:#}\n", Value::Object(members))),
    }
}

/// Adds the members that are not there, at every depth.
fn add(to: &mut Map<String, Value>, from: Map<String, Value>) {
    for (name, value) in from {
        match (to.get_mut(&name), value) {
            (Some(Value::Object(inner)), Value::Object(value)) => add(inner, value),
            (Some(_), _) => {}
            (None, value) => drop(to.insert(name, value)),
        }
    }
}

/// A key at the top goes in front, a table to the end; one that is there stays as it is.
fn with_toml(text: &str, seed: &str) -> Result<String, String> {
    let old: DocumentMut = text.parse().map_err(|why: toml_edit::TomlError| why.message().to_owned())?;
    let (mut text, mut top) = (text.to_owned(), String::new());
    let seed = seed.trim();
    let tables = seed.find("\n[").map_or(if seed.starts_with('[') { 0 } else { seed.len() }, |at| at + 1);
    for line in seed[..tables].lines().filter(|line| !line.trim().is_empty()) {
        let key = line.split('=').next().unwrap_or_default().trim();
        if !old.contains_key(key) {
            top.push_str(&format!("{line}\n"));
        }
    }
    for table in seed[tables..].split("\n[").filter(|table| !table.trim().is_empty()) {
        let table = format!("[{}", table.trim_start_matches('[').trim_end());
        let parsed: DocumentMut =
            table.parse().map_err(|why: toml_edit::TomlError| why.message().to_owned())?;
        if !has_table(&old, &parsed) {
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let blank = if text.trim().is_empty() { "" } else { "\n" };
            text.push_str(&format!("{end}{blank}{table}\n"));
        }
    }
    let blank = if top.is_empty() || text.trim().is_empty() { "" } else { "\n" };
    Ok(format!("{top}{blank}{text}"))
}

/// Whether the innermost table of `wanted` is there, or something else under its name.
fn has_table(old: &DocumentMut, wanted: &DocumentMut) -> bool {
    let (mut old, mut wanted) = (old.as_item(), wanted.as_item());
    loop {
        let Some((name, inner)) = wanted.as_table_like().and_then(|table| table.iter().next()) else {
            return true;
        };
        if !inner.is_table_like() {
            return true;
        }
        match old.as_table_like().and_then(|table| table.get(name)) {
            Some(found) => (old, wanted) = (found, inner),
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(old: Option<&str>, seeds: &[&str]) -> Result<Option<String>, String> {
        let seeds: Vec<_> = seeds.iter().map(|seed| (*seed).to_owned()).collect();
        with_seeds("~/.x.json", old, &seeds)
    }

    fn toml(old: Option<&str>, seeds: &[&str]) -> Result<Option<String>, String> {
        let seeds: Vec<_> = seeds.iter().map(|seed| (*seed).to_owned()).collect();
        with_seeds("~/.x.toml", old, &seeds)
    }

    #[test]
    fn keys_are_added_and_what_is_there_stays() {
        let seed = r#"{"a":true,"p":{"/w":{"t":true}}}"#;
        let new: Value = serde_json::from_str(&json(None, &[seed]).unwrap().unwrap()).unwrap();
        assert_eq!(new, serde_json::from_str::<Value>(seed).unwrap());
        let old = r#"{"z":1,"a":false,"p":{"/v":{"t":true}}}"#;
        let new = json(Some(old), &[seed]).unwrap().unwrap();
        let expected = r#"{"z":1,"a":false,"p":{"/v":{"t":true},"/w":{"t":true}}}"#;
        assert_eq!(
            serde_json::from_str::<Value>(&new).unwrap(),
            serde_json::from_str::<Value>(expected).unwrap()
        );
        assert_eq!(json(Some(&new), &[seed]), Ok(None), "nothing is lacking any more");
        for bad in ["{", "[]", "// a comment\n{}"] {
            assert!(json(Some(bad), &[seed]).is_err(), "{bad}");
        }
    }

    const CHECK: &str = "\ncheck = false\n\n[features]\ndaemon = false\n";
    const TRUST: &str = "\n[projects.\"/workspace\"]\ntrust_level = \"trusted\"\n";

    #[test]
    fn toml_gets_keys_in_front_and_tables_at_its_end() {
        let new = toml(None, &[CHECK, TRUST]).unwrap().unwrap();
        assert_eq!(
            new,
            "check = false\n\n[features]\ndaemon = false\n\n[projects.\"/workspace\"]\ntrust_level = \"trusted\"\n"
        );
        assert_eq!(toml(Some(&new), &[CHECK, TRUST]), Ok(None));
        let old = "# mine\nmodel = \"x\"\n[features]\nother = true\n[projects.\"/elsewhere\"]\na = 1";
        let new = toml(Some(old), &[CHECK, TRUST]).unwrap().unwrap();
        assert_eq!(new, format!("check = false\n\n{old}\n\n{}\n", TRUST.trim()));
        let parsed: DocumentMut = new.parse().unwrap();
        assert_eq!(parsed["projects"]["/workspace"]["trust_level"].as_str(), Some("trusted"));
        assert!(toml(Some("a = "), &[CHECK]).is_err());
    }
}
