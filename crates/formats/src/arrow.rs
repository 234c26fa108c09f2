//! Reading of Arrow IPC files and streams: finding their messages, checking lengths, decoding
//! record batches.
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
use arrow_ipc::{
    Block, Message, MessageHeader, MetadataVersion,
    convert::try_fb_to_schema,
    reader::{FileDecoder, read_footer_length},
    root_as_footer, root_as_message,
};
use arrow_schema::Schema;
use laneval::tables::TableError;
use rayon::prelude::*;

use crate::panics::catch_reader_panic;

/// The bytes at both ends of a file.
const MAGIC: &[u8] = b"ARROW1";
/// The bytes before the length of a message.
const CONTINUES: [u8; 4] = [0xff; 4];
/// The largest ratio of data to its compressed form by LZ4 or zstd: a block of 128 KiB can have 4
/// bytes.
// A zstd block that repeats one byte has a header of 3 bytes and the byte: 2¹⁷/2² = 2¹⁵. LZ4 comes
// to 255 at most. Without a bound, a file of a kilobyte could ask for exabytes.
const RATIO: usize = 1 << 15;

/// An Arrow IPC file or stream in memory, with its schema and the places of its messages.
pub struct ArrowFile {
    pub schema: Arc<Schema>,
    version: MetadataVersion,
    /// The dictionaries and batches, in order.
    messages: Vec<MessageRange>,
    bytes: Buffer,
}

/// The place of an Arrow message, a dictionary or a record batch, in the bytes of its file.
#[derive(Clone, Copy)]
struct MessageRange {
    is_batch: bool,
    block: Block,
}

impl ArrowFile {
    /// Finds the schema and the messages of an Arrow IPC file or stream in memory.
    ///
    /// # Errors
    /// Messages that are missing or cannot be found.
    pub fn parse(bytes: Buffer) -> Result<Self, TableError> {
        if bytes.starts_with(MAGIC) { Self::parse_file(bytes) } else { Self::parse_stream(bytes) }
    }

    fn parse_file(bytes: Buffer) -> Result<Self, TableError> {
        let end = bytes.len().checked_sub(10).ok_or_else(incomplete)?;
        let trailer = bytes[end..].try_into().map_err(|_| incomplete())?;
        let length = read_footer_length(trailer).map_err(damaged)?;
        let start = end.checked_sub(length).ok_or_else(incomplete)?;
        let footer = root_as_footer(&bytes[start..end]).map_err(damaged)?;
        let schema = footer.schema().ok_or_else(|| damaged("no schema"))?;
        let schema = Arc::new(try_fb_to_schema(schema).map_err(damaged)?);
        // A file must not replace a dictionary, as a stream may. So all dictionaries are read
        // before the batches.
        let messages = [(false, footer.dictionaries()), (true, footer.recordBatches())]
            .into_iter()
            .flat_map(|(is_batch, blocks)| {
                let blocks = blocks.into_iter().flatten();
                blocks.map(move |block| MessageRange { is_batch, block: *block })
            })
            .collect();
        let version = footer.version();
        Ok(Self { schema, version, messages, bytes })
    }

    fn parse_stream(bytes: Buffer) -> Result<Self, TableError> {
        let (mut schema, mut version, mut messages) = (None, MetadataVersion::V5, Vec::new());
        let mut at = 0;
        while let Some(header) = header(&bytes[at..])? {
            let message = message(&bytes[at..], header)?;
            let body = to_size(message.bodyLength())?;
            let after = at
                .checked_add(header)
                .and_then(|at| at.checked_add(body))
                .filter(|&after| after <= bytes.len())
                .ok_or_else(incomplete)?;
            let is_batch = message.header_type() == MessageHeader::RecordBatch;
            match message.header_as_schema() {
                Some(fb_schema) if schema.is_none() => {
                    schema = Some(Arc::new(try_fb_to_schema(fb_schema).map_err(damaged)?));
                    version = message.version();
                }
                _ => {
                    let length = i32::try_from(header).map_err(|_| incomplete())?;
                    let block = Block::new(at as i64, length, message.bodyLength());
                    messages.push(MessageRange { is_batch, block });
                }
            }
            at = after;
        }
        let schema = schema.ok_or_else(|| damaged("no schema"))?;
        Ok(Self { schema, version, messages, bytes })
    }

    /// Decodes the record batches of an Arrow file, with only the columns at the indices `columns`.
    ///
    /// # Errors
    /// A damaged message.
    pub fn batches(&self, columns: Vec<usize>) -> Result<Vec<RecordBatch>, TableError> {
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
                    catch_reader_panic(|| {
                        decoder.read_dictionary(&dictionary.block, &bytes).map_err(damaged)
                    })?;
                }
                all => {
                    let read = all.par_iter().map(|MessageRange { block, .. }| {
                        let bytes = self.message(block)?;
                        catch_reader_panic(|| {
                            decoder.read_record_batch(block, &bytes).map_err(damaged)
                        })
                    });
                    let read = read.collect::<Result<Vec<_>, TableError>>()?;
                    batches.extend(read.into_iter().flatten());
                }
            }
        }
        Ok(batches)
    }

    /// Returns the bytes of one Arrow message, after checks of its place and of its buffers'
    /// lengths.
    fn message(&self, block: &Block) -> Result<Buffer, TableError> {
        let (start, body) = (to_size(block.offset())?, to_size(block.bodyLength())?);
        let header = to_size(block.metaDataLength().into())?;
        let length = header.checked_add(body).ok_or_else(incomplete)?;
        if start.checked_add(length).is_none_or(|end| end > self.bytes.len()) {
            return Err(incomplete());
        }
        let bytes = self.bytes.slice_with_length(start, length);
        check_lengths(&message(&bytes, header)?, &bytes[header..])?;
        Ok(bytes)
    }
}

/// Returns the length of the header of the Arrow message at the start of `bytes`; `None` at the end
/// of a stream.
fn header(bytes: &[u8]) -> Result<Option<usize>, TableError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    // Before version 0.15 of Arrow there were no four bytes 0xff, and the length stood first.
    let prefix = if bytes.starts_with(&CONTINUES) { CONTINUES.len() } else { 0 };
    let length = bytes[prefix..].first_chunk::<4>().ok_or_else(incomplete)?;
    let length = to_size(i32::from_le_bytes(*length).into())?;
    Ok((length > 0).then_some(prefix + 4 + length))
}

/// Parses the metadata of the Arrow message at the start of `bytes`, whose header takes `header`
/// bytes.
fn message(bytes: &[u8], header: usize) -> Result<Message<'_>, TableError> {
    let prefix = if bytes.starts_with(&CONTINUES) { 8 } else { 4 };
    let described = bytes.get(prefix..header).ok_or_else(incomplete)?;
    root_as_message(described).map_err(damaged)
}

/// Rejects an Arrow message with compressed buffers whose announced lengths are impossible or
/// exceed the free memory.
fn check_lengths(message: &Message<'_>, body: &[u8]) -> Result<(), TableError> {
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    let Some(batch) = message.header_as_record_batch().or(dictionary) else { return Ok(()) };
    if batch.compression().is_none() {
        return Ok(());
    }
    for buffer in batch.buffers().iter().flatten() {
        let (start, length) = (to_size(buffer.offset())?, to_size(buffer.length())?);
        let compressed = start
            .checked_add(length)
            .and_then(|end| body.get(start..end))
            .ok_or_else(incomplete)?;
        let length = compressed.first_chunk().map(|bytes| i64::from_le_bytes(*bytes));
        // −1 says that this buffer is not compressed. Other negative lengths are the reader's to
        // refuse.
        let Some(length) = length.and_then(|length| usize::try_from(length).ok()) else { continue };
        if length / RATIO > compressed.len() || Vec::<u8>::new().try_reserve_exact(length).is_err()
        {
            return Err(damaged(format!("{} bytes cannot come to {length}", compressed.len())));
        }
    }
    Ok(())
}

/// Converts a length or an offset in an Arrow file to `usize`; a negative number is an error.
fn to_size(number: i64) -> Result<usize, TableError> {
    usize::try_from(number).map_err(|_| incomplete())
}

fn incomplete() -> TableError {
    damaged("it is not complete")
}

fn damaged(what: impl ToString) -> TableError {
    let what = what.to_string();
    // The lines behind the first are a trace of the verifier, which means nothing to users.
    let what = what.lines().next().unwrap_or_default();
    TableError::File(format!("is Arrow that cannot be read: {what}"))
}
