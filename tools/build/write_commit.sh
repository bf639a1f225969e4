#!/bin/bash
# Records name the commit that the program was built from.
# write_commit.sh SOURCE_DIR OUTPUT   writes OUTPUT, C++ or, named OUTPUT.txt, the commit alone; and only
# where it would change, so that a build of the same commit compiles nothing. "-dirty": tracked files differ from the commit. "unknown":
# SOURCE_DIR is not the root of a checkout, or there is no git.
set -euo pipefail
source_dir=$1 output=$2
commit=unknown
root=$(git -C "$source_dir" rev-parse --show-toplevel 2> /dev/null || true)
# WHY: sources unpacked inside another project's checkout must not take that project's commit.
if [[ -n $root && $root -ef $source_dir ]]; then
  commit=$(git -C "$source_dir" describe --always --dirty --abbrev=12 --exclude='*' 2> /dev/null ||
    echo unknown)
fi
text="// Written by write_commit.sh at each build.
#include \"cli/version.h\"

namespace tessera::cli {

const char* build_commit() { return \"$commit\"; }

}  // namespace tessera::cli"
[[ $output == *.txt ]] && text=$commit
if [[ ! -f $output || $(< "$output") != "$text" ]]; then
  mkdir -p "$(dirname "$output")"
  # WHY: two steps of a build write it, and neither may read half of the other's.
  printf '%s\n' "$text" > "$output.$$"
  mv "$output.$$" "$output"
fi
