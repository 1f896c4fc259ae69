//! What is written of each setting once becomes everything that is needed of it.

/// Makes `Key`, `Config` and `Settings` of one entry a setting, in the order of the documentation and of a written
/// file: what it is for, its key, its field, its name in the file, how its value is read and written (a module of
/// `value.rs`), its type, and its default if it has one.
macro_rules! settings {
    ($($(#[$doc:meta])* $key:ident $field:ident $name:literal: $form:ident $type:ty $(= $default:expr)?;)*) => {
        /// A setting's name in `config.json`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(clippy::enum_variant_names, reason = "a setting may be about a key of the keyboard")]
        pub(crate) enum Key {
            $($(#[$doc])* $key),*
        }

        impl Key {
            pub(crate) const ALL: [Self; [$($name),*].len()] = [$(Self::$key),*];

            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Self::$key => $name),*
                }
            }
        }

        /// Every setting with its value: what the file says over the defaults.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) struct Config {
            $($(#[$doc])* pub(crate) $field: settings!(@type $type $(, $default)?)),*
        }

        /// What a file or the flags set; `None` is "not mentioned".
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub(crate) struct Settings {
            $($(#[$doc])* pub(crate) $field: Option<$type>),*
        }

        impl Settings {
            /// These settings, and `below` where they do not say.
            #[must_use]
            pub(crate) fn over(self, below: Self) -> Self {
                Self { $($field: self.$field.or(below.$field)),* }
            }

            /// Every setting, the defaults where nothing is set.
            pub(crate) fn resolve(self) -> Config {
                Config { $($field: settings!(@resolve self.$field $(, $default)?)),* }
            }

            /// The value of one setting, when it is set.
            pub(crate) fn get(&self, key: Key) -> Option<serde_json::Value> {
                match key {
                    $(Key::$key => self.$field.as_ref().map(|value| $form::write(value))),*
                }
            }

            /// Sets one from its value in a file.
            ///
            /// # Errors
            /// Why the value is not valid.
            pub(super) fn set(&mut self, key: Key, value: &serde_json::Value) -> Result<(), String> {
                let at = |reason: String| format!("\"{}\": {reason}", key.name());
                match key {
                    $(Key::$key => self.$field = Some($form::read(value).map_err(at)?)),*
                }
                Ok(())
            }
        }

        impl From<Config> for Settings {
            /// Every setting as a mentioned one; what has no default only when there is one.
            fn from(config: Config) -> Self {
                Self { $($field: settings!(@mention config.$field $(, $default)?)),* }
            }
        }
    };
    (@type $type:ty) => { Option<$type> };
    (@type $type:ty, $default:expr) => { $type };
    (@resolve $value:expr) => { $value };
    (@resolve $value:expr, $default:expr) => { $value.unwrap_or_else(|| $default) };
    (@mention $value:expr) => { $value };
    (@mention $value:expr, $default:expr) => { Some($value) };
}
pub(super) use settings;
