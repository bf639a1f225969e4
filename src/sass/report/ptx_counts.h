// ptxas may merge, split, unroll or move what the PTX says. This file counts the PTX in the words
// of the cubin reader, so that the two can be laid side by side: a count taken on PTX is exact for
// the machine only where both agree, kernel by kernel and loop by loop.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sass/container/cubin.h"

namespace tessera::sass {

struct PtxKernel {
  std::string name;
  Histogram histogram;           // LDS, STS, LDG, STG, LD, ST by width, FFMA, DFMA, DMMA, BAR
  std::vector<Histogram> loops;  // inner ones counted in outer ones, too
};

// Every .entry of a PTX text as nvcc writes it, in order. Instructions of other kinds are not
// counted.
std::vector<PtxKernel> count_ptx(std::string_view ptx);

// Empty when the cubin's kernel has the same accesses by width and the same multiply-adds as the
// PTX, over the whole kernel and in each loop. Otherwise one sentence a difference: "LDS.64: 48 in
// the PTX, 0 in the cubin".
std::vector<std::string> differences(const PtxKernel& ptx, const CubinKernel& cubin);

}  // namespace tessera::sass
