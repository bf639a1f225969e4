// The host side of the kernels that share one source. For each problem a family makes offers of its
// kernels once; the plan takes one offer and requests its launches. A new family is one file in
// gemm/families/, named after it, and one line of the catalog:
//
//   families/NAME.cpp    const Family& NAME_family();    // the build finds it by the file's name
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/divide.h"
#include "catalog/catalog.h"
#include "gemm/cost/cost.h"
#include "gemm/decision.h"
#include "gemm/options.h"
#include "gemm/steps/subproblem.h"
#include "kernels/schedule/raster.h"

namespace tessera::gemm {

// The request that a family answers: a row-major product.
struct Request {
  Subproblem whole;
  Product product;  // its canonical form, and where the operands are
  // Alignments of the canonical operands, valid for every product of a batch.
  int a_alignment, b_alignment, d_alignment;
  Majors majors;              // along which the operands are contiguous
  bool is_exchanged = false;  // the caller's rows are the columns of this product
  int first_temp = 0;         // temps before it are those of rewrites
  // The decision to follow, if one is given; else the model and the options decide. A family that
  // cannot follow it offers what it can, and the plan compares.
  std::optional<Decision> given = {};
  DeviceLimits limits;
  PlanOptions options;

  const Problem& problem() const { return whole.problem; }
  bool is_batch() const { return problem().batch.kind != BatchKind::kNone; }
  std::int64_t products() const { return problem().batch.count; }
  bool is_empty() const { return problem().m == 0 || problem().n == 0 || products() == 0; }
  // Whether the caller has packed the operand in this slot.
  bool is_packed(const PlannedAddress& operand) const {
    return (operand.slot == Slot::kA && options.packed.a) ||
           (operand.slot == Slot::kB && options.packed.b);
  }
  PlannedAddress temp(int number) const { return address_of_temp(first_temp + number); }
};

// The request for a product of either order, as a row-major product.
Request request_of(const Subproblem& product, const DeviceLimits& limits,
                   const PlanOptions& options, int first_temp = 0);
// The same request for the transposed D: a product in column-major order.
Request exchanged(const Request& request);

// "m is 5, n is 7 and k is 9", in the caller's order, for messages.
std::string sizes_text(const Request& request);
// "TN", in the order of the caller.
std::string layout_text(const Request& request);
// "m is 5 and n is 7"
std::string size_of_d_text(const Request& request);

inline schedule::Batch batch_of(const Request& request, std::int64_t tiles_m) {
  return batch_params(request.problem(), tiles_m);
}

struct Offer {
  const Kernel* kernel = nullptr;
  const KernelRow* row = nullptr;  // row of the multiplying launch, or of the largest one
  Cost cost;
  std::vector<std::int64_t> temps = {};  // bytes of each piece of the workspace
  int priced = 1;                        // products whose cost was computed for it
  Decision decision = {};

  std::int64_t workspace_bytes() const { return gemm::workspace_bytes(temps); }
};

// The config rows of one variant of a kernel: one per operand mode.
struct Variant {
  std::span<const KernelRow> rows;
  double tflops;  // measured; 0: never

  std::string_view name() const { return rows.front().variant; }
};
std::vector<Variant> variants_with_rates(const Kernel& kernel, const DeviceLimits& limits);

// Calls `add(variant)` for each variant of a kernel, or only for the named one; it adds an offer or
// returns the reason why not. Not ok, with the last reason, where no offer was added.
template <class Add>
Status offer_variants(const Kernel& kernel, std::string_view name, const Request& request,
                      std::vector<Offer>& offers, Add&& add) {
  Status refused;
  const std::size_t before = offers.size();
  for (const Variant& variant : variants_with_rates(kernel, request.limits)) {
    if (!name.empty() && variant.name() != name) continue;
    if (Status status = add(variant); !status.ok()) refused = std::move(status);
  }
  return offers.size() > before ? Status{} : refused;
}

// How an operand is brought into the form that a family reads.
struct Packing {
  std::int64_t outer, k;          // rows of A or columns of B
  std::int64_t bytes;             // bytes of memory; 0: nothing is read
  std::optional<Step> step = {};  // reads kA and writes kPackedA, or kB and kPackedB
};

class Family {
 public:
  virtual ~Family() = default;
  // Adds an offer for each variant that takes the problem, or for the named variant alone. Not ok,
  // with the reason, if there is none. An offer may exceed the workspace limit; then it has the
  // smallest workspace that its variant can use.
  virtual Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
                       std::vector<Offer>& offers) const = 0;
  // Whether the family plans all products of such a batch at once. A family that does not take a
  // strided batch plans a single product, and its launches are run once for each product.
  virtual bool takes(const Batch&) const { return false; }
  // The steps of an offer for a problem that is not empty, in order. They name its temps by
  // Request::temp().
  virtual std::vector<Step> steps(const Offer& offer, const Request& request) const = 0;
  // The packing of A or B that this family reads; none if it reads operands as they are. A caller
  // may have packed the operand.
  virtual std::optional<Packing> packing(const Kernel&, const Request&, Slot /*operand*/) const {
    return {};
  }
};

// The family that the catalog's line names.
const Family& family_of(const Kernel& kernel);

// The row of a variant whose majors are those of the problem.
const KernelRow& row_of_majors(const Variant& variant, const Request& request);

// HW: A100, H100 and H200, B200 and B300. Other GPUs since SM 8.0 have the instructions, but carry
// them out no faster than a few FMAs per cycle (CUDA C++ Programming Guide, arithmetic
// instructions).
constexpr bool has_fp64_tensor_cores(int sm) {
  return sm == 80 || sm == 90 || sm == 100 || sm == 103;
}

// The order of tiles on a persistent grid of one CTA per SM: groups that make the set of tiles in
// flight nearly square.
schedule::Raster square_raster(int tiles_m, int tiles_n, OutputTile tile, int sms);

inline constexpr std::int64_t kMaxGrid = 0x7fffffff;  // HW: largest grid.x since compute 3.0
// Tiles of D for this number of products; kMaxGrid + 1 if there are more than a grid has blocks.
std::int64_t tiles_of(const KernelRow& row, const GemmParams& p, std::int64_t products = 1);
// Whether base and stride of A and B let every vector of 16 bytes be one access.
bool operands_allow_vectors(const Request& request);

// The one launch of a grid with one CTA per tile of D.
Step multiply_by_tiles(const KernelRow& row, const Product& product);

// Not ok where D has more tiles than a grid has blocks, 2^31 - 1.
Status check_grid(const Kernel& kernel, const KernelRow& row, const Request& request);
// For a kernel that counts at most 2^30 tiles: the reason why it does not take the product.
Status too_many_tiles(const Kernel& kernel, const Request& request,
                      std::string_view also = "as many along k");
Status no_fp64_tensor_cores(const Kernel& kernel, const Request& request);

}  // namespace tessera::gemm
