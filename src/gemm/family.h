// The host side of the kernels that share one source. For a problem a family answers once, with
// offers of its kernels; the plan takes one offer and asks for its launches. A new family is one
// file in gemm/families/, named after it, and one line of the catalog:
//
//   families/NAME.cpp    const Family& NAME_family();    // the build finds it by the file's name
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "gemm/cost/cost.h"
#include "gemm/launches.h"
#include "gemm/options.h"
#include "kernels/schedule/batch.h"

namespace tessera::gemm {

// What a family is asked.
struct Request {
  Problem problem;  // legal; alpha and beta are 0 or 1
  Product product;  // its canonical form, and which slots hold the operands
  // Of the canonical operands, those of every product of a batch.
  int a_alignment, b_alignment, d_alignment;
  Majors majors;  // along which the operands are contiguous
  DeviceLimits limits;
  PlanOptions options;

  bool is_empty() const { return problem.m == 0 || problem.n == 0 || problem.batch.count == 0; }
};

// The problem's batch as kernels are handed it: canonical operands, strides in bytes. `tiles_m`:
// rows of tiles of each product. Expects a count that fits an int.
schedule::Batch batch_of(const Problem& problem, std::int64_t tiles_m);

// What a family decided when it made an offer: its launches need it, and reports print it.
class Decision {
 public:
  virtual ~Decision() = default;
  // "396 tiles, 116 split in 132 runs"; "-" where there is nothing to decide.
  virtual std::string text() const { return "-"; }
};

struct Offer {
  const Kernel* kernel = nullptr;
  const KernelRow* row = nullptr;  // of the launch that multiplies, or of the largest one
  Cost cost;
  std::int64_t workspace_bytes = 0;
  int priced = 1;                                 // products whose cost was computed for it
  std::shared_ptr<const Decision> decision = {};  // null: there was none
  // Of a strided batch: the launches multiply one product, and are run once for each.
  bool is_for_each = false;
  // Of a problem with an epilogue that the kernel does not apply: a last launch does, and this is
  // what the sums take at the start of the workspace until then; 0: D holds them.
  bool is_finished_later = false;
  std::int64_t sums_bytes = 0;

  std::string decision_text() const {
    const std::string text = decision ? decision->text() : "-";
    return is_finished_later ? text + "; epilogue in a later launch" : text;
  }
};

// The config rows of one variant of a kernel: one per operand mode.
struct Variant {
  std::span<const KernelRow> rows;
  double tflops;  // measured; 0: never

  std::string_view name() const { return rows.front().variant; }
};
std::vector<Variant> variants_with_rates(const Kernel& kernel, const DeviceLimits& limits);

class Family {
 public:
  virtual ~Family() = default;
  // Adds an offer for each variant that takes the problem, or for the named variant alone. Not ok,
  // with the reason, where there is none. An offer may exceed the workspace limit; then it is the
  // least that its variant needs.
  virtual Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
                       std::vector<Offer>& offers) const = 0;
  // Whether it is asked for all products of such a batch at once. One that does not take a strided
  // batch is asked for a single product, and its launches are run once for each.
  virtual bool takes(const Batch&) const { return false; }
  // The launches of an offer for a problem that is not empty, in order.
  virtual std::vector<PlannedLaunch> launches(const Offer& offer, const Request& request) const = 0;
};

// The family that the catalog's line names.
const Family& family_of(const Kernel& kernel);

// The row of a variant whose majors are those of the problem.
const KernelRow& row_of_majors(const Variant& variant, const Request& request);

// HW: A100, H100 and H200, B200 and B300. Other GPUs since SM 8.0 have the instructions, but carry
// them out no faster than a few FMAs a cycle (CUDA C++ Programming Guide, arithmetic instructions).
constexpr bool has_fp64_tensor_cores(int sm) {
  return sm == 80 || sm == 90 || sm == 100 || sm == 103;
}

inline constexpr std::int64_t kMaxGrid = 0x7fffffff;  // HW: largest grid.x since compute 3.0
std::int64_t tiles_along(std::int64_t extent, int block);
// Of D, for so many products; kMaxGrid + 1 where there are more than a grid has blocks.
std::int64_t tiles_of(const KernelRow& row, const GemmParams& p, std::int64_t products = 1);
// Whether base and stride of A and B let every vector of 16 bytes be one access.
bool operands_allow_vectors(const Request& request);

// The one launch of a grid with one CTA per tile of D.
PlannedLaunch multiply_by_tiles(const KernelRow& row, const Product& product);

// Not ok where D has more tiles than a grid has blocks, 2^31 - 1.
Status check_grid(const Kernel& kernel, const KernelRow& row, const Request& request);

}  // namespace tessera::gemm
