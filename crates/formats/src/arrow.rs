//! Files and streams of Arrow: the places of their messages, and the batches in them.
//!
//! The crate `arrow-ipc` reads a message in place, but trusts the lengths in the message. This
//! module checks the lengths first.
//!
//! ```text
//! stream    message, message, … , [ff ff ff ff] 00 00 00 00
//! file      ARROW1 ··  message, … , footer (where each message is), its length, ARROW1
//!
//! message   [ff ff ff ff]  length, i32   metadata (a flatbuffer)   body
//!                                        └ offset and length of each buffer in the body
//! buffer    of a compressed batch: length when decompressed, i64, then LZ4 or zstd
//! ```
//!
//! Each number here is a claim. flatbuffers checks the numbers of its own tables. This module
//! checks the place of each message, the places of its buffers, and the memory that a buffer asks
//! for. Nothing is copied: a message is a part of the file's memory, and so are its buffers, if
//! they are aligned and not compressed.
//!
//! Files and streams both become a list of places. For a stream, a single walk over the lengths
//! makes the list and reads a few bytes of each message. So batches of streams are read in parallel
//! as well.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, Message, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema};
use laneval::tables::WrongTable;
use rayon::prelude::*;

use crate::panics::guarded;

/// The bytes at both ends of a file.
const MAGIC: &[u8] = b"ARROW1";
/// The bytes before the length of a message.
const CONTINUES: [u8; 4] = [0xff; 4];
/// The largest ratio of data to its compressed form by LZ4 or zstd: a block of 128 KiB can have 4
/// bytes.
// A zstd block that repeats one byte has a header of 3 bytes and the byte: 2¹⁷/2² = 2¹⁵. LZ4 comes
// to 255 at most. Without a bound, a file of a kilobyte could ask for exabytes.
const RATIO: usize = 1 << 15;

/// A file or a stream, whose messages were found.
pub struct ArrowFile {
    pub schema: Arc<Schema>,
    version: MetadataVersion,
    /// The dictionaries and batches, in order.
    messages: Vec<MessagePlace>,
    bytes: Buffer,
}

/// The place of a message.
#[derive(Clone, Copy)]
struct MessagePlace {
    is_batch: bool,
    block: Block,
}

impl ArrowFile {
    /// Finds the messages.
    ///
    /// # Errors
    /// Messages that are missing or cannot be found.
    pub fn of(bytes: Buffer) -> Result<Self, WrongTable> {
        if bytes.starts_with(MAGIC) { Self::of_file(bytes) } else { Self::of_stream(bytes) }
    }

    fn of_file(bytes: Buffer) -> Result<Self, WrongTable> {
        let end = bytes.len().checked_sub(10).ok_or_else(incomplete)?;
        let trailer = bytes[end..].try_into().map_err(|_| incomplete())?;
        let length = read_footer_length(trailer).map_err(unreadable)?;
        let start = end.checked_sub(length).ok_or_else(incomplete)?;
        let footer =
            root_as_footer(&bytes[start..end]).map_err(|error| damaged(&error.to_string()))?;
        let schema = footer.schema().ok_or_else(|| damaged("no schema"))?;
        let schema = Arc::new(try_fb_to_schema(schema).map_err(unreadable)?);
        let (dictionaries, batches) = (footer.dictionaries(), footer.recordBatches());
        let place = |is_batch| move |block: &Block| MessagePlace { is_batch, block: *block };
        let messages = dictionaries.iter().flatten().map(place(false));
        let messages = messages.chain(batches.iter().flatten().map(place(true))).collect();
        let version = footer.version();
        Ok(ArrowFile { schema, version, messages, bytes })
    }

    fn of_stream(bytes: Buffer) -> Result<Self, WrongTable> {
        let (mut schema, mut version, mut messages) = (None, MetadataVersion::V5, Vec::new());
        let mut at = 0;
        while let Some(header) = header(&bytes[at..])? {
            let message = message(&bytes[at..], header)?;
            let body = usize::try_from(message.bodyLength()).map_err(|_| incomplete())?;
            let after = at
                .checked_add(header)
                .and_then(|at| at.checked_add(body))
                .ok_or_else(incomplete)?;
            if after > bytes.len() {
                return Err(incomplete());
            }
            let is_batch = message.header_type() == MessageHeader::RecordBatch;
            match message.header_as_schema() {
                Some(of) if schema.is_none() => {
                    schema = Some(Arc::new(try_fb_to_schema(of).map_err(unreadable)?));
                    version = message.version();
                }
                _ => {
                    let length = i32::try_from(header).map_err(|_| incomplete())?;
                    let block = Block::new(at as i64, length, message.bodyLength());
                    messages.push(MessagePlace { is_batch, block });
                }
            }
            at = after;
        }
        let schema = schema.ok_or_else(|| damaged("no schema"))?;
        Ok(ArrowFile { schema, version, messages, bytes })
    }

    /// Reads the batches, with only the columns `columns`.
    ///
    /// # Errors
    /// A damaged message.
    pub fn batches(&self, columns: Vec<usize>) -> Result<Vec<RecordBatch>, WrongTable> {
        let mut decoder =
            FileDecoder::new(self.schema.clone(), self.version).with_projection(columns);
        let mut batches = Vec::new();
        // Dictionaries of a stream may stand between its batches, and change. So each dictionary is
        // a piece by itself. Consecutive batches are a single piece, read in parallel under the
        // dictionaries so far.
        for alike in self.messages.chunk_by(|one, next| one.is_batch && next.is_batch) {
            match alike {
                [dictionary] if !dictionary.is_batch => {
                    let bytes = self.message(&dictionary.block)?;
                    guarded(|| {
                        decoder.read_dictionary(&dictionary.block, &bytes).map_err(unreadable)
                    })?;
                }
                all => {
                    let read = |place: &MessagePlace| {
                        let bytes = self.message(&place.block)?;
                        guarded(|| {
                            decoder.read_record_batch(&place.block, &bytes).map_err(unreadable)
                        })
                    };
                    let read: Vec<_> =
                        all.par_iter().map(read).collect::<Result<_, WrongTable>>()?;
                    batches.extend(read.into_iter().flatten());
                }
            }
        }
        Ok(batches)
    }

    /// Returns the bytes of a message, after checking its lengths.
    fn message(&self, block: &Block) -> Result<Buffer, WrongTable> {
        let number = |number: i64| usize::try_from(number).map_err(|_| incomplete());
        let (start, body) = (number(block.offset())?, number(block.bodyLength())?);
        let header = number(block.metaDataLength().into())?;
        let length = header.checked_add(body).ok_or_else(incomplete)?;
        if start.checked_add(length).is_none_or(|end| end > self.bytes.len()) {
            return Err(incomplete());
        }
        let bytes = self.bytes.slice_with_length(start, length);
        check_lengths(&message(&bytes, header)?, &bytes[header..])?;
        Ok(bytes)
    }
}

/// Returns how many bytes come before the body of the message at the start of `bytes`; `None` at
/// the end of a stream.
fn header(bytes: &[u8]) -> Result<Option<usize>, WrongTable> {
    if bytes.is_empty() {
        return Ok(None);
    }
    // Before version 0.15 of Arrow there were no four bytes 0xff, and the length stood first.
    let prefix = if bytes.starts_with(&CONTINUES) { CONTINUES.len() } else { 0 };
    let length = bytes[prefix..].first_chunk::<4>().ok_or_else(incomplete)?;
    let length = usize::try_from(i32::from_le_bytes(*length)).map_err(|_| incomplete())?;
    Ok((length > 0).then_some(prefix + 4 + length))
}

/// Returns the message at the start of `bytes`, whose header takes `header` bytes.
fn message(bytes: &[u8], header: usize) -> Result<Message<'_>, WrongTable> {
    let prefix = if bytes.starts_with(&CONTINUES) { 8 } else { 4 };
    let described = bytes.get(prefix..header).ok_or_else(incomplete)?;
    root_as_message(described).map_err(|error| damaged(&error.to_string()))
}

/// Rejects compressed buffers whose announced lengths are impossible or exceed the free memory.
fn check_lengths(message: &Message<'_>, body: &[u8]) -> Result<(), WrongTable> {
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    let Some(batch) = message.header_as_record_batch().or(dictionary) else { return Ok(()) };
    if batch.compression().is_none() {
        return Ok(());
    }
    for buffer in batch.buffers().iter().flatten() {
        let (Ok(start), Ok(length)) =
            (usize::try_from(buffer.offset()), usize::try_from(buffer.length()))
        else {
            return Err(incomplete());
        };
        let compressed = start
            .checked_add(length)
            .and_then(|end| body.get(start..end))
            .ok_or_else(incomplete)?;
        let Some(length) = compressed.first_chunk::<8>().map(|bytes| i64::from_le_bytes(*bytes))
        else {
            continue;
        };
        // −1 says that this buffer is not compressed. Other negative lengths are the reader's to
        // refuse.
        let Ok(length) = usize::try_from(length) else { continue };
        if length / RATIO > compressed.len() || Vec::<u8>::new().try_reserve_exact(length).is_err()
        {
            return Err(damaged(&format!("{} bytes cannot come to {length}", compressed.len())));
        }
    }
    Ok(())
}

fn incomplete() -> WrongTable {
    damaged("it is not complete")
}

fn damaged(what: &str) -> WrongTable {
    let what = what.lines().next().unwrap_or_default(); // the text behind the first line is a trace
    WrongTable::File(format!("is Arrow that cannot be read: {what}"))
}

fn unreadable(error: ArrowError) -> WrongTable {
    damaged(&error.to_string())
}
