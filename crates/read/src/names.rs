//! The macro that gives an enum of an option its names: the text of each variant, and the variant
//! of a text.

/// Gives an enum with a constant `ALL` of names and variants its `Display`, its `FromStr` and its
/// `Serialize`.
#[macro_export]
#[doc(hidden)]
macro_rules! named {
    ($option:ty, $what:literal) => {
        impl std::fmt::Display for $option {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let named = Self::ALL.iter().find(|(_, option)| option == self);
                f.pad(named.map_or("?", |(name, _)| name))
            }
        }

        $crate::serialized_as_text!($option);

        impl std::str::FromStr for $option {
            type Err = $crate::error::Error;

            /// The option of this name.
            ///
            /// # Errors
            /// Another name; the message lists the known names.
            fn from_str(text: &str) -> $crate::error::Result<Self> {
                let named = Self::ALL.iter().find(|(name, _)| *name == text);
                named.map(|&(_, option)| option).ok_or_else(|| {
                    let names: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
                    $crate::error::Error::option(text, $what, &names)
                })
            }
        }
    };
}

/// Gives a type with a `Display` and a `FromStr` its `Serialize` and its `Deserialize`: its text.
#[macro_export]
#[doc(hidden)]
macro_rules! serialized_as_text {
    ($type:ty) => {
        #[cfg(feature = "serde")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
