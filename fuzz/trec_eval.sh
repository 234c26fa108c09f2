#!/usr/bin/env bash
# Builds trec_eval 10 in a new folder, for the target `differential`:
#
#   fuzz/trec_eval.sh FOLDER [REPOSITORY]
#
# m_rbp.c reads two locals that it never sets; here they begin as 0, which is what its formula needs.
set -euo pipefail
folder=$1 repository=${2:-https://github.com/usnistgov/trec_eval}
git clone --quiet "$repository" "$folder"
cd "$folder"
git checkout --quiet f425365
sed -i 's/double sum, min, max;/double sum, min = 0, max = 0;/' m_rbp.c
grep -q 'min = 0, max = 0' m_rbp.c
make --quiet CC=cc trec_eval
