//! Opened inputs of judgments and runs: the bytes of a mapped file, or those read from a stream.
//!
//! A stream is read to its end, unless its start already says that nothing will read it: a first
//! line that is too long, or bytes that no format begins with. A device of random bytes has no end.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use memchr::memrchr;

use crate::bytes::{
    compression::{BYTE_ORDER_MARK, Codec},
    input::{Input, parts_of},
    limits::MAX_LINE_BYTES,
    mmap::{FileAccess, Mapping},
};
use crate::error::{Error, Result};
use crate::format::lmx::is_label_matrix;
use crate::lines::{diagnostics::whole_file, scan::last_line};
use crate::progress::ProgressReader;

use super::{
    detect::enough::{HEAD, has_head},
    input_format::InputFormat,
    json::walk::is_json,
    npy::MAGIC,
};

impl Input {
    /// Opens a file, the standard input or bytes as an input: maps or reads the content.
    pub fn open(self, access: FileAccess) -> Result<OpenInput> {
        let mut opened = OpenInput::without_content(&self);
        if let Self::Path(path) = &self {
            let parts = parts_of(path).into_iter();
            let parts = parts.map(|part| Self::Path(part).open(access).map(Arc::new));
            opened.parts = parts.collect::<Result<_>>()?;
            if !opened.parts.is_empty() {
                return opened.checked_parts();
            }
        }
        opened.bytes = match self {
            Self::Path(path) => {
                let file = File::open(&path).map_err(|e| Error::io(&path, "open", e))?;
                match file.metadata() {
                    Ok(kind) if !kind.is_file() => TextBytes::Owned(read_stream(file, &path)?),
                    _ => TextBytes::File(Mapping::from_file(&file, &path, access)?),
                }
            }
            Self::Stdin => {
                let path = Path::new(&opened.name);
                match stdin_file() {
                    Some(file) => TextBytes::File(Mapping::from_file(&file, path, access)?),
                    None => TextBytes::Owned(read_stream(io::stdin().lock(), path)?),
                }
            }
            Self::Bytes { bytes, .. } => TextBytes::Owned(bytes),
        };
        if is_label_matrix(opened.content().0) {
            return Err(is_matrix(opened.name));
        }
        Ok(opened)
    }
}

/// An opened input of judgments or of a run, mapped or in memory, which can be read more than once.
#[derive(Debug)]
pub struct OpenInput {
    /// The name of the input in messages.
    pub name: String,
    /// The path of the input, or `None` for other inputs.
    pub path: Option<PathBuf>,
    /// The files of a folder that is one table, whose content stands for the first of them; none
    /// for other inputs.
    pub parts: Vec<Arc<OpenInput>>,
    bytes: TextBytes,
}

#[derive(Debug)]
enum TextBytes {
    File(Mapping),
    Owned(Vec<u8>),
}

/// Makes the error about a `.lmx` label matrix that is given where text is expected.
pub fn is_matrix(file: String) -> Error {
    let message = "is a label matrix (.lmx): give it as a file, in the place of qrels and runs";
    whole_file(&file, message.to_owned()).into()
}

/// Returns the standard input as a file, if it is a file of which nothing has been read yet.
#[cfg(unix)]
pub fn stdin_file() -> Option<File> {
    use std::io::Seek;
    use std::os::fd::AsFd;
    let mut file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    let whole = file.metadata().ok()?.is_file() && file.stream_position().ok()? == 0;
    whole.then_some(file)
}

#[cfg(not(unix))]
pub fn stdin_file() -> Option<File> {
    None
}

/// Reads a stream into memory, to its end or until a line is longer than text may have. A line of
/// JSON may be longer. Behind a line that is too long the rest does not matter.
fn read_stream(stream: impl Read, path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_on(stream, &mut bytes, usize::MAX).map_err(|e| Error::io(path, "read", e))?;
    Ok(bytes)
}

/// Reads on in a stream, whose start is in `bytes`, until `wanted` bytes are there; `true` if no
/// more are needed.
pub fn read_on(mut stream: impl Read, bytes: &mut Vec<u8>, wanted: usize) -> io::Result<bool> {
    const BLOCK: usize = 1 << 20;
    let mut line = last_line(bytes);
    while bytes.len() < wanted {
        let from = bytes.len();
        let block = BLOCK.min(wanted - from);
        // The room is reserved first, because a read that finds no memory may abort the process.
        bytes.try_reserve(block)?;
        if stream.by_ref().take(block as u64).read_to_end(bytes)? == 0 {
            return Ok(true);
        }
        line = memrchr(b'\n', &bytes[from..]).map_or(line, |feed| from + feed + 1);
        if from < HEAD && bytes.len() >= HEAD && may_be_text(bytes) && is_binary(&bytes[..HEAD]) {
            let message = "it is binary, and of no format that is read here";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        if bytes.len() - line > MAX_LINE_BYTES && may_be_text(bytes) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether bytes start no compressed, columnar, matrix or JSON input, and so perhaps lines
/// of text.
fn may_be_text(start: &[u8]) -> bool {
    Codec::detect(start).is_none()
        && InputFormat::detect_table(start).is_none()
        && !start.starts_with(MAGIC)
        && !is_label_matrix(start)
        && !is_json(start)
}

/// Returns whether the bytes at the start of an input cannot be text. Such bytes contain zeros and
/// are not UTF-8; a character cut off at the end still counts as UTF-8.
fn is_binary(start: &[u8]) -> bool {
    start.contains(&0) && str::from_utf8(start).is_err_and(|error| error.error_len().is_some())
}

impl OpenInput {
    /// Returns an opened input with only its name and path, for bytes that are read in another way.
    pub fn without_content(input: &Input) -> Self {
        let path = if let Input::Path(path) = input { Some(path.clone()) } else { None };
        let bytes = TextBytes::Owned(Vec::new());
        Self { name: input.display_name(), path, parts: Vec::new(), bytes }
    }

    /// Rejects a folder with a file that is no table: only readers of tables take more than the first
    /// file.
    fn checked_parts(self) -> Result<Self> {
        let is_table = |part: &OpenInput| InputFormat::detect_table(part.content().0).is_some();
        let wrong = self.parts.iter().find(|part| !is_table(part));
        let Some(wrong) = wrong else { return Ok(self) };
        let message = "is neither Parquet nor Arrow, which its name says";
        Err(whole_file(&wrong.name, message.to_owned()).into())
    }

    /// Returns the bytes of the input as stored, without a byte order mark, and their compression,
    /// if any.
    pub fn content(&self) -> (&[u8], Option<Codec>) {
        if let Some(first) = self.parts.first() {
            return first.content();
        }
        let bytes: &[u8] = match &self.bytes {
            TextBytes::File(file) => file,
            TextBytes::Owned(bytes) => bytes,
        };
        (bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes), Codec::detect(bytes))
    }

    /// Returns the number of bytes of the input's text, decompressed.
    pub fn length(&self) -> io::Result<u64> {
        match self.content() {
            (bytes, None) => Ok(bytes.len() as u64),
            _ => io::copy(&mut self.text()?, &mut io::sink()),
        }
    }

    /// Returns a reader of the input's text, decompressed.
    pub fn text(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        self.text_with_progress(|_| ())
    }

    /// Returns the whole text of the input in memory, decompressed.
    pub fn whole(&self) -> io::Result<Cow<'_, [u8]>> {
        if let (bytes, None) = self.content() {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut bytes = Vec::new();
        self.text()?.read_to_end(&mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// Returns a reader of the input's decompressed text; `report` hears how many stored bytes each
    /// read took.
    pub fn text_with_progress<'a>(
        &'a self,
        report: impl FnMut(u64) + Send + 'a,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        let (reader, codec) = self.content();
        let bytes = ProgressReader { reader, report };
        match codec {
            None => Ok(Box::new(bytes)),
            Some(codec) => Ok(Box::new(codec.text(bytes)?)),
        }
    }

    /// Returns the decompressed start of the input, with a whole line if it has one; `None` if
    /// compression is broken. The reader of the whole text reports broken compression.
    pub fn start(&self) -> Option<Cow<'_, [u8]>> {
        let (bytes, codec) = self.content();
        let Some(codec) = codec else { return Some(Cow::Borrowed(bytes)) };
        let mut text = Vec::new();
        let mut reader = codec.reader(bytes).ok()?;
        let mut wanted = HEAD + 1;
        while reader.by_ref().take((wanted - text.len()) as u64).read_to_end(&mut text).ok()? > 0
            && text.len() <= MAX_LINE_BYTES
            && !has_head(&text)
        {
            wanted = (2 * wanted).min(MAX_LINE_BYTES + 1);
        }
        Some(Cow::Owned(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stream: impl Read) -> Result<Vec<u8>> {
        read_stream(stream, Path::new("it"))
    }

    #[test]
    fn no_more_of_a_stream_is_read_than_its_first_line_that_is_too_long() {
        let lines = b"q 0 d 1\n".repeat(300_000);
        assert_eq!(read(&lines[..]).unwrap(), lines);
        let endless = read((&lines[..]).chain(io::repeat(b'x'))).unwrap();
        let line = endless.len() - lines.len();
        assert!((MAX_LINE_BYTES + 1..MAX_LINE_BYTES + (2 << 20)).contains(&line), "{line}");
        let matrix = [MAGIC, &vec![0; MAX_LINE_BYTES + (3 << 20)]].concat();
        assert_eq!(read(&matrix[..]).unwrap().len(), matrix.len(), "which has no lines");
        let json =
            [&b"{\"q\": {\"a\": 1"[..], &b", \"document\": 1".repeat(MAX_LINE_BYTES / 14)].concat();
        assert!(json.len() > MAX_LINE_BYTES + (2 << 20));
        assert_eq!(read(&json[..]).unwrap().len(), json.len());
        let endless = read((&b"{\"q"[..]).chain(io::repeat(b'x'))).unwrap();
        assert!(endless.len() < MAX_LINE_BYTES + (2 << 20));
    }

    #[test]
    fn no_more_of_binary_bytes_is_read_than_tells_them() {
        let random =
            (0..1u64 << 22).flat_map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
        let random: Vec<u8> = random.take(2 << 20).collect();
        let endless = (&random[..]).chain(io::repeat(b'\n'));
        let error = read(endless).unwrap_err().to_string();
        assert_eq!(error, "it: cannot read: it is binary, and of no format that is read here");
        let text = ["q 0 d\0 1\n", "q 0 \u{fc} 1\n"].concat().repeat(100_000);
        assert_eq!(read(text.as_bytes()).unwrap().len(), text.len());
    }
}
