//! What a keeper and those who come to it say to each other. The words stay the same from version to version: an upgraded
//! program enters boxes whose keeper is the earlier one.

use crate::local::failure;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a keeper is told, on its stdin.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Brief {
    /// The box's folder.
    pub(crate) folder: PathBuf,
    /// Of its processes on the host.
    pub(crate) uid: Option<u32>,
    /// Where the box may connect to.
    pub(crate) egress: Vec<String>,
    /// Variables of the host that name its own way out.
    pub(crate) variables: Vec<(String, String)>,
}

/// What it answers, once.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum KeeperAnswer {
    Keeps,
    /// It does not, and nothing is left of it.
    Failed(failure::Parts),
}

/// What a lease begins with: a descriptor with each of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Hand {
    User,
    Net,
}

/// Where it listens, in the box's folder.
pub(crate) const SOCKET: &str = "keeper";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn written(value: &impl Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[test]
    fn the_words_stay_the_same_from_version_to_version() {
        let brief = Brief {
            folder: "/boxes/a".into(),
            uid: Some(1),
            egress: vec!["*".into()],
            variables: vec![("NO_PROXY".into(), "a".into())],
        };
        let words = r#"{"folder":"/boxes/a","uid":1,"egress":["*"],"variables":[["NO_PROXY","a"]]}"#;
        assert_eq!(written(&brief), words);
        assert_eq!([written(&Hand::User), written(&Hand::Net)], [r#""User""#, r#""Net""#]);
        assert_eq!(written(&KeeperAnswer::Keeps), r#""Keeps""#);
        let failed = KeeperAnswer::Failed(failure::Failure::from(Error::failed("no")).into_parts());
        let words = r#"{"Failed":{"code":"error","exit":1,"message":"no","facts":[],"hints":[]}}"#;
        assert_eq!(written(&failed), words);
    }
}
