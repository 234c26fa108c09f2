//! Decompression of gzip and zstd input, recognised by its first bytes.
//!
//! The content decides and not the name: gzip's two bytes and zstd's four are no UTF-8. The
//! announced size of decompressed content is not trustworthy. So text comes in blocks, and a zstd
//! window has 128 MiB at most (the limit of the library). A few kilobytes can hold millions of
//! repeated rows, so the reader drops repeated rows at once.
//!
//! A gzip stream may have several members: `cat a.gz b.gz` is a file of two members, and bgzip
//! writes many members. flate2's decoder for several members takes any bytes behind a member for
//! the next header. So this decoder refuses the zeros that tapes and block devices append. flate2's
//! decoder for a single member ignores all bytes behind the member, and so loses data silently.
//! Here zeros are padding, and any further bytes are an error that states their number.

use std::io::{self, BufRead, Read};
use std::ops::Range;

use flate2::bufread::GzDecoder;

/// The bytes that some editors put before UTF-8. They are not part of the first query's id.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The compression of an input text: gzip or zstd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    Gzip,
    Zstd,
}

impl Codec {
    /// Recognises gzip or zstd by the first bytes of an input; `None` for any other input.
    pub fn detect(start: &[u8]) -> Option<Codec> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // A zstd stream may begin with a skippable frame, which has other magic bytes.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Returns a reader of the decompressed text, through all gzip members or zstd frames. A byte
    /// order mark at the start is left out.
    pub fn reader<'a>(self, bytes: impl Read + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
        let mut text: Box<dyn Read + Send + 'a> = match self {
            // Both readers use buffers of their own, because mapped bytes may change.
            Self::Gzip => {
                let bytes = PeekReader::new(bytes, vec![0; 32 << 10]);
                Box::new(GzipMembers(GzDecoder::new(bytes)))
            }
            Self::Zstd => Box::new(zstd::stream::read::Decoder::new(bytes)?),
        };
        let mut start = Vec::new();
        // A reader may give fewer bytes than asked for, so `read_to_end` repeats until three bytes
        // arrive.
        text.by_ref().take(BYTE_ORDER_MARK.len() as u64).read_to_end(&mut start)?;
        if start == BYTE_ORDER_MARK {
            start.clear();
        }
        Ok(Box::new(io::Cursor::new(start).chain(text)))
    }

    /// Returns a reader of the decompressed text like [`Codec::reader`], whose errors explain the
    /// fault.
    pub fn text<'a>(self, bytes: impl Read + Send + 'a) -> io::Result<DecompressReader<'a>> {
        let text = self.reader(bytes).map_err(|error| self.explain(error))?;
        Ok(DecompressReader { codec: self, text })
    }

    /// Rewords a decompression error to describe the gzip or zstd stream, unless its bytes could
    /// not be [read](SourceError).
    fn explain(self, error: io::Error) -> io::Error {
        let name = match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        };
        match error.kind() {
            // A failing disk is not a damaged file, so the error of the source stays unchanged.
            _ if error.get_ref().is_some_and(|inner| inner.is::<SourceError>()) => error,
            kind @ io::ErrorKind::UnexpectedEof => {
                io::Error::new(kind, format!("the {name} stream ends early: is the file complete?"))
            }
            io::ErrorKind::OutOfMemory => error,
            kind if error.to_string().contains("requires too much memory") => {
                let message = "the zstd stream needs a window of more than 128 MiB, the largest \
                     that is read: decompress it first \
                     (`zstd -dc --long=31`)";
                io::Error::new(kind, message)
            }
            kind => io::Error::new(kind, format!("the {name} stream is damaged: {error}")),
        }
    }
}

/// A reader of decompressed gzip or zstd text, whose errors describe the fault of the stream.
pub struct DecompressReader<'a> {
    codec: Codec,
    text: Box<dyn Read + Send + 'a>,
}

impl Read for DecompressReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.text.read(into).map_err(|error| match error.kind() {
            // Readers try again after this kind, which another kind would prevent.
            io::ErrorKind::Interrupted => error,
            _ => self.codec.explain(error),
        })
    }
}

/// An error in reading the compressed bytes, as opposed to an error in decompressing them.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct SourceError(io::Error);

/// A reader of compressed bytes that marks its errors as errors of the source, not of the
/// compression.
pub struct SourceReader<R>(pub R);

impl<R: Read> Read for SourceReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into).map_err(|error| io::Error::new(error.kind(), SourceError(error)))
    }
}

/// Reads some bytes from a reader into a buffer, and tries again if a signal interrupts.
pub fn read_some(reader: &mut dyn Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// A buffered reader of compressed bytes that can look at the next bytes without taking them.
struct PeekReader<'a> {
    reader: Box<dyn Read + Send + 'a>,
    buffer: Vec<u8>,
    /// The range of the buffer that was read, and not yet taken.
    range: Range<usize>,
    /// The number of bytes that were taken.
    taken: u64,
}

impl<'a> PeekReader<'a> {
    fn new(reader: impl Read + Send + 'a, buffer: Vec<u8>) -> Self {
        Self { reader: Box::new(reader), buffer, range: 0..0, taken: 0 }
    }

    /// Returns the next bytes without taking them: at least `least` bytes, unless the end comes
    /// first.
    fn look(&mut self, least: usize) -> io::Result<&[u8]> {
        while self.range.len() < least {
            if self.range.start > 0 {
                self.buffer.copy_within(self.range.clone(), 0);
                self.range = 0..self.range.len();
            }
            match read_some(&mut self.reader, &mut self.buffer[self.range.end..])? {
                0 => break,
                read => self.range.end += read,
            }
        }
        Ok(&self.buffer[self.range.clone()])
    }
}

impl Read for PeekReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.look(1)?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for PeekReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.look(1)
    }

    fn consume(&mut self, amount: usize) {
        self.range.start += amount;
        self.taken += amount as u64;
    }
}

/// A reader of a gzip stream of several members, and of zeros behind these, as left by tapes and
/// block devices. Any further bytes may be lost data, and are an error.
struct GzipMembers<'a>(GzDecoder<PeekReader<'a>>);

impl GzipMembers<'_> {
    /// Starts the next member of the gzip stream; `false` if there is none.
    fn next(&mut self) -> io::Result<bool> {
        let rest = self.0.get_mut();
        // Invariant: a member's decoder takes no byte behind its own, for it reads from a buffer
        // and says how many it used.
        if rest.look(2)?.starts_with(&[0x1f, 0x8b]) {
            let nothing = PeekReader::new(io::empty(), Vec::new());
            let rest = std::mem::replace(rest, nothing);
            self.0.reset(rest);
            return Ok(true);
        }
        // All of the rest is read, to tell a megabyte of zeros from zeros with something behind
        // them.
        let (before, mut zeros) = (rest.taken, true);
        while let bytes @ [_, ..] = rest.look(1)? {
            let length = bytes.len();
            zeros &= bytes.iter().all(|&byte| byte == 0);
            rest.consume(length);
        }
        if zeros {
            return Ok(false);
        }
        let left = rest.taken - before;
        let message =
            format!("after its {before} bytes there are {left} more, neither gzip nor zeros");
        Err(io::Error::new(io::ErrorKind::InvalidData, message))
    }
}

impl Read for GzipMembers<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.0.read(into)?;
            if read > 0 || into.is_empty() || !self.next()? {
                return Ok(read);
            }
        }
    }
}

/// Compresses a text by gzip.
#[cfg(test)]
pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::read::GzEncoder::new(text, flate2::Compression::fast());
    let mut bytes = Vec::new();
    encoder.read_to_end(&mut bytes).unwrap();
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(codec: Codec, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        codec.text(bytes)?.read_to_end(&mut text)?;
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
            let what =
                format!("after its {before} bytes there are {left} more, neither gzip nor zeros");
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
        assert!(
            error.starts_with("the zstd stream needs a window of more than 128 MiB"),
            "{error}"
        );
    }
}
