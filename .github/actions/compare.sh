#!/usr/bin/env bash
# Compares runs, judges gates, and says the verdict: what action.yml does once laneval is there. Its exit code is that of laneval: 0 if all
# gates passed, 1 if one failed, 2 if something could not be computed, which is no pass.
#
# Inputs come as variables, and none of them becomes a part of a script:
#
#   LANEVAL     the command
#   QRELS       the judgments
#   RUNS        a run a line, as path or name=path
#   BASELINE    a file of scores, or the name of one of the runs; empty: gates compare with the first run, the verdict compares all
#   FAIL_IF     a gate a line
#   MEASURES    measures, with commas; empty: those that laneval takes by itself
#   GROUP_BY    the file with the groups of queries, or empty
#   PAGE, JUNIT, SCORES   where the page, the results of gates, and the values of the queries of the only run are written to, or empty
#   SUMMARY     true: the comparison is added to the summary of the job
#   GITHUB_STEP_SUMMARY, GITHUB_OUTPUT, RUNNER_TEMP, as GitHub sets them
set -euo pipefail

lines() { # the lines of a text that are not blank, without spaces around them, into the array `found`
    local line
    found=()
    while IFS= read -r line || [ -n "$line" ]; do
        line=${line#"${line%%[![:space:]]*}"}
        line=${line%"${line##*[![:space:]]}"}
        [ -z "$line" ] || found+=("$line")
    done <<<"$1"
}

output() { # an output of the step; the text may have anything in it
    local mark
    mark=end-$RANDOM$RANDOM$RANDOM$RANDOM
    printf '%s<<%s\n%s\n%s\n' "$1" "$mark" "$2" "$mark" >>"$GITHUB_OUTPUT"
}

case ${SUMMARY:=true} in
    true | false) ;;
    *) echo "summary is '$SUMMARY': true or false was expected" >&2; exit 2 ;;
esac
scratch=$(mktemp -d "$RUNNER_TEMP/laneval.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
measures=()
[ -z "${MEASURES-}" ] || measures=("--measure=$MEASURES")
lines "${RUNS-}"
runs=(${found[@]+"${found[@]}"})
lines "${FAIL_IF-}"
gates=(${found[@]+"${found[@]/#/--fail-if=}"})

[ -z "${SCORES-}" ] || [ ${#runs[@]} = 1 ] || { echo "scores are of one run, and there are ${#runs[@]}" >&2; exit 2; }

# Scores that replaced the baseline would be compared with themselves, and the baseline would be gone.
baseline_file=${BASELINE-}
[ -e "$baseline_file" ] || baseline_file=${baseline_file#*=}
if [ -n "${SCORES-}" ] && { [ "$SCORES" = "$baseline_file" ] || [ "$SCORES" -ef "$baseline_file" ]; }; then
    echo "scores and baseline are one file, $SCORES: write the scores to another" >&2
    exit 2
fi
# What cannot be written is no gate that failed.
for path in "${SCORES-}" "${PAGE-}" "${JUNIT-}"; do
    [ -z "$path" ] || mkdir -p -- "$(dirname -- "$path")" || exit 2
done

# GitHub reads commands in what a step prints. Names of runs and queries are printed, and are not to give any.
mark=quiet-$RANDOM$RANDOM$RANDOM$RANDOM
echo "::stop-commands::$mark"
code=0
if [ -n "${SCORES-}" ]; then
    "$LANEVAL" eval ${measures[@]+"${measures[@]}"} --per-query --output="$SCORES" -- "$QRELS" ${runs[@]+"${runs[@]}"} || code=$?
fi
verdict=
if [ $code = 0 ] && { [ -z "${SCORES-}" ] || [ -n "${BASELINE-}" ] || [ ${#runs[@]} -gt 1 ] || [ ${#gates[@]} -gt 0 ]; }; then
    options=(${measures[@]+"${measures[@]}"} ${gates[@]+"${gates[@]}"} --output="$scratch/table.txt" --output="$scratch/summary.md")
    [ -z "${BASELINE-}" ] || options+=("--baseline=$BASELINE")
    [ -z "${GROUP_BY-}" ] || options+=("--group-by=$GROUP_BY")
    for path in "${PAGE-}" "${JUNIT-}"; do
        [ -z "$path" ] || options+=("--output=$path")
    done
    "$LANEVAL" compare "${options[@]}" -- "$QRELS" ${runs[@]+"${runs[@]}"} || code=$?
    if [ -e "$scratch/table.txt" ]; then
        cat "$scratch/table.txt"
        # The verdict is the first paragraph, a line a sentence.
        verdict=$(awk 'NF == 0 { exit } { printf "%s%s", sep, $0; sep = " " }' "$scratch/table.txt")
    fi
fi
echo "::$mark::"

if [ "$SUMMARY" = true ]; then
    if [ -e "$scratch/summary.md" ]; then
        cat "$scratch/summary.md" >>"$GITHUB_STEP_SUMMARY"
    elif [ $code != 0 ]; then
        echo "**laneval could not compare the runs** (exit code $code): the log of this step says why." >>"$GITHUB_STEP_SUMMARY"
    fi
fi
output verdict "$verdict"
output passed "$([ $code = 0 ] && echo true || echo false)"
exit $code
