//! The host's own way out: straight, or through the proxy that the host's variables name.

use super::judge::{Host, Target};
use crate::base64;
use std::net::IpAddr;

/// How the host itself reaches the internet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Way {
    via: Option<Via>,
    /// Names and addresses that are reached straight all the same.
    straight: Vec<String>,
}

/// A proxy of the host's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Via {
    pub(crate) host: String,
    pub(crate) port: u16,
    is_socks: bool,
    /// Name and password.
    login: Option<(String, String)>,
}

/// Those that name the proxy; the first that is set counts.
const NAMING: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

impl Way {
    /// The variables that are looked at.
    pub(crate) const VARIABLES: [&str; 6] =
        ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"];

    /// As the host's variables say.
    ///
    /// # Errors
    /// One of them names a proxy that cannot be used, in words without its credentials.
    pub(crate) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let set = |name| variable(name).filter(|value| !value.is_empty()).map(|value| (name, value));
        let Some((name, value)) = NAMING.into_iter().find_map(set) else { return Ok(Self::default()) };
        let via = Via::parse(&value).ok_or_else(|| {
            format!(
                "{name} names a proxy that cannot be used: it must be http://HOST:PORT or socks5://HOST:PORT"
            )
        })?;
        let straight = set("NO_PROXY").or_else(|| set("no_proxy")).map(|(_, value)| value).unwrap_or_default();
        let straight = straight.split([',', ' ']).filter(|entry| !entry.is_empty());
        let bare = |entry: &str| entry.trim_start_matches("*.").trim_start_matches('.').to_ascii_lowercase();
        Ok(Self { via: Some(via), straight: straight.map(bare).collect() })
    }

    /// The proxy on the way to a target; none to this machine itself.
    pub(crate) fn via(&self, target: &Target) -> Option<&Via> {
        let via = self.via.as_ref()?;
        let is_here = target.host.is_localhost()
            || matches!(target.host, Host::Address(address) if address.is_loopback());
        let text = target.host.to_string();
        let is_straight = self.straight.iter().any(|entry| {
            entry == "*"
                || text
                    .strip_suffix(entry.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        });
        (!is_here && !is_straight).then_some(via)
    }

    /// Where the proxy is, without its credentials.
    pub(crate) fn words(&self) -> Option<String> {
        self.via.as_ref().map(|via| format!("{}:{}", via.host, via.port))
    }
}

impl Via {
    fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let is_socks = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "socks5" | "socks5h" | "socks" => true,
            _ => return None,
        };
        let rest = rest.split(['/', '?', '#']).next()?;
        let (login, place) = match rest.rsplit_once('@') {
            Some((login, place)) => {
                let (name, password) = login.split_once(':').unwrap_or((login, ""));
                (Some((decoded(name), decoded(password))), place)
            }
            None => (None, rest),
        };
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok().filter(|port| *port > 0)?),
            _ => (place, if is_socks { 1080 } else { 8080 }),
        };
        let host = Host::parse(host)?.to_string();
        let fits = |(name, password): &(String, String)| name.len() < 256 && password.len() < 256;
        login.as_ref().is_none_or(fits).then_some(Self { host, port, is_socks, login })
    }

    /// What is said to the proxy so that it connects to a target.
    pub(crate) fn talk(&self, target: &Target) -> Talk {
        if self.is_socks {
            let method = if self.login.is_some() { 2 } else { 0 };
            return Talk { say: vec![5, 1, method], next: Next::Method(self.login.clone(), target.clone()) };
        }
        let mut say = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
        if let Some((name, password)) = &self.login {
            let login = base64::encode(format!("{name}:{password}").as_bytes());
            say.push_str(&format!("Proxy-Authorization: Basic {login}\r\n"));
        }
        say.push_str("\r\n");
        Talk { say: say.into_bytes(), next: Next::Status }
    }
}

/// Percent-decoded.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A conversation with the host's proxy.
#[derive(Debug)]
pub(crate) struct Talk {
    /// To be sent before anything else is heard.
    pub(crate) say: Vec<u8>,
    next: Next,
}

#[derive(Debug)]
enum Next {
    Status,
    Method(Option<(String, String)>, Target),
    Login(Target),
    Reply,
}

/// What the proxy's words mean.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    More,
    /// So many bytes are done with; there is more to be sent.
    Say(usize),
    /// The connection stands; what comes after so many bytes is the target's.
    Stands(usize),
    /// It will not do it, in words.
    No(String),
}

impl Talk {
    /// Reads on.
    pub(crate) fn hear(&mut self, said: &[u8]) -> Heard {
        match (&mut self.next, said) {
            (Next::Status, _) => status(said),
            (_, [] | [_]) => Heard::More,
            (Next::Method(login, target), [5, 0, ..]) => {
                drop(login.take());
                self.say = socks_request(target);
                self.next = Next::Reply;
                Heard::Say(2)
            }
            (Next::Method(login @ Some(_), target), [5, 2, ..]) => {
                let (name, password) = login.take().unwrap_or_default();
                let length = |text: &str| u8::try_from(text.len()).unwrap_or(u8::MAX);
                self.say = [&[1, length(&name)], name.as_bytes(), &[length(&password)], password.as_bytes()]
                    .concat();
                self.next = Next::Login(target.clone());
                Heard::Say(2)
            }
            (Next::Login(target), [_, 0, ..]) => {
                self.say = socks_request(target);
                self.next = Next::Reply;
                Heard::Say(2)
            }
            (Next::Method(..) | Next::Login(_), _) => {
                Heard::No("the host's proxy wants another login".into())
            }
            (Next::Reply, [5, 0, ..]) => {
                let length = match (said.get(3), said.get(4)) {
                    (Some(1), _) => 10,
                    (Some(4), _) => 22,
                    (Some(3), Some(length)) => 7 + usize::from(*length),
                    _ => return Heard::More,
                };
                if said.len() < length { Heard::More } else { Heard::Stands(length) }
            }
            (Next::Reply, [_, code, ..]) => {
                Heard::No(format!("the host's proxy says no (SOCKS code {code})"))
            }
        }
    }
}

fn status(said: &[u8]) -> Heard {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(said) {
        Ok(httparse::Status::Complete(taken)) => match response.code {
            Some(200..=299) => Heard::Stands(taken),
            Some(code @ (403 | 405)) => Heard::No(format!(
                "the host's proxy says no (HTTP status {code}); many proxies let a connection pass to port 443 only"
            )),
            code => Heard::No(format!("the host's proxy says no (HTTP status {})", code.unwrap_or_default())),
        },
        Ok(httparse::Status::Partial) if said.len() < super::proxy::LONGEST => Heard::More,
        _ => Heard::No("the host's proxy does not speak HTTP".into()),
    }
}

fn socks_request(target: &Target) -> Vec<u8> {
    let mut words = vec![5, 1, 0];
    match &target.host {
        Host::Address(IpAddr::V4(address)) => words.extend([&[1][..], &address.octets()].concat()),
        Host::Address(IpAddr::V6(address)) => words.extend([&[4][..], &address.octets()].concat()),
        Host::Name(name) => {
            words.extend([3, u8::try_from(name.len()).unwrap_or(u8::MAX)]);
            words.extend(name.bytes());
        }
    }
    words.extend(target.port.to_be_bytes());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(pairs: &[(&str, &str)]) -> Result<Way, String> {
        Way::from_variables(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn target(host: &str) -> Target {
        Target { host: Host::parse(host).unwrap(), port: 443 }
    }

    #[test]
    fn the_variables_name_a_proxy_and_who_goes_past_it() {
        assert_eq!(way(&[]).unwrap(), Way::default());
        assert_eq!(way(&[("HTTPS_PROXY", "")]).unwrap(), Way::default());
        let found =
            way(&[("ALL_PROXY", "socks5://p:1"), ("https_proxy", "http://u:p%40w@proxy.example:3128/")]);
        let found = found.unwrap();
        assert_eq!(found.words().as_deref(), Some("proxy.example:3128"));
        let found =
            way(&[("HTTPS_PROXY", "proxy.example"), ("NO_PROXY", "corp.example, .lan,10.0.0.1")]).unwrap();
        assert_eq!(found.words().as_deref(), Some("proxy.example:8080"));
        let lower = [("HTTPS_PROXY", "proxy.example"), ("NO_PROXY", ""), ("no_proxy", "corp.example")];
        assert_eq!(way(&lower).unwrap().via(&target("corp.example")), None);
        for straight in
            ["corp.example", "a.corp.example", "b.lan", "10.0.0.1", "localhost", "127.0.0.1", "::1"]
        {
            assert_eq!(found.via(&target(straight)), None, "{straight}");
        }
        for other in ["example.org", "notcorp.example", "1.1.1.1"] {
            assert!(found.via(&target(other)).is_some(), "{other}");
        }
    }

    #[test]
    fn one_that_cannot_be_used_is_said_without_its_password() {
        for bad in
            ["https://user:secret@proxy.example", "ftp://user:secret@p", "http://user:secret@p:0", "http://"]
        {
            let words = way(&[("HTTPS_PROXY", bad)]).unwrap_err();
            assert!(words.starts_with("HTTPS_PROXY ") && !words.contains("secret"), "{words}");
        }
    }

    #[test]
    fn an_http_proxy_is_asked_with_the_login() {
        let way = way(&[("HTTPS_PROXY", "http://u:p%40w@proxy.example")]).unwrap();
        let mut talk = way.via(&target("example.org")).unwrap().talk(&target("example.org"));
        let said = "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\
                    Proxy-Authorization: Basic dTpwQHc=\r\n\r\n";
        assert_eq!(String::from_utf8(talk.say.clone()).unwrap(), said);
        assert_eq!(talk.hear(b"HTTP/1.1 200 OK\r\n"), Heard::More);
        assert_eq!(talk.hear(b"HTTP/1.1 200 OK\r\n\r\nhello"), Heard::Stands(19));
        assert!(matches!(talk.hear(b"HTTP/1.1 407 No\r\n\r\n"), Heard::No(words) if words.contains("407")));
        assert!(matches!(talk.hear(b"HTTP/1.1 403 No\r\n\r\n"), Heard::No(words) if words.contains("port 443")));
        assert!(matches!(talk.hear(b"SSH-2.0\r\n\r\n"), Heard::No(_)));
    }

    #[test]
    fn a_socks_proxy_is_asked_with_the_login() {
        let way = way(&[("ALL_PROXY", "socks5h://u:pw@proxy.example")]).unwrap();
        let mut talk = way.via(&target("1.1.1.1")).unwrap().talk(&target("example.org"));
        assert_eq!(talk.say, [5, 1, 2]);
        assert_eq!(talk.hear(&[5, 2]), Heard::Say(2));
        assert_eq!(talk.say, *b"\x01\x01u\x02pw");
        assert_eq!(talk.hear(&[1, 0]), Heard::Say(2));
        assert_eq!(talk.say, *b"\x05\x01\x00\x03\x0bexample.org\x01\xbb");
        assert_eq!(talk.hear(&[5, 0, 0, 1, 0, 0, 0, 0, 0]), Heard::More);
        assert_eq!(talk.hear(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0, b'x']), Heard::Stands(10));
        assert!(matches!(talk.hear(&[5, 5]), Heard::No(_)));
    }
}
