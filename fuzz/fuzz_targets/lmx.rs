#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| _ = laneval_fuzz::lmx(data));
