//! Unsafe access to foreign memory: buffers, dicts and lists of Python, and streams of Arrow. The
//! only file of the package with `unsafe`.
//!
//! # What each `unsafe` rests on
//!
//! ```text
//! buffer of numbers    the pointer, and count values behind it  `Array::from_py` looked at shape,
//!                                                               strides, alignment and type; the
//!                                                               buffer is held, so its owner
//!                                                               cannot free or resize it
//! dict of str → float  borrowed keys and values                 the dict holds them, until code of
//!                                                               Python may change it
//! list of tuples       borrowed tuples, and what is in them     the list holds them, likewise; a
//!                                                               tuple never changes
//! stream of Arrow      a struct behind a capsule                the capsule's name is the
//!                                                               interface's promise
//! ```
//!
//! The first cannot rule out that another thread of Python writes to the numbers meanwhile: NumPy
//! has no lock for that. Any bits are a number of these types, so what is read is wrong and nothing
//! more.
//!
//! Rows that lie apart, as in a slice of columns, are lent as they are:
//!
//! ```text
//! start
//! │ width    │ gap  │ width    │ gap  │ width    │
//! ├──────────┼──────┼──────────┼──────┼──────────┤
//! │◄─── stride ────►│                            └ (rows − 1) · stride + width: no gap behind the
//!                                                  last row, which may end the memory
//! ```
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::ptr::{self, NonNull};
use std::slice;

use arrow_array::RecordBatch;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use laneval::arrays::{Integers, Numbers};
use pyo3::buffer::{ElementType, PyUntypedBuffer};
use pyo3::ffi::{
    PyDict_Next, PyFloat_AsDouble, PyFloat_CheckExact, PyList_GetItem,
    PyLong_AsLongLongAndOverflow, PyLong_CheckExact, PyObject, PyTuple_CheckExact, PyTuple_GetItem,
    PyTuple_Size, PyUnicode_AsUTF8AndSize, PyUnicode_CheckExact,
};
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyFloat, PyList, PyString};

use crate::errors::{arrow_error, type_error, value_error, wrong_type};

/// The name that the Arrow capsule interface gives its streams.
pub const STREAM: &CStr = c"arrow_array_stream";

/// A Python array of numbers, of one or two dimensions, whose memory is held as long as this value.
///
/// Python code must not write to the memory meanwhile; if it does, arbitrary numbers are read.
pub struct Array {
    memory: Memory,
    kind: BufferKind,
    /// The number of rows, and the number of values of each; `None` for one dimension.
    rows: usize,
    width: Option<usize>,
    /// The number of values between the starts of two rows.
    stride: usize,
}

enum Memory {
    Borrowed(PyUntypedBuffer),
    /// A copy in words, so that it is aligned for every type.
    Copied(Vec<u64>),
}

#[derive(Clone, Copy)]
enum BufferKind {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F16,
    Bf16,
    F32,
    F64,
}

impl Array {
    /// Borrows the numbers of a Python object with a buffer, which messages call `name`. `bf16`
    /// says that 16 bits are those of a bfloat16.
    ///
    /// Rows may lie apart. Memory of any other layout is copied once.
    ///
    /// # Errors
    /// No buffer, no numbers, swapped bytes, more than two dimensions, or none.
    pub fn from_py(object: &Bound<'_, PyAny>, name: &str, bf16: bool) -> PyResult<Self> {
        let py = object.py();
        let buffer = PyUntypedBuffer::get(object)
            .map_err(|_| wrong_type(name, object, "an array of numbers"))?;
        let kind = kind(buffer.format(), bf16).map_err(|what| {
            type_error(format!(
                "{name} has values of {what}: integers, floats or bools were expected"
            ))
        })?;
        let (rows, width) = match *buffer.shape() {
            [values] => (values, None),
            [rows, width] => (rows, Some(width)),
            ref more => {
                let dimensions = more.len();
                return Err(value_error(format!(
                    "{name} has {dimensions} dimensions: one or two were expected"
                )));
            }
        };
        let size = buffer.item_size();
        // Cannot overflow: the buffer's length in bytes is the product of its shape and the size of
        // an item.
        let values = rows * width.unwrap_or(1);
        let stride = row_stride(&buffer, size, rows, width);
        // Arrays over bytes of a file, or a field of records, may lie anywhere. A reference to a
        // value that is not aligned would be undefined, even if the processor reads it.
        let aligned = (buffer.buf_ptr() as usize).is_multiple_of(size);
        let (memory, stride) = match stride {
            Some(stride) if aligned || values == 0 => (Memory::Borrowed(buffer), stride),
            _ => (copied(py, object, values * size)?, width.unwrap_or(1)),
        };
        Ok(Self { memory, kind, rows, width, stride })
    }

    /// Returns the number of values in a row of the array, and between the starts of two rows;
    /// `None` for one dimension.
    pub fn width(&self) -> Option<(usize, usize)> {
        self.width.map(|width| (width, self.stride))
    }

    /// Returns the number of rows of the array, or of values if it has one dimension.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the values of the array, and those in the gaps between its rows.
    pub fn numbers(&self) -> Numbers<'_> {
        let count = match (self.width, self.rows) {
            (_, 0) | (Some(0), _) => 0,
            (Some(width), rows) => (rows - 1) * self.stride + width,
            (None, values) => values,
        };
        let start = match &self.memory {
            Memory::Borrowed(buffer) => buffer.buf_ptr().cast_const(),
            Memory::Copied(words) => words.as_ptr().cast(),
        };
        macro_rules! values {
            ($($kind:ident $type:ty),*; $($integer:ident $item:ty),*) => {
                match self.kind {
                    $(BufferKind::$kind => Numbers::$kind(values!($type)),)*
                    $(BufferKind::$integer => {
                        Numbers::Integers(Integers::$integer(values!($item)))
                    })*
                }
            };
            ($type:ty) => {
                match count {
                    0 => &[],
                    // SAFETY: `from_py` checked the shape, the strides and the alignment, of which
                    // `count` is made; any bits are a value of these types; and the memory is held
                    // by `self`.
                    _ => unsafe { slice::from_raw_parts(start.cast::<$type>(), count) },
                }
            };
        }
        values!(
            F16 u16, Bf16 u16, F32 f32, F64 f64;
            U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64
        )
    }

    /// Returns the values of the array and those in the gaps between its rows, if all are integers.
    pub fn integers(&self) -> Option<Integers<'_>> {
        match self.numbers() {
            Numbers::Integers(integers) => Some(integers),
            _ => None,
        }
    }
}

/// Returns the number of values between the starts of two rows of a Python buffer, if rows can be
/// borrowed. Rows can be borrowed if they ascend in memory and the values of each are contiguous.
fn row_stride(
    buffer: &PyUntypedBuffer,
    size: usize,
    rows: usize,
    width: Option<usize>,
) -> Option<usize> {
    if buffer.suboffsets().is_some() {
        return None;
    }
    let strides = buffer.strides();
    match width {
        None => (step(strides[0], size, rows, 1)? == 1).then_some(1),
        Some(width) => {
            let is_dense = step(strides[1], size, width, 1)? == 1;
            // Rows that overlap (windows, broadcasts) are copied, as are rows that descend: a
            // stride below the width is no distance between rows.
            step(strides[0], size, rows, width).filter(|stride| is_dense && *stride >= width)
        }
    }
}

/// Converts the stride of a buffer's dimension from bytes to values of `size` bytes. The dimension
/// has `count` items. Returns `dense` if no stride is taken; `None` for a negative stride, or one
/// that is no number of values.
fn step(stride: isize, size: usize, count: usize, dense: usize) -> Option<usize> {
    match usize::try_from(stride) {
        // NumPy leaves any stride in a dimension of one, for it is never taken.
        _ if count <= 1 => Some(dense),
        Ok(bytes) if bytes.is_multiple_of(size) => Some(bytes / size),
        _ => None,
    }
}

/// Copies the values of a Python object with a buffer into memory of its own, row by row.
fn copied(py: Python<'_>, object: &Bound<'_, PyAny>, size: usize) -> PyResult<Memory> {
    // Python's own `tobytes` knows every layout of the protocol, negative strides and suboffsets
    // included.
    let view = py.import("builtins")?.getattr("memoryview")?.call1((object,))?;
    let bytes = view.call_method0("tobytes")?.cast_into::<PyBytes>()?;
    let mut words = vec![0u64; size.div_ceil(8)];
    for (word, bytes) in words.iter_mut().zip(bytes.as_bytes().chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_ne_bytes(whole);
    }
    Ok(Memory::Copied(words))
}

/// Returns the type of numbers that a format of Python's module `struct` stands for; the error
/// names the format.
fn kind(format: &CStr, bf16: bool) -> Result<BufferKind, String> {
    use ElementType::{Bool, Float, SignedInteger, UnsignedInteger};
    let swapped = match format.to_bytes() {
        // `!` is network order: big-endian.
        [b'>' | b'!', _] => cfg!(target_endian = "little"),
        [b'<', _] => cfg!(target_endian = "big"),
        _ => false,
    };
    let kind = match ElementType::from_format(format) {
        _ if swapped => None,
        UnsignedInteger { bytes: 2 } if bf16 => Some(BufferKind::Bf16),
        Bool | UnsignedInteger { bytes: 1 } => Some(BufferKind::U8),
        UnsignedInteger { bytes: 2 } => Some(BufferKind::U16),
        UnsignedInteger { bytes: 4 } => Some(BufferKind::U32),
        UnsignedInteger { bytes: 8 } => Some(BufferKind::U64),
        SignedInteger { bytes: 1 } => Some(BufferKind::I8),
        SignedInteger { bytes: 2 } => Some(BufferKind::I16),
        SignedInteger { bytes: 4 } => Some(BufferKind::I32),
        SignedInteger { bytes: 8 } => Some(BufferKind::I64),
        Float { bytes: 2 } => Some(BufferKind::F16),
        Float { bytes: 4 } => Some(BufferKind::F32),
        Float { bytes: 8 } => Some(BufferKind::F64),
        _ => None,
    };
    kind.ok_or_else(|| {
        let why = if swapped { ", whose bytes are swapped" } else { "" };
        format!("type {:?}{why}", format.to_string_lossy())
    })
}

/// The number of items of a dict that are looked at together, so that the processor waits for the
/// memory of many at a time.
const TOGETHER: usize = 32;

/// A receiver of the items of a Python dict, in their order.
pub trait ItemSink<'py> {
    /// Takes an item of a dict whose key is text and whose value is a float, or returns `false`. It
    /// runs no Python code, which could free the items that follow.
    fn plain(&mut self, key: &[u8], number: f64) -> bool;

    /// Takes any item of a dict, as Python objects.
    fn other(&mut self, key: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<()>;
}

/// Passes each item of a Python dict to `take`. Texts with floats go to `plain`; all others, and
/// those for which `plain` returns `false`, go to `other`.
///
/// # Errors
/// Text that is not Unicode (lone surrogates); an error of `take`.
pub fn for_each_item<'py>(
    dict: &Bound<'py, PyDict>,
    take: &mut impl ItemSink<'py>,
) -> PyResult<()> {
    let py = dict.py();
    with_critical_section(dict, || {
        let mut at = 0;
        loop {
            // Three loops over 32 items and not one: the first asks for the entries, the second
            // touches each key and value, whose memory is wherever Python put it, and the third
            // uses them. So 32 waits overlap.
            let mut items = [(ptr::null_mut(), ptr::null_mut()); TOGETHER];
            let mut count = 0;
            for (key, value) in &mut items {
                // SAFETY: it is a dict, and nothing changes it meanwhile but perhaps `other`, after
                // which it is looked at anew.
                count += match unsafe { PyDict_Next(dict.as_ptr(), &mut at, key, value) } {
                    0 => break,
                    _ => 1,
                };
            }
            let items = &items[..count];
            let mut exact = [false; TOGETHER];
            for (exact, &(key, value)) in exact.iter_mut().zip(items) {
                // SAFETY: both are alive as long as the dict has them, which it has until other
                // Python code runs; none has run since.
                *exact =
                    unsafe { PyUnicode_CheckExact(key) != 0 && PyFloat_CheckExact(value) != 0 };
            }
            let mut done = 0;
            for (exact, &(key, value)) in exact.iter().zip(items) {
                // SAFETY: both are alive, as above: neither `plain` nor what reads a text or a
                // float
                // of no subclass runs Python code, and the error of a text that is not Unicode ends
                // the loops. The bytes of a text live as long as it.
                let fine = *exact && unsafe { take.plain(utf8(py, key)?, PyFloat_AsDouble(value)) };
                if !fine {
                    break;
                }
                done += 1;
            }
            // All of them are held before `other` runs the first line of Python, which may remove
            // the later ones from the dict.
            // SAFETY: all are alive, as above; from here on they are held.
            let rest = items[done..].iter().map(|&(key, value)| unsafe {
                (Bound::from_borrowed_ptr(py, key), Bound::from_borrowed_ptr(py, value))
            });
            let rest: Vec<_> = rest.collect();
            for (key, value) in &rest {
                let fine = match (key.cast_exact::<PyString>(), value.cast_exact::<PyFloat>()) {
                    (Ok(key), Ok(value)) => take.plain(key.to_str()?.as_bytes(), value.value()),
                    _ => false,
                };
                if !fine {
                    take.other(key, value)?;
                }
            }
            // A dict whose length is a multiple of 32 has one more turn, without items.
            if count < TOGETHER {
                return Ok(());
            }
        }
    })
}

/// A receiver of the items of a Python list of tuples, in their order.
pub trait TupleSink<'py> {
    /// Takes a tuple of texts and a number from a list, or returns `false`. It runs no Python code,
    /// which could free the items that follow.
    fn plain(&mut self, ids: &[&[u8]], number: f64) -> bool;

    /// Takes any item of a list as a Python object, with its row number from 1.
    fn other(&mut self, row: u64, item: &Bound<'py, PyAny>) -> PyResult<()>;
}

/// Passes each item of a Python list to `take`. Tuples of `N - 1` texts and a float or an int go to
/// `plain`; all others, and those for which `plain` returns `false`, go to `other`. Signals are
/// checked now and then.
///
/// # Errors
/// Text that is not Unicode (lone surrogates); an error of `take` or of a signal.
pub fn each_tuple<'py, const N: usize>(
    list: &Bound<'py, PyList>,
    take: &mut impl TupleSink<'py>,
) -> PyResult<()> {
    let py = list.py();
    with_critical_section(list, || {
        let mut start = 0;
        loop {
            // Loops over 32 items, as for a dict: the first asks for the tuples, the second for
            // their fields, and the third uses these.
            let mut items = [ptr::null_mut(); TOGETHER];
            // The list may have another length each time, if other Python code ran.
            let count = TOGETHER.min(list.len().saturating_sub(start));
            let items = &mut items[..count];
            for (item, at) in items.iter_mut().zip(start..) {
                // SAFETY: it is a list, and longer than `at`.
                *item = unsafe { PyList_GetItem(list.as_ptr(), at as isize) };
            }
            let mut fields = [[ptr::null_mut(); N]; TOGETHER];
            let mut exact = [false; TOGETHER];
            for ((exact, fields), &item) in exact.iter_mut().zip(&mut fields).zip(&*items) {
                // SAFETY: all are alive as long as the list has them, which it has until other
                // Python code runs; none has run since. A tuple has its fields as long as it lives.
                unsafe {
                    if PyTuple_CheckExact(item) == 0 || PyTuple_Size(item) != N as isize {
                        continue;
                    }
                    for (field, at) in fields.iter_mut().zip(0..) {
                        *field = PyTuple_GetItem(item, at);
                    }
                    let Some((number, ids)) = fields.split_last() else { continue };
                    // A tuple that C code is still making has gaps.
                    *exact = fields.iter().all(|field| !field.is_null())
                        && ids.iter().all(|&id| PyUnicode_CheckExact(id) != 0)
                        && (PyFloat_CheckExact(*number) != 0 || PyLong_CheckExact(*number) != 0);
                }
            }
            let mut done = 0;
            for (&exact, fields) in exact.iter().zip(&fields[..count]) {
                // SAFETY: all are alive, as above: neither `plain` nor what reads a text, a float
                // or
                // an int of no subclass runs Python code, and the error of a text that is not
                // Unicode ends the loops. The bytes of a text live as long as it.
                if !(exact && unsafe { plain_tuple(py, fields, take)? }) {
                    break;
                }
                done += 1;
            }
            // All of them are held before `other` runs the first line of Python, which may remove
            // the later ones from the list.
            let rest = items[done..].iter();
            // SAFETY: all are alive, as above; from here on they are held.
            let rest = rest.map(|&item| unsafe { Bound::from_borrowed_ptr(py, item) });
            let rest: Vec<_> = rest.collect();
            for (item, row) in rest.iter().zip((start + done + 1) as u64..) {
                take.other(row, item)?;
            }
            start += count;
            if count < TOGETHER {
                return Ok(());
            }
            if start % (1 << 16) == 0 {
                py.check_signals()?;
            }
        }
    })
}

/// Returns the UTF-8 bytes of a Python text, without a copy.
///
/// # Safety
/// It is a text, and alive as long as the bytes are used.
unsafe fn utf8<'t>(py: Python<'_>, text: *mut PyObject) -> PyResult<&'t [u8]> {
    let mut length = 0;
    // SAFETY: it is a text that is alive.
    let bytes = unsafe { PyUnicode_AsUTF8AndSize(text, &mut length) };
    if bytes.is_null() {
        return Err(PyErr::fetch(py));
    }
    // SAFETY: the bytes of a text live as long as it.
    Ok(unsafe { slice::from_raw_parts(bytes.cast(), length as usize) })
}

// `PyLong_AsDouble` would make an exception for an int that is too large. Memory for an exception
// may start Python's collector of garbage, and so run code of Python. An int that does not fit into
// 64 bits is not taken instead.
/// Passes the texts and the number of a Python tuple to `take`; `false` if they are not taken.
///
/// # Safety
/// All but the last are texts, and the last is a float or an int, each alive and of no subclass.
unsafe fn plain_tuple<'py, const N: usize>(
    py: Python<'py>,
    fields: &[*mut PyObject; N],
    take: &mut impl TupleSink<'py>,
) -> PyResult<bool> {
    let mut ids = [&b""[..]; N];
    let Some((number, texts)) = fields.split_last() else { return Ok(false) };
    for (id, &text) in ids.iter_mut().zip(texts) {
        // SAFETY: it is a text that is alive until `take` has its bytes.
        *id = unsafe { utf8(py, text)? };
    }
    let mut overflow = 0;
    // SAFETY: it is a float or an int that is alive.
    let number = unsafe {
        match PyFloat_CheckExact(*number) {
            0 => PyLong_AsLongLongAndOverflow(*number, &mut overflow) as f64,
            _ => PyFloat_AsDouble(*number),
        }
    };
    Ok(overflow == 0 && take.plain(&ids[..texts.len()], number))
}

/// Reads all record batches of a Python object with an Arrow stream, and the names of its columns.
///
/// # Errors
/// An error of the producer.
pub fn batches(object: &Bound<'_, PyAny>) -> PyResult<(Vec<String>, Vec<RecordBatch>)> {
    let py = object.py();
    let capsule = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream: NonNull<FFI_ArrowArrayStream> = capsule.pointer_checked(Some(STREAM))?.cast();
    // SAFETY: a capsule of this name points to a stream; taking it leaves a released one behind.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) };
    let reader = reader.map_err(arrow_error)?;
    let names = arrow_array::RecordBatchReader::schema(&reader)
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    let mut all = Vec::new();
    for batch in reader {
        all.push(batch.map_err(arrow_error)?);
        // A producer may compute its batches, so Ctrl-C is heeded between two of them.
        py.check_signals()?;
    }
    Ok((names, all))
}
