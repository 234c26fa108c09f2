//! gzip and zstd, recognised by their first bytes.

use std::io::{self, Read};

/// What some editors put before UTF-8: no part of the first query's id.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

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
        let mut text: Box<dyn Read + Send + 'a> = match self {
            Codec::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(bytes)),
            Codec::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(bytes)?),
        };
        let mut start = Vec::new();
        text.by_ref().take(BYTE_ORDER_MARK.len() as u64).read_to_end(&mut start)?;
        if start == BYTE_ORDER_MARK {
            start.clear();
        }
        Ok(Box::new(io::Cursor::new(start).chain(text)))
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
