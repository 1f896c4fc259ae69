//! Addresses to download from: https, or http to this very machine. A download is complete, or an error; it is held in
//! memory, so that nothing half done is ever on disk.

use crate::error::{Error, Result};
use crate::text_type::text_type;
use crate::ui::Progress;
use std::io::Read;
use std::time::Duration;
use ureq::tls::{RootCerts, TlsConfig};

text_type! {
    /// An address whose answer cannot be forged on the way: https, or http to a loopback address.
    pub(super) Url: |text| {
        let local = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
        let is_local = local.iter().any(|prefix| {
            text.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
        });
        let is_plain = text.chars().all(|c| c.is_ascii_graphic() && c != '"' && c != '\'');
        let is_https =
            text.strip_prefix("https://").is_some_and(|rest| !rest.starts_with('/') && !rest.is_empty());
        let holds = is_plain && (is_https || is_local) && !text.contains('@');
        if holds { Ok(text.trim_end_matches('/')) } else { Err("it must start with https://") }
    } => &'static str
}

impl Url {
    /// Takes an address from `variable`, or from the template.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn new(text: &str, variable: &str) -> Result<Self> {
        let wrong = || Error::usage(format!("{variable} is no address to download from: {text}"));
        text.parse().map_err(|help: &str| wrong().help(help))
    }

    pub(super) fn join(&self, below: &str) -> Self {
        Self(format!("{}/{below}", self.0))
    }

    /// Everything on the way must be https, redirects included.
    pub(super) fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }
}

/// What the official `upgrade` accepts, too (docs/measured/createos-cli.md 5.2).
const LARGEST: u64 = 200 * 1024 * 1024;
const CONNECT: Duration = Duration::from_secs(20);
/// A large file over a slow line; a dead one ends it much earlier.
const WHOLE: Duration = Duration::from_secs(15 * 60);
const SILENCE: Duration = Duration::from_secs(60);

/// Downloads a file. Proxy variables and the system's certificates are respected.
///
/// # Errors
/// It could not be had completely, is empty, or is larger than anything we ask for.
pub(super) fn download(url: &Url) -> Result<Vec<u8>> {
    let agent = ureq::Agent::config_builder()
        .https_only(url.is_https())
        .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(WHOLE))
        .timeout_recv_response(Some(SILENCE))
        .user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent();
    let failed = |why: String| {
        Error::failed(format!("could not download {url}"))
            .fact("reason", why)
            .help("nothing was changed; try again, behind a proxy with HTTPS_PROXY set")
    };
    let response = agent.get(url.as_str()).call().map_err(|error| failed(words(&error)))?;
    let expected = response.body().content_length();
    if expected.is_some_and(|length| length > LARGEST) {
        return Err(failed("it is larger than anything that belongs there".into()));
    }
    let mut progress = Progress::bytes(expected);
    let mut body = response.into_body().into_reader().take(LARGEST + 1);
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
    loop {
        match body.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(source) if source.kind() == std::io::ErrorKind::Interrupted => {}
            Err(source) => return Err(failed(format!("it broke off after {} bytes: {source}", bytes.len()))),
        }
        progress.at(bytes.len() as u64, bytes.len() as u64);
    }
    match bytes.len() as u64 {
        0 => Err(failed("it is empty".into())),
        length if length > LARGEST => Err(failed("it is larger than anything that belongs there".into())),
        length if expected.is_some_and(|expected| expected != length) => {
            Err(failed(format!("it broke off after {length} bytes")))
        }
        _ => Ok(bytes),
    }
}

fn words(error: &ureq::Error) -> String {
    match error {
        ureq::Error::StatusCode(404) => "the server does not have it (404)".into(),
        ureq::Error::StatusCode(code) => format!("the server answered {code}"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_cannot_be_tampered_with_will_do() {
        for good in ["https://a.b/c/", "http://127.0.0.1:80/x", "http://localhost", "http://[::1]:1"] {
            assert!(Url::new(good, "X").is_ok(), "{good}");
        }
        for bad in [
            "",
            "a.b",
            "http://a.b",
            "http://127.0.0.1.a.b/",
            "https://",
            "ftp://a",
            "https://a b",
            "https://u@a",
            "file:///x",
        ] {
            assert!(Url::new(bad, "X").is_err(), "{bad}");
        }
        assert_eq!(Url::new("https://a/", "X").unwrap().join("b").as_str(), "https://a/b");
    }
}
