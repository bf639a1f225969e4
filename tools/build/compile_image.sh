#!/bin/bash
# Compiles one generated kernel file to PTX and, from that PTX, to cubins.
# compile_image.sh NVCC SOURCE_DIR GENERATED_DIR STEM PORTABLE_ARCH FIRST_CUBIN_ARCH [FURTHER_CUBIN_ARCH...]
#   STEM.cu -> STEM.ptx, STEM.portable.ptx, STEM.<arch>.cubin, STEM.d (headers read),
#              STEM.resources.txt (ptxas -v), STEM.inputs (all files that these depend on)
# GENERATED_DIR: headers that the build wrote; kernels include them as if they were in src/.
# PORTABLE_ARCH 0: the kernel runs on the first architecture alone, and the other files are empty.
# All build folders of a checkout share what they compiled, in build-images: a kernel of fifty entries
# takes minutes.
set -euo pipefail
nvcc=$1 source_dir=$2 generated=$3 stem=$4 portable=$5 first_arch=$6
shift 6
name=$(basename "$stem")

standard=(-std=c++20 --expt-relaxed-constexpr)
language=("${standard[@]}" -I "$source_dir/src" -I "$generated")

# Prints files without the words of their // comments. Their lines stay, because the PTX names lines.
# WHY some lines stay whole: a // in a string is code, and code may follow a block comment.
without_comments() {
  sed -E -e '/\\$|\*\//b' -e 's|^ *//.*||' -e '/"/b' -e 's| *//.*||' "$@"
}
# What the result depends on: how this script compiles (from `ptx_from_cuda` on), the compiler, and
# the code of every file of ours that it reads.
key_of_headers() {
  local read_files
  read_files=$(tr -d '\\' < "$stem.d" | tr ' ' '\n' |
    grep -F -e "$source_dir/src/" -e "$generated/" | sort -u)
  printf '%s\n' "$0" "$stem.cu" $read_files > "$stem.inputs"
  {
    sed -n '/^ptx_from_cuda()/,$p' "$0"
    without_comments "$stem.cu" $read_files
    "$compiler" --version
    echo "${standard[*]} $portable $first_arch $archs"
  } | sha256sum | cut -c 1-32
}
compiler=$nvcc archs="$*"
mkdir -p "$source_dir/build-images"
# WHY: one lock for all keys of a kernel, never removed. Who finds a lock file gone makes a new one,
# and two builds that hold two locks of one name share at once.
exec 9> "$source_dir/build-images/$name.lock"
flock 9  # another build may be at it
# Where nothing is shared yet, the headers are listed by the compilation itself, a tenth cheaper.
if compgen -G "$source_dir/build-images/$name-*/" > /dev/null; then
  "$compiler" "${language[@]}" -M -MT "$stem.ptx" -arch=compute_90a -o "$stem.d" "$stem.cu"
  shared=$source_dir/build-images/$name-$(key_of_headers)
  if [[ -d $shared ]]; then
    cp "$shared"/* "$(dirname "$stem")"
    exit
  fi
else
  list_headers() {
    case " $* " in
      *" -arch=compute_90a "*) "$compiler" -MD -MF "$stem.d" -MT "$stem.ptx" "$@" ;;
      *) "$compiler" "$@" ;;
    esac
  }
  nvcc=list_headers
fi
# Only whole results are shared; of each kernel the last ten.
share() {
  shared=$source_dir/build-images/$name-$(key_of_headers)
  rm -rf "$shared.new"
  mkdir "$shared.new"
  cp "$stem".{ptx,portable.ptx,resources.txt,*.cubin} "$shared.new"
  mv -T "$shared.new" "$shared"
  ls -dt "$source_dir/build-images/$name"-*/ | tail -n +11 | xargs -r rm -rf
}

ptx_from_cuda() {  # ARCH OUTPUT FLAG...
  "$nvcc" "${language[@]}" -O3 -ptx -arch="compute_$1" -o "$2" "${@:3}" "$stem.cu"
}

# The embedded PTX says which source line each instruction came from, with paths relative to the
# repository, so that two checkouts build the same bytes.
ptx_from_cuda 90a "$stem.raw.ptx" -lineinfo
sed -e "s|\"$(dirname "$stem")/|\"|; s|\"$generated/|\"generated/|; s|\"$source_dir/|\"|" \
  "$stem.raw.ptx" > "$stem.ptx"

# WHY: ptxas copies the whole PTX into the cubin as soon as it sees a .loc, so it reads the same
# instructions without their line marks. The debug section is always the last one of the file.
sed -e '/^\t\.loc\t/d; /^\t\.file\t/d; /^\t\.section\t\.debug_str/,$d' "$stem.ptx" > "$stem.raw.ptx"
# What ptxas says of registers and memory is kept for a test of our own cubin reader.
"$nvcc" -cubin -arch="$first_arch" -Xptxas -v -o "$stem.$first_arch.cubin" "$stem.raw.ptx" \
  2> "$stem.resources.txt" || { cat "$stem.resources.txt" >&2; exit 1; }
rm "$stem.raw.ptx"
# Such code is right and half as fast: each wgmma waits for the one before it.
if serialised=$(grep -E 'C75(10|15)|wgmma.*serialized' "$stem.resources.txt"); then
  printf 'error: ptxas serialises the wgmma of image %s:\n%s\n' "$name" "$serialised" >&2
  rm "$stem.$first_arch.cubin"
  exit 1
fi

if [[ $portable == 0 ]]; then
  : > "$stem.portable.ptx"
  for arch in "$@"; do : > "$stem.$arch.cubin"; done
  share
  exit
fi

# WHY: nvcc writes instructions that the architecture lacks without a word; ptxas, at its fastest,
# refuses them here rather than on somebody's card.
ptx_from_cuda "$portable" "$stem.portable.ptx"
"$nvcc" -cubin -arch="sm_$portable" -Xptxas -O0 -o "$stem.checked.cubin" "$stem.portable.ptx"
rm "$stem.checked.cubin"
for arch in "$@"; do
  "$nvcc" -cubin -arch="$arch" -o "$stem.$arch.cubin" "$stem.portable.ptx"
done
share
