# Commands for contributors: `just` lists them. Each is what its lines say, and can be typed without just.

laneval := "target/release/laneval"
python := ".venv/bin/python"

[private]
default:
    @just --list --unsorted

# The five commands of CONTRIBUTING.md, in order
check: fmt lint test docs peers

# 1. Is everything formatted?
fmt:
    cargo fmt --check

# 2. Lints, with and without features
lint:
    cargo clippy --workspace --all-targets --all-features -- -D warnings
    cargo clippy --workspace --all-targets --no-default-features -- -D warnings

# 3. Tests of the library and the command; `just test golden` for those with golden in their name
test *FILTER:
    cargo test {{FILTER}}

# 4. The documentation, as users of the library see it
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# 5. The comparison with other tools; `just peers --quick`, `--fresh`, `--only ranx`
peers *OPTIONS: venv
    cargo build --release --package laneval-cli
    {{python}} tests/peers/compare.py --laneval {{laneval}} {{OPTIONS}}

# An environment with the other tools
venv:
    [ -x {{python}} ] || python3 -m venv .venv
    {{python}} -m pip install --quiet --disable-pip-version-check -r tests/peers/requirements.txt

# Write the outputs and tables that README.md and docs/ show again, from the program
readme:
    UPDATE_README=1 cargo test --package laneval-cli --test command -- readme guide option_table recognised
    UPDATE_README=1 cargo test --test suite -- options formats::python

# Write the golden files of tests/fixtures again, from pytrec_eval
golden: venv
    cargo build --release --package laneval-cli
    {{python}} tests/peers/golden.py --laneval {{laneval}}
    git diff --stat tests/fixtures

# The Python package: built, installed into an environment of its own, tested
python *OPTIONS:
    [ -x target/python/bin/python ] || python3 -m venv target/python
    target/python/bin/pip install --quiet --disable-pip-version-check maturin==1.16.0 -r python/tests/requirements.txt
    target/python/bin/maturin build --release --out target/wheels
    target/python/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps target/wheels/laneval-*.whl
    target/python/bin/python -m pytest --quiet -ra --ignore=python/tests/engines python/tests {{OPTIONS}}

# Measure, and write the tables of benches/RESULTS.md, all or those named; nothing else should run meanwhile
results *NAMES:
    [ -x target/results/bin/python ] || python3 -m venv target/results
    target/results/bin/pip install --quiet --disable-pip-version-check -r tests/peers/requirements.txt
    target/results/bin/pip install --quiet --disable-pip-version-check maturin==1.16.0 -r python/tests/requirements.txt
    target/results/bin/maturin build --quiet --compression-level 9 --out target/wheels
    target/results/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps target/wheels/laneval-*.whl
    cargo build --release --package laneval-cli
    target/results/bin/python benches/results --laneval {{laneval}} {{NAMES}}

# What the working tree puts out beside REV, to the last bit; `--only 'compare/*'`, `--allow FILE`, `--command` without the Python package
[positional-arguments]
bits REV *OPTIONS: beside
    target/pairs/python/bin/python tests/pairs/bits.py "$@"

# The CPU time that it takes beside REV, in turns; `--only 'lmx-*'`, `--limit 1.02`; nothing else should run meanwhile
[positional-arguments]
pairs REV *OPTIONS: beside
    target/pairs/python/bin/python tests/pairs/pairs.py "$@"

# The files and functions of ours that small commands execute, perhaps beside REV; `--list`; needs valgrind
[positional-arguments]
trips *REV:
    python3 tests/pairs/trips.py "$@"

[private]
beside:
    [ -x target/pairs/python/bin/python ] || python3 -m venv target/pairs/python
    target/pairs/python/bin/pip install --quiet --disable-pip-version-check -c python/tests/requirements.txt maturin==1.16.0 numpy pandas polars pyarrow ir_measures

# Fuzz each target for SECONDS; needs cargo-fuzz
fuzz SECONDS="60":
    cd fuzz && targets=$(cargo fuzz list) && for target in $targets; do RUSTC_BOOTSTRAP=1 cargo fuzz run "$target" -- -max_total_time={{SECONDS}} -rss_limit_mb=1024 -malloc_limit_mb=256 || exit 1; done

# Known faults of dependencies; needs cargo-deny, and its database from the network
advisories:
    cargo deny check advisories

# Where the version stands
version:
    grep -n '^version = \|^laneval.*version = ' Cargo.toml
    grep -n '^version\|^date-released' CITATION.cff
    grep -n -m1 '^## ' CHANGELOG.md

# What a release publishes, without publishing it
packages:
    for package in laneval-read laneval-join laneval laneval-formats laneval-cli; do echo "== $package"; cargo package --list --package $package; done
    cargo publish --workspace --dry-run
    python3 -m venv target/packaging
    target/packaging/bin/pip install --quiet --disable-pip-version-check maturin==1.16.0 twine cffconvert
    rm -rf target/sdist
    target/packaging/bin/maturin sdist --out target/sdist
    target/packaging/bin/twine check --strict target/sdist/*
    target/packaging/bin/cffconvert --validate -i CITATION.cff
