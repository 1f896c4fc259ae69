//! The session of a browser sign-in: renewed when it is over, with a token that works once
//! (docs/measured/createos-cli.md 3.1).

use crate::control::Control;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A token counts as expired this long before it is.
const EARLY: i64 = 60;

/// Renews the session when there is one that has expired. Two calls at once ask with the same token, and the
/// later one is refused; the file holds what the earlier one got.
pub(crate) fn renew(control: &Control) -> Result<(), &'static str> {
    let keys = ["CREATEOS_API_KEY", "CREATEOS_PLAN_API_KEY", "CREATEOS_PROJECT_API_KEY"];
    if keys.iter().any(|name| std::env::var_os(name).is_some_and(|key| !key.is_empty())) {
        return Ok(());
    }
    let path = PathBuf::from(std::env::var_os("HOME").expect("tests set HOME")).join(".createos/.oauth");
    let Ok(text) = std::fs::read(&path) else { return Ok(()) };
    let mut session: Value = serde_json::from_slice(&text).map_err(|_| "could not load your session")?;
    let now = UNIX_EPOCH.elapsed().expect("a clock").as_secs().cast_signed();
    if session["expires_at"].as_i64().unwrap_or_default() - EARLY > now {
        return Ok(());
    }
    // The way to the service: whoever else looks at the file meanwhile reads the same token.
    std::thread::sleep(Duration::from_millis(control.refresh_ms));
    let token = session["refresh_token"].as_str().unwrap_or_default().to_owned();
    // Each token is good for one file of this name.
    let used =
        std::fs::File::options().write(true).create_new(true).open(control.file(&format!("used-{token}")));
    if token.is_empty() || used.is_err() {
        control.append("refreshes", "refused");
        return Err(
            "your session has expired and could not be renewed — run 'createos login' to sign in again",
        );
    }
    let count = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_nanos();
    session["access_token"] = json!(format!("access-{count}"));
    session["refresh_token"] = json!(format!("refresh-{count}"));
    session["expires_at"] = json!(now + 3600);
    let staged = path.with_extension(format!("new-{}", std::process::id()));
    std::fs::write(&staged, session.to_string()).expect("a session file");
    std::fs::rename(staged, path).expect("a session file");
    control.append("refreshes", "renewed");
    Ok(())
}
