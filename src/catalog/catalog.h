// The one table of all kernels: tests, verify, bench, list and docs walk it. There is no second
// list.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "launch/image.h"
#include "launch/launch.h"
#include "problem/problem.h"

namespace tessera {

// One compiled entry of a kernel: a config under its variant name and operand sides.
struct KernelRow {
  std::string variant;  // "128x128x8"
  std::string entry;    // "rung_10_general_tile__128x128x8_ak_bn"
  Sides sides;          // kStrided where strides are run-time values
  BlockTile block;
  OutputTile thread = {1, 1};  // outputs of one thread, for the arithmetic of its loads
  int threads = 0;             // a block, along x
  int threads_y = 1;           // and along y
  // Of production kernels, several rows of which may take the same sides:
  Fetches fetches = {Fetch::kCopy4, Fetch::kCopy4};
  TensorBox a_box = {}, b_box = {};  // of operands that are fetched by tensor copies
  int shared_bytes = 0;              // dynamic shared memory of a block
  std::string add_entry = {};        // adds the parts of cut tiles
  std::string turn_entry =
      {};             // brings operands into the form that tensor copies take; may be empty
  int resident = 0;   // blocks of a multiprocessor: the grid is persistent; 0: a block a tile
  int groups = 1;     // of warps, which divide a tile's k
  double tflops = 0;  // of a full H200, measured (catalog/rates.h); 0: never
};

enum class When {
  kModel,   // where a model of the time expects it to pay
  kNever,   // to measure what it brings
  kAlways,  // to test it
};

// What plans of persistent grids may do.
struct PlanOptions {
  When cut = When::kModel;   // the tiles of the last wave along k
  When turn = When::kModel;  // operands that tensor copies do not take, by a launch ahead
  // What lies outside of whole tiles by launches of smaller ones; kAlways: wherever there are some.
  When edges = When::kModel;
};

// The machine that a plan is for.
struct PlanContext {
  int multiprocessors = 0;  // at least 1 for kernels with a persistent grid
  DeviceAddress workspace = 0;
  std::int64_t workspace_bytes = std::numeric_limits<std::int64_t>::max();
  PlanOptions options = {};
};

// An entry of a kernel's image that is no row, and what it calls.
struct HelperEntry {
  std::string entry;   // "rung_21_packed_blocks__8x8__pack_a"
  std::string call;    // "pack_a<kernel::kRows[0].config>"
  std::string params;  // "tessera::PackParams"
  // Of a block, and blocks of a multiprocessor that registers must suffice for; 0: not compiled in.
  int threads = 0, min_blocks = 1;
};

// A plan: the launches that solve one problem with one kernel, in order. Workspace is device memory
// the caller gives, at least workspace_bytes of it (0: none needed). Depends on nothing but its
// inputs; tensor maps are encoded at launch.
struct Plan {
  std::vector<Launch> launches;
};

struct Kernel;
// What Kernel::workspace_bytes and Kernel::plan call; `row` is one of the kernel's.
using WorkspaceRule = std::int64_t(const Kernel& kernel, const KernelRow& row,
                                   const Problem& problem, const PlanContext& context);
using PlanRule = Plan(const Kernel& kernel, const KernelRow& row, const Problem& problem,
                      const Operands& operands, const PlanContext& context);

struct Kernel {
  std::string name;  // the rung's folder, "02_coalesced"
  std::string idea;  // one short line
  DataType type;
  std::vector<KernelRow> rows;  // the first variant is the default
  std::vector<HelperEntry> helpers;
  WorkspaceRule* workspace_rule;
  PlanRule* plan_rule;
  std::optional<CodeImage> own_image = {};     // code from elsewhere than this build's images
  std::string name_space = {};                 // of the source: "tessera::warp_tile"
  std::string params = "tessera::GemmParams";  // what its entries take
  // The kernel whose source, PTX, entries and plan it shares; only its cubin is another one. "" for
  // all others.
  std::string patched_from = {};
  bool is_patched() const { return !patched_from.empty(); }

  std::int64_t workspace_bytes(const KernelRow& row, const Problem& problem,
                               const PlanContext& context) const {
    return workspace_rule(*this, row, problem, context);
  }
  Plan plan(const KernelRow& row, const Problem& problem, const Operands& operands,
            const PlanContext& context) const {
    return plan_rule(*this, row, problem, operands, context);
  }
};

std::span<const Kernel> all_kernels();
std::vector<std::string> variants_of(const Kernel& kernel);  // default first, no repeats

// Kernels chosen by a person: a name, its number, a glob, a comma-separated list or "all"; each may
// carry "/variant" ("12_warp_tile/staged"; "/all" for every variant). Throws kBadArgument that
// names what was given and the closest names there are.
struct KernelChoice {
  const Kernel* kernel;
  std::string variant;
};
std::vector<KernelChoice> choose_kernels(std::string_view pattern);

// The row of a variant that fits the problem's operand sides and, where rows differ in how they
// fetch, the operands' alignment: the first that does. An address of 0 stands for an aligned one.
// Where the plan turns operands first, the row is that of what they are turned into.
const KernelRow& row_for(const Kernel& kernel, std::string_view variant, const Problem& problem,
                         const Operands& operands = {}, const PlanContext& context = {});

// Not ok when the kernel does not support the problem (type, or a grid beyond 2^31 - 1 blocks).
Status supports(const Kernel& kernel, const KernelRow& row, const Problem& problem);

// The image that holds the kernel's entries.
const CodeImage& image_of(const Kernel& kernel);

}  // namespace tessera
