#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| _ = laneval_fuzz::part(bytes));
