// The host side of the kernels that share one source. For each problem a family makes offers of its
// kernels, once; the plan takes one offer and asks the family for its launches. A new family is one
// file in gemm/families/, named after it, and one line of the catalog:
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

// What a plan requests from a family: offers for a product whose D is row-major.
struct Request {
  Subproblem whole;
  Product product;  // parameters and operand addresses of `whole`
  // Alignments in bytes of the canonical operands, valid for every product of a batch.
  int a_alignment, b_alignment, d_alignment;
  Majors majors;              // the index along which A and B are contiguous
  bool is_exchanged = false;  // this is the transpose of the caller's product
  int first_temp = 0;         // earlier temps belong to rewrites
  // The decision that offers must follow; without one, the model and the options decide. A family
  // that cannot follow the decision makes other offers, which the plan compares and drops.
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

// The request for a product; a column-major product becomes its row-major transpose.
Request request_of(const Subproblem& product, const DeviceLimits& limits,
                   const PlanOptions& options, int first_temp = 0);
// The request for the transposed product, whose D is column-major.
Request exchanged(const Request& request);

// The sizes in the caller's order, for messages: "m is 5, n is 7 and k is 9".
std::string sizes_text(const Request& request);
// The layout in the caller's order: "TN".
std::string layout_text(const Request& request);
// The size of D, for messages: "m is 5 and n is 7".
std::string size_of_d_text(const Request& request);

inline schedule::Batch batch_of(const Request& request, std::int64_t tiles_m) {
  return batch_params(request.problem(), tiles_m);
}

struct Offer {
  const Kernel* kernel = nullptr;
  const KernelRow* row = nullptr;  // config row of the largest launch that multiplies
  Cost cost;
  std::vector<std::int64_t> temps = {};  // bytes of each piece of the workspace
  int priced = 1;                        // number of products that were priced for this offer
  Decision decision = {};

  std::int64_t workspace_bytes() const { return gemm::workspace_bytes(temps); }
};

// The config rows of one variant of a kernel: one row per operand mode.
struct Variant {
  std::span<const KernelRow> rows;
  double tflops;  // measured rate; 0: not measured

  std::string_view name() const { return rows.front().variant; }
};
std::vector<Variant> variants_with_rates(const Kernel& kernel, const DeviceLimits& limits);

// Calls add(variant) for each variant of a kernel, or for the variant `name` alone. add() appends
// an offer or returns the reason against it. If no offer was appended, returns the last reason.
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

// How A or B is packed into the form that the kernels of a family read.
struct Packing {
  std::int64_t outer, k;          // rows of A or columns of B
  std::int64_t bytes;             // of the packed operand; 0: nothing is read
  std::optional<Step> step = {};  // copies slot kA to slot kPackedA, or kB to kPackedB
};

class Family {
 public:
  virtual ~Family() = default;
  // Adds an offer for each variant that takes the problem, or for the variant `variant` alone. If
  // there is no offer, returns the reason. An offer may exceed the workspace limit; it then has the
  // smallest workspace that its variant can use.
  virtual Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
                       std::vector<Offer>& offers) const = 0;
  // Whether the family plans all products of this batch at once. If not, the family plans a single
  // product of a strided batch, whose launches are run once for each product.
  virtual bool takes(const Batch&) const { return false; }
  // The steps of an offer, in order, for a problem that is not empty. Steps refer to the temps of
  // the offer by Request::temp().
  virtual std::vector<Step> steps(const Offer& offer, const Request& request) const = 0;
  // The packing of A or B that the family's kernels read, for callers that pack operands ahead of
  // calls; none if the kernels read operands as they are.
  virtual std::optional<Packing> packing(const Kernel&, const Request&, Slot /*operand*/) const {
    return {};
  }
};

// The family that the kernel's line in the catalog names.
const Family& family_of(const Kernel& kernel);

// The row of a variant for the majors of the request. Throws kUnsupported if there is none.
const KernelRow& row_of_majors(const Variant& variant, const Request& request);

// HW: A100, H100, H200, B200 and B300. Other GPUs from SM 8.0 on have the instructions,
// but execute only a few FMAs per cycle with them (CUDA C++ Programming Guide,
// arithmetic instructions).
constexpr bool has_fp64_tensor_cores(int sm) {
  return sm == 80 || sm == 90 || sm == 100 || sm == 103;
}

// The order of tiles on a persistent grid of one CTA per SM: in groups, so that the tiles in flight
// cover a nearly square part of D.
schedule::Raster square_raster(int tiles_m, int tiles_n, OutputTile tile, int sms);

inline constexpr std::int64_t kMaxGrid = 0x7fffffff;  // HW: largest grid.x since compute 3.0
// The number of tiles of D of all products; kMaxGrid + 1 if a grid cannot have as many blocks.
std::int64_t tiles_of(const KernelRow& row, const GemmParams& p, std::int64_t products = 1);
// Whether bases and strides let A and B be read in vectors of 16 bytes.
bool operands_allow_vectors(const Request& request);

// The step that multiplies with one CTA per tile of D.
Step multiply_by_tiles(const KernelRow& row, const Product& product);

// Not ok if D has more tiles than a grid can have blocks (2^31 - 1).
Status check_grid(const Kernel& kernel, const KernelRow& row, const Request& request);
// The refusal of a product with more than 2^30 tiles, the most that the kernel counts.
Status too_many_tiles(const Kernel& kernel, const Request& request,
                      std::string_view also = "as many along k");
Status no_fp64_tensor_cores(const Kernel& kernel, const Request& request);

}  // namespace tessera::gemm
