//! gzip and zstd, recognised by their first bytes.

use std::io::{self, Read};

/// How a text is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    Gzip,
    Zstd,
}

impl Codec {
    /// What the first bytes say.
    pub fn of(start: &[u8]) -> Option<Codec> {
        match start {
            [0x1f, 0x8b, ..] => Some(Codec::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Codec::Zstd),
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Codec::Zstd), // a skippable frame
            _ => None,
        }
    }

    /// Its name.
    fn name(self) -> &'static str {
        match self {
            Codec::Gzip => "gzip",
            Codec::Zstd => "zstd",
        }
    }

    /// The text, of all members or frames one after the other.
    pub fn reader<'a>(self, bytes: &'a [u8]) -> io::Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Codec::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(bytes)),
            Codec::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(bytes)?),
        })
    }

    /// The same error in words about the stream.
    pub fn explain(self, error: io::Error) -> io::Error {
        let name = self.name();
        match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                io::Error::new(error.kind(), format!("the {name} stream ends early: is the file complete?"))
            }
            kind => io::Error::new(kind, format!("the {name} stream is damaged: {error}")),
        }
    }
}
