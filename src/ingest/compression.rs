//! gzip and zstd, recognised by their first bytes.

use std::io::{self, BufReader, Read};

use flate2::bufread::GzDecoder;

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
            // Both read from a buffer of their own: what is mapped may change.
            Codec::Gzip => Box::new(Members::new(bytes)),
            Codec::Zstd => Box::new(zstd::stream::read::Decoder::new(bytes)?),
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
            io::ErrorKind::OutOfMemory => error,
            kind if error.to_string().contains("requires too much memory") => {
                let message = "the zstd stream needs a window of more than 128 MiB, the largest that is read: decompress it first \
                     (`zstd -dc --long=31`)";
                io::Error::new(kind, message)
            }
            kind => io::Error::new(kind, format!("the {name} stream is damaged: {error}")),
        }
    }
}

/// The members of a gzip stream one after the other, and zeros behind them, as tapes and block devices leave them. Anything else
/// there may be data that was lost, and is an error.
struct Members<'a> {
    member: GzDecoder<BufReader<&'a [u8]>>,
    /// The member and what follows it.
    bytes: &'a [u8],
    /// How many bytes stand before it.
    before: usize,
}

impl<'a> Members<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Members { member: GzDecoder::new(BufReader::new(bytes)), bytes, before: 0 }
    }

    /// Goes on to the next member; `false` if there is none.
    fn next(&mut self) -> io::Result<bool> {
        let reader = self.member.get_ref();
        let length = self.bytes.len() - reader.get_ref().len() - reader.buffer().len();
        (self.bytes, self.before) = (&self.bytes[length..], self.before + length);
        if self.bytes.starts_with(&[0x1f, 0x8b]) {
            self.member.reset(BufReader::new(self.bytes));
            return Ok(true);
        }
        if self.bytes.iter().all(|&byte| byte == 0) {
            return Ok(false);
        }
        let (before, left) = (self.before, self.bytes.len());
        let message = format!("after its {before} bytes stand {left} more, neither gzip nor zeros");
        Err(io::Error::new(io::ErrorKind::InvalidData, message))
    }
}

impl Read for Members<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.member.read(into)?;
            if read > 0 || into.is_empty() || !self.next()? {
                return Ok(read);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::read::GzEncoder::new(text, flate2::Compression::fast());
        let mut bytes = Vec::new();
        encoder.read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn text(codec: Codec, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        codec
            .reader(bytes)
            .and_then(|mut reader| reader.read_to_end(&mut text))
            .map_err(|e| codec.explain(e))?;
        Ok(text)
    }

    #[test]
    fn zeros_behind_gzip_are_padding_and_anything_else_is_not() {
        let (one, two, none) = (gzip(b"one\n"), gzip(&[b'x'; 100_000]), gzip(b""));
        let all = [&one[..], &none, &two].concat();
        let expected = [&b"one\n"[..], &[b'x'; 100_000]].concat();
        for zeros in [0, 1, 2, 511, 100_000] {
            assert_eq!(text(Codec::Gzip, &[&all[..], &vec![0; zeros]].concat()).unwrap(), expected);
        }
        for junk in [&b"junk"[..], &[0, 0, 0, 1], &[0x1f], &[&[0; 512][..], &one].concat()] {
            let error = text(Codec::Gzip, &[&all[..], junk].concat()).unwrap_err().to_string();
            let (before, left) = (all.len(), junk.len());
            let what = format!("after its {before} bytes stand {left} more, neither gzip nor zeros");
            assert_eq!(error, format!("the gzip stream is damaged: {what}"));
        }
        for end in 2..one.len() {
            let error = text(Codec::Gzip, &[&two[..], &one[..end]].concat()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{end} {error}");
        }
    }

    #[test]
    fn a_window_that_is_too_large_is_no_damage() {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(28).unwrap();
        io::Write::write_all(&mut encoder, b"q 0 d 1\n").unwrap();
        let error = text(Codec::Zstd, &encoder.finish().unwrap()).unwrap_err().to_string();
        assert!(error.starts_with("the zstd stream needs a window of more than 128 MiB"), "{error}");
    }
}
