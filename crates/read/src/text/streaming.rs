//! Qrels or run text that is read once, as through a pipe, and decompressed as it comes.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::Arc;

use crate::bytes::{
    compression::{BYTE_ORDER_MARK, Codec, SourceReader},
    input::{Input, parts_of},
    limits::MAX_LINE_BYTES,
};
use crate::error::{Error, Result};
use crate::format::{
    detect::enough::{HEAD, has_head},
    lmx::is_label_matrix,
    open_input::{is_matrix, read_on, stdin_file},
};
use crate::progress::{ProgressHandle, ProgressReader};

/// A qrels or run text that can be read only once, as through a pipe.
pub struct StreamingText<'r> {
    /// The name of the text in messages.
    name: String,
    text: Box<dyn Read + Send + 'r>,
}

impl<'r> StreamingText<'r> {
    /// Makes a text that is read once from `bytes`, perhaps compressed by gzip or zstd. The
    /// compression is recognised from the content.
    ///
    /// # Errors
    /// An error of the reader; a label matrix, which is not text.
    pub fn new(name: &str, mut bytes: impl Read + Send + 'r) -> Result<Self> {
        /// More bytes than are needed to recognise the compression.
        const START: u64 = 8;
        let mut start = Vec::new();
        bytes
            .by_ref()
            .take(START)
            .read_to_end(&mut start)
            .map_err(|error| Error::unreadable(name, error))?;
        if is_label_matrix(&start) {
            return Err(is_matrix(name.to_owned()));
        }
        let text: Box<dyn Read + Send + 'r> = match Codec::detect(&start) {
            Some(codec) => {
                let bytes = SourceReader(Cursor::new(start).chain(bytes));
                Box::new(codec.text(bytes).map_err(|error| Error::unreadable(name, error))?)
            }
            None => {
                let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&start).to_vec();
                Box::new(Cursor::new(start).chain(bytes))
            }
        };
        Ok(Self { name: name.to_owned(), text })
    }

    /// Opens an input as a text that is read once, even a file, which could be read again, and
    /// reports the bytes read to `watch`. The watch also gets the size of a file. Bytes are counted
    /// before decompression.
    ///
    /// # Errors
    /// As [`StreamingText::new`]; a failure to open the path.
    pub fn from_input(
        input: Input,
        watch: Option<Arc<ProgressHandle>>,
    ) -> Result<StreamingText<'static>> {
        let shown = input.display_name();
        let (bytes, length): (Box<dyn Read + Send>, u64) = match input {
            Input::Path(path) => {
                let file = File::open(&path).map_err(|e| Error::io(&path, "open", e))?;
                let length = file_length(&file);
                (Box::new(file), length)
            }
            Input::Stdin => {
                (Box::new(io::stdin()), stdin_file().map_or(0, |file| file_length(&file)))
            }
            Input::Bytes { bytes, .. } => return StreamingText::new(&shown, Cursor::new(bytes)),
        };
        match watch {
            None => StreamingText::new(&shown, bytes),
            Some(watch) => {
                watch.expect(length);
                let report = move |bytes| watch.add(bytes);
                StreamingText::new(&shown, ProgressReader { reader: bytes, report })
            }
        }
    }

    /// Returns the name of the text (mostly its path, or `stdin`) for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads more of the text until at least `wanted` bytes are in `buffer`. Returns `true` at the
    /// end of the text, or if the rest does not matter.
    ///
    /// # Errors
    /// An error of the reader; damaged compressed text.
    pub fn fill_buffer(&mut self, buffer: &mut Vec<u8>, wanted: usize) -> Result<bool> {
        read_on(&mut self.text, buffer, wanted)
            .map_err(|error| Error::unreadable(&self.name, error))
    }

    /// Reads the start of the text: a whole line, if any, or fewer bytes that suffice to detect the
    /// format.
    pub fn head(&mut self) -> Result<Vec<u8>> {
        let (mut head, mut wanted) = (Vec::new(), HEAD + 1);
        while !self.fill_buffer(&mut head, wanted)?
            && head.len() <= MAX_LINE_BYTES
            && !has_head(&head)
        {
            wanted = (2 * wanted).min(MAX_LINE_BYTES + 1);
        }
        Ok(head)
    }
}

/// Returns the number of bytes of a file; 0 for a pipe, whose end is not known.
fn file_length(file: &File) -> u64 {
    file.metadata().ok().filter(|file| file.is_file()).map_or(0, |file| file.len())
}

impl Read for StreamingText<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.text.read(into)
    }
}

impl Input {
    /// Returns whether the input can be read only once, like a pipe.
    #[doc(hidden)]
    pub fn is_stream(&self) -> bool {
        match self {
            Self::Path(path) => {
                path.metadata().is_ok_and(|kind| !kind.is_file()) && parts_of(path).is_empty()
            }
            Self::Stdin => stdin_file().is_none(),
            Self::Bytes { .. } => false,
        }
    }
}
