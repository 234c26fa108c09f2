//! An input that is open: its bytes, as far as they are needed to tell its format.
//!
//! A stream is read to its end, unless its start already says that nothing will read it: a first
//! line that is too long, or bytes that no format begins with. A device of random bytes has no end.

use std::borrow::Cow;
use std::fs::File;
use std::io::ErrorKind::InvalidData;
use std::io::Read;
use std::path::{Path, PathBuf};

use memchr::memrchr;

use crate::bytes::mmap::FileAccess;
use crate::bytes::mmap::Mapping;
use crate::error::{Error, Problem, Problems, Result};
use crate::format::lmx::is_label_matrix;
use crate::watch::TellingReader;

use super::foreign::{HEAD, has_head};
use super::input_format::InputFormat;
use super::json::is_json;
use super::npy::MAGIC;
use crate::bytes::compression::{BYTE_ORDER_MARK, Codec};
use crate::bytes::input::Input;
use crate::bytes::limits::LONGEST_LINE;

impl Input {
    /// Maps or reads the text.
    pub fn open(self, access: FileAccess) -> Result<Opened> {
        let name = self.shown();
        let at = if let Input::Path(path) = &self { Some(path.clone()) } else { None };
        let bytes = match self {
            Input::Path(path) => {
                let file = File::open(&path).map_err(|e| Error::io(&path, "open", e))?;
                match file.metadata() {
                    Ok(kind) if !kind.is_file() => TextBytes::Owned(read_stream(file, &path)?),
                    _ => TextBytes::File(Mapping::of(&file, &path, access)?),
                }
            }
            Input::Stdin => match stdin_file() {
                Some(file) => TextBytes::File(Mapping::of(&file, Path::new(&name), access)?),
                None => TextBytes::Owned(read_stream(std::io::stdin().lock(), Path::new(&name))?),
            },
            Input::Bytes { bytes, .. } => TextBytes::Owned(bytes),
        };
        let opened = Opened { name, path: at, bytes };
        if is_label_matrix(opened.content().0) {
            return Err(is_matrix(opened.name));
        }
        Ok(opened)
    }
}

/// An open input, which can be read more than once.
#[derive(Debug)]
pub struct Opened {
    /// The name of the input in messages.
    pub name: String,
    /// The path of the input, or `None` for other inputs.
    pub path: Option<PathBuf>,
    bytes: TextBytes,
}

#[derive(Debug)]
enum TextBytes {
    File(Mapping),
    Owned(Vec<u8>),
}

/// The error of a label matrix that is given as text.
pub fn is_matrix(file: String) -> Error {
    let message =
        "is a label matrix (.lmx): give it as a file, in the place of qrels and runs".to_owned();
    Error::Input(Problems { first: vec![Problem { file, line: 0, message }], more: 0 })
}

/// The file that is the standard input, if nothing of it has been read yet.
#[cfg(unix)]
pub fn stdin_file() -> Option<File> {
    use std::io::Seek;
    use std::os::fd::AsFd;
    let mut file = File::from(std::io::stdin().as_fd().try_clone_to_owned().ok()?);
    let whole = file.metadata().ok()?.is_file() && file.stream_position().ok()? == 0;
    whole.then_some(file)
}

#[cfg(not(unix))]
pub fn stdin_file() -> Option<File> {
    None
}

/// Reads a stream to its end, or until a line is longer than the limit, unless it may be one of
/// JSON: the rest does not matter then.
fn read_stream(stream: impl Read, path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_on(stream, &mut bytes, usize::MAX).map_err(|e| Error::io(path, "read", e))?;
    Ok(bytes)
}

/// Reads on in a stream whose start is in `bytes`, until at least `wanted` bytes are there; `true`
/// if the rest does not matter.
pub fn read_on(mut stream: impl Read, bytes: &mut Vec<u8>, wanted: usize) -> std::io::Result<bool> {
    const BLOCK: usize = 1 << 20;
    let mut line = memrchr(b'\n', bytes).map_or(0, |feed| feed + 1);
    while bytes.len() < wanted {
        let from = bytes.len();
        let block = BLOCK.min(wanted - from);
        bytes.try_reserve(block)?; // to read without it may abort
        if stream.by_ref().take(block as u64).read_to_end(bytes)? == 0 {
            return Ok(true);
        }
        line = memrchr(b'\n', &bytes[from..]).map_or(line, |feed| from + feed + 1);
        let is_text = || {
            let of_bytes = InputFormat::of_tables(bytes).is_some() || bytes.starts_with(MAGIC);
            let is_matrix = is_label_matrix(bytes);
            Codec::of(bytes).is_none() && !of_bytes && !is_matrix && !is_json(bytes)
        };
        if from < HEAD && bytes.len() >= HEAD && is_text() && is_binary(&bytes[..HEAD]) {
            return Err(std::io::Error::new(
                InvalidData,
                "it is binary, and of no format that is read here",
            ));
        }
        if bytes.len() - line > LONGEST_LINE && is_text() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether no text starts with these bytes. Such bytes contain zeros and are not UTF-8; a character
/// cut off at the end still counts as UTF-8.
fn is_binary(start: &[u8]) -> bool {
    let is_utf8 =
        std::str::from_utf8(start).map_or_else(|error| error.error_len().is_none(), |_| true);
    start.contains(&0) && !is_utf8
}

impl Opened {
    /// The name and the path of a text whose bytes are read in another way.
    pub fn elsewhere(input: &Input) -> Self {
        let path = if let Input::Path(path) = input { Some(path.clone()) } else { None };
        Opened { name: input.shown(), path, bytes: TextBytes::Owned(Vec::new()) }
    }

    /// The bytes, without a byte order mark, and their compression, if there is one.
    pub fn content(&self) -> (&[u8], Option<Codec>) {
        let bytes: &[u8] = match &self.bytes {
            TextBytes::File(file) => file,
            TextBytes::Owned(bytes) => bytes,
        };
        (bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes), Codec::of(bytes))
    }

    /// The number of bytes of the text, decompressed.
    pub fn length(&self) -> std::io::Result<u64> {
        match self.content() {
            (bytes, None) => Ok(bytes.len() as u64),
            _ => std::io::copy(&mut self.text()?, &mut std::io::sink()),
        }
    }

    /// The text, decompressed.
    pub fn text(&self) -> std::io::Result<Box<dyn Read + Send + '_>> {
        self.text_told(|_| ())
    }

    /// The whole text, decompressed.
    pub fn whole(&self) -> std::io::Result<Cow<'_, [u8]>> {
        if let (bytes, None) = self.content() {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut bytes = Vec::new();
        self.text()?.read_to_end(&mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// The text as a stream; `tell` hears how many bytes of the content were read, each time some
    /// were.
    pub fn text_told<'a>(
        &'a self,
        tell: impl FnMut(u64) + Send + 'a,
    ) -> std::io::Result<Box<dyn Read + Send + 'a>> {
        let (reader, codec) = self.content();
        let bytes = TellingReader { reader, tell };
        match codec {
            None => Ok(Box::new(bytes)),
            Some(codec) => Ok(Box::new(codec.text(bytes)?)),
        }
    }

    /// The start of the text, with a whole line if the text has one; `None` for broken compression,
    /// which the reader of the whole text reports.
    pub fn start(&self) -> Option<Cow<'_, [u8]>> {
        let (bytes, codec) = self.content();
        let Some(codec) = codec else { return Some(Cow::Borrowed(bytes)) };
        let mut text = Vec::new();
        let mut reader = codec.reader(bytes).ok()?;
        let mut wanted = HEAD + 1;
        while reader.by_ref().take((wanted - text.len()) as u64).read_to_end(&mut text).ok()? > 0
            && text.len() <= LONGEST_LINE
            && !has_head(&text)
        {
            wanted = (2 * wanted).min(LONGEST_LINE + 1);
        }
        Some(Cow::Owned(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_of_a_stream_is_read_than_its_first_line_that_is_too_long() {
        let path = Path::new("it");
        let lines = b"q 0 d 1\n".repeat(300_000);
        assert_eq!(read_stream(&lines[..], path).unwrap(), lines);
        let endless = read_stream((&lines[..]).chain(std::io::repeat(b'x')), path).unwrap();
        let line = endless.len() - lines.len();
        assert!((LONGEST_LINE + 1..LONGEST_LINE + (2 << 20)).contains(&line), "{line}");
        let matrix = [MAGIC, &vec![0; LONGEST_LINE + (3 << 20)]].concat();
        assert_eq!(
            read_stream(&matrix[..], path).unwrap().len(),
            matrix.len(),
            "which has no lines"
        );
        let json =
            [&b"{\"q\": {\"a\": 1"[..], &b", \"document\": 1".repeat(LONGEST_LINE / 14)].concat();
        assert!(json.len() > LONGEST_LINE + (2 << 20));
        assert_eq!(read_stream(&json[..], path).unwrap().len(), json.len());
        let endless = read_stream((&b"{\"q"[..]).chain(std::io::repeat(b'x')), path).unwrap();
        assert!(endless.len() < LONGEST_LINE + (2 << 20));
    }

    #[test]
    fn no_more_of_binary_bytes_is_read_than_tells_them() {
        let random =
            (0..1u64 << 22).flat_map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
        let random: Vec<u8> = random.take(2 << 20).collect();
        let mut endless = (&random[..]).chain(std::io::repeat(b'\n'));
        let error = read_stream(&mut endless, Path::new("it")).unwrap_err().to_string();
        assert_eq!(error, "it: cannot read: it is binary, and of no format that is read here");
        let text = ["q 0 d\0 1\n", "q 0 \u{fc} 1\n"].concat().repeat(100_000);
        assert_eq!(read_stream(text.as_bytes(), Path::new("it")).unwrap().len(), text.len());
    }
}
