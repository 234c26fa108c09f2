//! Text that is read once, as through a pipe: decompressed as it comes.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::Arc;

use crate::bytes::compression::{BYTE_ORDER_MARK, Codec, CompressedBytes};
use crate::bytes::input::{Input, RunInput, run_names};
use crate::bytes::limits::LONGEST_LINE;
use crate::error::{Error, Result};
use crate::format::foreign::{HEAD, has_head};
use crate::format::lmx::is_label_matrix;
use crate::format::opened::{is_matrix, read_on, stdin_file};
use crate::watch::{TellingReader, Watch};

/// A text that can be read only once.
pub struct PassingText<'r> {
    /// The name of the text in messages.
    name: String,
    text: Box<dyn Read + Send + 'r>,
}

impl<'r> PassingText<'r> {
    /// Makes a text of `bytes`, perhaps compressed by gzip or zstd, which is recognised from the
    /// content.
    ///
    /// # Errors
    /// An error of the reader; a label matrix, which is not text.
    pub fn new(name: &str, mut bytes: impl Read + Send + 'r) -> Result<Self> {
        /// More bytes than are needed to recognise the compression.
        const START: u64 = 8;
        let failed = |error| Error::io(name.as_ref(), "read", error);
        let mut start = Vec::new();
        bytes.by_ref().take(START).read_to_end(&mut start).map_err(failed)?;
        if is_label_matrix(&start) {
            return Err(is_matrix(name.to_owned()));
        }
        let text: Box<dyn Read + Send + 'r> = match Codec::of(&start) {
            Some(codec) => {
                let bytes = CompressedBytes(Cursor::new(start).chain(bytes));
                Box::new(codec.text(bytes).map_err(failed)?)
            }
            None => {
                let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&start).to_vec();
                Box::new(Cursor::new(start).chain(bytes))
            }
        };
        Ok(PassingText { name: name.to_owned(), text })
    }

    /// Makes a passing text of an input, even of a file, which could be read again.
    ///
    /// # Errors
    /// As [`PassingText::new`]; a failure to open the path.
    pub fn of(input: Input) -> Result<PassingText<'static>> {
        Self::watched(input, None)
    }

    /// Makes a passing text like [`PassingText::of`], and tells the watch the size of a file, and
    /// the bytes read before decompression.
    ///
    /// # Errors
    /// As [`PassingText::of`].
    pub fn watched(input: Input, watch: Option<Arc<Watch>>) -> Result<PassingText<'static>> {
        let shown = input.shown();
        let expect = |file: &File| {
            let all =
                file.metadata().ok().filter(|file| file.is_file()).map_or(0, |file| file.len());
            watch.iter().for_each(|watch| watch.expect(all));
        };
        let bytes: Box<dyn Read + Send> = match input {
            Input::Path(path) => {
                let file = File::open(&path).map_err(|e| Error::io(&path, "open", e))?;
                expect(&file);
                Box::new(file)
            }
            Input::Stdin => {
                stdin_file().iter().for_each(expect);
                Box::new(io::stdin())
            }
            Input::Bytes { bytes, .. } => return PassingText::new(&shown, Cursor::new(bytes)),
        };
        match watch {
            None => PassingText::new(&shown, bytes),
            Some(watch) => PassingText::new(
                &shown,
                TellingReader { reader: bytes, tell: move |bytes| watch.add(bytes) },
            ),
        }
    }

    /// The name of the text in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads on until at least `wanted` bytes are in `held`. Returns `true` at the end of the text,
    /// or if the rest does not matter.
    ///
    /// # Errors
    /// An error of the reader; damaged compressed text.
    pub fn hold(&mut self, held: &mut Vec<u8>, wanted: usize) -> Result<bool> {
        let name = self.name.clone();
        read_on(self, held, wanted).map_err(|error| Error::io(name.as_ref(), "read", error))
    }

    /// Returns the start of the text: a whole line, if any, or fewer bytes that suffice to detect
    /// the format.
    pub fn head(&mut self) -> Result<Vec<u8>> {
        let (mut head, mut wanted) = (Vec::new(), HEAD + 1);
        while !self.hold(&mut head, wanted)? && head.len() <= LONGEST_LINE && !has_head(&head) {
            wanted = (2 * wanted).min(LONGEST_LINE + 1);
        }
        Ok(head)
    }
}

impl Read for PassingText<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.text.read(into)
    }
}

impl Input {
    /// Whether the text can be read only once.
    #[doc(hidden)]
    pub fn passes(&self) -> bool {
        match self {
            Input::Path(path) => path.metadata().is_ok_and(|kind| !kind.is_file()),
            Input::Stdin => stdin_file().is_none(),
            Input::Bytes { .. } => false,
        }
    }
}

impl RunInput {
    /// The input of the run's text.
    #[doc(hidden)]
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// The name of a single run.
    ///
    /// # Errors
    /// None: a single name cannot be used twice.
    #[doc(hidden)]
    pub fn name_alone(&self) -> Result<String> {
        Ok(run_names(std::slice::from_ref(self))?.remove(0))
    }
}
