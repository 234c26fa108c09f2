//! Conversion of panics of the `parquet` and `arrow-ipc` readers, at damaged files, into errors.
//!
//! The crates `parquet` and `arrow-ipc` trust some lengths in a file, and panic if these are wrong.
//!
//! A hook serves the whole process, and panics of other threads must be reported as before. So the
//! hook asks a flag of the panicking thread. The panicking thread is the reading thread, because
//! `catch_reader_panic` wraps the work of one worker. `catch_reader_panic` never wraps a loop with
//! work for further threads.
//!
//! No state that a panic broke is used again: guarded closures give an error, upon which the
//! reader, its buffers and the table are dropped. `AssertUnwindSafe` asserts this.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use laneval::tables::TableError;

thread_local! {
    /// Whether this thread is reading a file.
    static READS: Cell<bool> = const { Cell::new(false) };
}

/// Runs a reader of a part of a Parquet or Arrow file, and returns its panic as an error.
pub fn catch_reader_panic<T>(
    read: impl FnOnce() -> Result<T, TableError>,
) -> Result<T, TableError> {
    // The flag returns to its earlier value, not to `false`, because guarded parts may be nested.
    let before = READS.replace(true);
    let done = catch_unwind(AssertUnwindSafe(read));
    READS.set(before);
    done.unwrap_or_else(|panic| {
        Err(TableError::File(format!("it is damaged: {}", message(&*panic))))
    })
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("its reader gave up")
}

/// Keeps panics of readers of damaged Parquet and Arrow files off stderr, for the whole program.
/// Panics of readers are errors of [`Files`](crate::Files) anyway. All other panics are reported as
/// before.
pub fn silence_reader_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        // The hook runs before the stack is unwound, so the flag is still set while `catch_unwind`
        // has not returned.
        set_hook(Box::new(move |panic| {
            if !READS.get() {
                before(panic);
            }
        }));
    });
}
