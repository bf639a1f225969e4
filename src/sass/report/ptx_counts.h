// Counts PTX in the same terms as the cubin reader, so that the two can be compared. ptxas may
// merge, split, unroll or move instructions, so a count taken on PTX is exact for the machine only
// where the two counts agree, kernel by kernel and loop by loop.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sass/container/cubin.h"

namespace tessera::sass {

struct PtxKernel {
  std::string name;
  Histogram histogram;           // LDS, STS, LDG, STG, LD, ST by width, FFMA, DFMA, DMMA, BAR
  std::vector<Histogram> loops;  // counts of a loop include its inner loops
};

// Returns the counts of every .entry of a PTX text as nvcc writes it, in order. Counts only
// instructions that have a PtxInstruction::machine name.
std::vector<PtxKernel> count_ptx(std::string_view ptx);

// Returns one sentence for each difference between the kernel in the PTX and in the cubin: "LDS.64:
// 48 in the PTX, 0 in the cubin". Accesses by width and multiply-adds are compared, over the whole
// kernel and in each loop.
std::vector<std::string> differences(const PtxKernel& ptx, const CubinKernel& cubin);

}  // namespace tessera::sass
