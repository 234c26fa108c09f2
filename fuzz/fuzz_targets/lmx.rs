#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    laneval_fuzz::lmx(data);
});
