#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    laneval_fuzz::part(bytes);
});
