#!/usr/bin/env bash
# Writes the corpora of targets again, each as few inputs as reach the same places:
#
#   fuzz/minimise.sh TARGET... [-- FOLDER...]     with inputs of more folders
#
# Places count, and not how often one is reached: that would keep ten times as many bytes.
#
# What is in the folder corpus/TARGET counts too: there fuzzing leaves what it finds. Inputs that failed once have names of their own, and stay.
set -euo pipefail
cd "$(dirname "$0")"
targets=() folders=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do targets+=("$1") && shift; done
shift || true
folders=("$@")
for target in "${targets[@]}"; do
    [ ! -e "corpus/$target.inputs" ] || ./corpus.py unpack "$target"
    few=$(mktemp -d)
    RUSTC_BOOTSTRAP=1 cargo fuzz run "$target" "$few" -- -set_cover_merge=1 -use_counters=0 -rss_limit_mb=1024 -malloc_limit_mb=256 \
        "$PWD/corpus/$target" ${folders[@]+"${folders[@]}"}
    [ -n "$(ls "$few")" ] # or the merge wrote nothing, and all would be lost
    find "corpus/$target" -type f -regextype egrep -regex '.*/[0-9a-f]{40}' -delete
    cp -n "$few"/* "corpus/$target"
    rm -r "$few"
    ./corpus.py pack "$target"
done
