//! Types that are a text which was judged once, so that inside there is no raw one.

/// Makes such a type. The judge gets the text and gives back what is kept of it, or why it is none.
macro_rules! text_type {
    ($(#[$doc:meta])* $visibility:vis $name:ident: $judge:expr => $error:ty) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(String);

        impl $name {
            #[allow(dead_code, reason = "some are only shown")]
            $visibility fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, $error> {
                let judge: fn(&str) -> Result<&str, $error> = $judge;
                judge(text).map(|kept| Self(kept.to_owned()))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use text_type;
