//! The handler of `SIGBUS`, raised when a mapped file shrinks: the process writes a message and
//! exits. Without the handler, the signal ends the process without a message.
//!
//! The library handles no signal by itself; a program asks for the handler. The handler may run at
//! any instruction of any thread, so it takes no lock and allocates nothing: it walks a list to
//! which records are only ever added, looks for the unreadable address, and writes a message that
//! was made when the file was mapped.
//!
//! ```text
//! LATEST ──► record ──► record ──► … ──► null    made once, leaked, never changed but for `mapped`
//!            addresses, message, mapped
//! ```
//!
//! Why this is sound, though a signal may stop a thread between any two instructions:
//!
//! * A record is complete before the list leads to the record: the exchange that publishes a record
//!   has release ordering, and every load of a link has acquire ordering.
//! * No record is freed, so a handler may stand on a record while its file is unmapped. A record
//!   costs 100 bytes for each file.
//! * The system uses addresses again after a file is unmapped. `mapped` is cleared before the
//!   unmapping (the order of the fields of `FileMemory::Mapped`), and the record of a newer map is
//!   nearer to the start of the list. So an address never names an unmapped file.
//! * The handler only loads and calls `write`, `pause`, `_exit`, `sigaction` and `raise`, which
//!   POSIX allows in a handler.
//!
//! Why exit at all, and not go on: the instruction that faulted cannot be finished, and a `&[u8]`
//! cannot report an error. A program that must survive reads its files instead
//! (`FileAccess::Read`).

use std::path::Path;

/// Makes the process write a message and exit with `code` when a mapped file can no longer be read.
/// The message is `message` of the file's name, on stderr. A file becomes unreadable when another
/// program shortens the file, or when a disk fails.
///
/// This installs a handler of `SIGBUS` for the whole process. A `SIGBUS` with another cause goes to
/// the previous handler. Call this function once, before any file is mapped: the handler does not
/// know files that are mapped already. A record of about 100 bytes stays in memory for each file
/// that is mapped afterwards.
///
/// On Windows the function does nothing, because Windows cannot shorten a mapped file.
pub fn exit_when_a_mapped_file_shrinks(code: i32, message: fn(&str) -> String) {
    #[cfg(unix)]
    signal::install(code, message);
    #[cfg(not(unix))]
    let _ = (code, message);
}

/// A mapped file that the `SIGBUS` handler knows, until this value is dropped.
#[derive(Debug)]
pub(super) struct GuardedMapping(#[cfg(unix)] Option<&'static signal::MapRecord>);

impl GuardedMapping {
    /// Adds a mapped file to the list of the `SIGBUS` handler, if the program installed the
    /// handler.
    pub fn new(map: &[u8], path: &Path) -> Self {
        #[cfg(unix)]
        return Self(signal::record(map, path));
        #[cfg(not(unix))]
        {
            let _ = (map, path);
            Self()
        }
    }
}

#[cfg(unix)]
impl Drop for GuardedMapping {
    fn drop(&mut self) {
        if let Self(Some(record)) = self {
            record.forget();
        }
    }
}

#[cfg(unix)]
mod signal {
    use std::ops::Range;
    use std::path::Path;
    use std::ptr::null_mut;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

    use crate::error::printable;

    /// The exit code and the message that the program asked for.
    struct Handler {
        code: i32,
        message: fn(&str) -> String,
        /// The action for `SIGBUS` before [`install`] replaced the action.
        previous: libc::sigaction,
    }

    /// A file that is or was mapped.
    #[derive(Debug)]
    pub struct MapRecord {
        addresses: Range<usize>,
        message: Box<[u8]>,
        mapped: AtomicBool,
        /// The link to the record before, or null. A link does not change once its record is in the
        /// list.
        next: AtomicPtr<MapRecord>,
    }

    static HANDLER: OnceLock<Handler> = OnceLock::new();
    /// The latest record. Records are never freed, so the handler can follow their links at any
    /// time.
    static LATEST: AtomicPtr<MapRecord> = AtomicPtr::new(null_mut());

    /// Installs the handler, unless it is installed already.
    pub fn install(code: i32, message: fn(&str) -> String) {
        HANDLER.get_or_init(|| {
            // The handler needs the previous action, so get this action first. From the second
            // `action` to the end of this closure, the handler of another thread finds `ASKED`
            // empty and returns. Its instruction then faults again, until `ASKED` is set.
            let previous = action(None);
            let handler = Handler { code, message, previous };
            let mut ours = previous;
            ours.sa_sigaction = on_sigbus as *const () as usize;
            // Run on the thread's alternate stack, if any, like Rust's own handler, and with the
            // address of the fault.
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            action(Some(&ours));
            handler
        });
    }

    /// Sets the action for `SIGBUS`, if `new` is one, and returns the action before.
    fn action(new: Option<&libc::sigaction>) -> libc::sigaction {
        let new = new.map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: an action of zeros is one, the default; `new` is null or valid, and `sigaction`
        // only writes to `old`.
        #[allow(unsafe_code)]
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGBUS, new, &mut old);
            old
        }
    }

    /// Adds a record of a map, if the program installed the handler.
    pub fn record(map: &[u8], path: &Path) -> Option<&'static MapRecord> {
        let handler = HANDLER.get()?;
        let name = printable(path.as_os_str().as_encoded_bytes());
        let range = map.as_ptr_range();
        let record: &'static MapRecord = Box::leak(Box::new(MapRecord {
            addresses: range.start as usize..range.end as usize,
            message: (handler.message)(&name).into_bytes().into(),
            mapped: AtomicBool::new(true),
            next: AtomicPtr::default(),
        }));
        // Never refused: there is always a record to add.
        let _ = LATEST.fetch_update(Ordering::AcqRel, Ordering::Acquire, |latest| {
            // Relaxed: nobody sees the record before the exchange succeeds, which publishes this
            // store too.
            record.next.store(latest, Ordering::Relaxed);
            Some(std::ptr::from_ref(record).cast_mut())
        });
        Some(record)
    }

    impl MapRecord {
        /// Marks the file as no longer mapped. It is called before the file is unmapped.
        pub fn forget(&self) {
            self.mapped.store(false, Ordering::Release);
        }
    }

    /// Returns the record that a link of the list leads to.
    fn follow(link: &AtomicPtr<MapRecord>) -> Option<&'static MapRecord> {
        // SAFETY: a link is null or leads to a leaked record, which only its atomics change, and
        // which was made before.
        #[allow(unsafe_code)]
        unsafe {
            link.load(Ordering::Acquire).as_ref()
        }
    }

    /// Returns the file that is mapped at `address`.
    fn file_at(address: usize) -> Option<&'static MapRecord> {
        let records = std::iter::successors(follow(&LATEST), |record| follow(&record.next));
        let mut mapped = records.filter(|record| record.mapped.load(Ordering::Acquire));
        mapped.find(|record| record.addresses.contains(&address))
    }

    extern "C" fn on_sigbus(
        signal: libc::c_int,
        info: *mut libc::siginfo_t,
        _context: *mut libc::c_void,
    ) {
        // SAFETY: a handler with SA_SIGINFO gets a valid `info`. A positive code says that no
        // process sent the signal, and `info` then has an address.
        #[allow(unsafe_code)]
        let (raised, address) = unsafe { ((*info).si_code > 0, (*info).si_addr() as usize) };
        let Some(handler) = HANDLER.get() else { return };
        if raised && let Some(file) = file_at(address) {
            say_and_exit(&file.message, handler.code);
        }
        // Another cause: the instruction runs again and raises the signal again, under the previous
        // handler.
        action(Some(&handler.previous));
        if !raised {
            // SAFETY: nothing is to be kept. The signal is held back until this handler returns.
            #[allow(unsafe_code)]
            unsafe {
                libc::raise(signal);
            }
        }
    }

    /// Writes the message and ends the process. Of several threads, only the first writes.
    fn say_and_exit(message: &[u8], code: i32) -> ! {
        static REPORTED: AtomicBool = AtomicBool::new(false);
        // SAFETY: `write`, `pause` and `_exit` may be called from a handler of signals, and
        // `message` is valid for its length.
        #[allow(unsafe_code)]
        unsafe {
            // Later threads wait for the end: two messages, or an exit before the first message,
            // would be worse.
            while REPORTED.swap(true, Ordering::AcqRel) {
                libc::pause();
            }
            libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
            libc::_exit(code)
        }
    }
}
