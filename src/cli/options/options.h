// Options that several commands share, taken as text and turned into values here, so that every bad
// one is refused by the same sentence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "gemm/options.h"
#include "problem/problem.h"

namespace tessera::cli {

class Parser;

struct ProblemOptions {
  std::string kernel = "all", type;
  std::string kernel_argument;  // "KERNEL" where it is no option; empty: --kernel
  std::string m, n, k, shapes;
  std::string layout, order, lda, ldb, ldc, ldd, alpha, beta, epilogue;
  std::string batch, stride_a, stride_b, stride_c, stride_d, pointers;
  std::string split = "model", repack = "model", remainder = "model", packed;

  bool gives_shapes() const { return !m.empty() || !n.empty() || !k.empty() || !shapes.empty(); }
};

struct DeviceOptions {
  std::string device;   // "cuda", "cuda:1", "virtual" or empty: the first GPU if there is one
  std::string threads;  // threads of the virtual GPU
  std::string sms;      // SMs of the virtual GPU, for plans of persistent grids
  std::string vendor_library;
};

struct Shape {
  std::int64_t m, n, k;
};
// The default sizes.
inline constexpr Shape kVirtualShape = {512, 128, 256}, kGpuShape = {4096, 4096, 4096};

// The number of --threads; 0 (all) when it is not given.
int host_threads_of(const DeviceOptions& options);

void add_kernel_options(Parser& parser, ProblemOptions& options);
void add_type_option(Parser& parser, ProblemOptions& options);
void add_shape_options(Parser& parser, ProblemOptions& options);
void add_batch_options(Parser& parser, ProblemOptions& options);
void add_plan_options(Parser& parser, ProblemOptions& options);
gemm::PlanOptions plan_options_of(const ProblemOptions& options);
void add_scale_options(Parser& parser, ProblemOptions& options);
void add_device_options(Parser& parser, DeviceOptions& options);
void add_threads_option(Parser& parser, DeviceOptions& options);
void add_multiprocessors_option(Parser& parser, DeviceOptions& options);
void add_vendor_option(Parser& parser, DeviceOptions& options);
void add_seed_option(Parser& parser, std::string& seed);

inline constexpr const char* kBestKernel = "best";  // the library's choice for each problem

// The types of the problems that 'best' chooses kernels for: --type, else f32.
Types types_for_best(const ProblemOptions& options);

// The kernel that the library chooses for this problem on such a GPU.
KernelChoice best_kernel_for(const Problem& problem, const gemm::DeviceLimits& limits,
                             const gemm::PlanOptions& how = {});

// The kernels that --kernel and --type select together; never empty. Refuses 'best', which needs a
// problem.
std::vector<KernelChoice> kernels_of(const ProblemOptions& options);
// The same for a command that takes one problem: 'best' is the best for it on such a GPU.
std::vector<KernelChoice> kernels_of(const ProblemOptions& options, const Shape& otherwise,
                                     const gemm::DeviceLimits& limits, const char* command);

// The same kernels and the types of the problems that they are given: their own or, where --type
// and --epilogue are given, that type also for kernels that keep its sums.
struct KernelsOfType {
  Types types;
  std::vector<KernelChoice> kernels;
};
std::vector<KernelsOfType> kernels_by_type(const ProblemOptions& options);

// Products that follow each other, whole leading dimensions each.
Batch dense_batch(const Problem& problem, std::int64_t count);

// Every shape that -m, -n, -k and --shapes name, `otherwise` when they name none.
std::vector<Shape> shapes_of(const ProblemOptions& options, const Shape& otherwise);
std::vector<std::string> layouts_of(const ProblemOptions& options);  // the suite's, else "NN"
std::vector<Order> orders_of(const ProblemOptions& options);         // column-major by default

// The cross of shapes, layouts and orders for one type; checked, leading dimensions filled in.
std::vector<Problem> problems_of(const ProblemOptions& options, const Types& types,
                                 const Shape& otherwise);

// The one problem that they name. Throws kBadArgument when there are several; `command` takes one.
Problem one_problem_of(const ProblemOptions& options, const Types& types, const Shape& otherwise,
                       const char* command);

// "12_warp_tile" or "12_warp_tile/staged" where the variant is not the default one.
std::string name_of(const KernelChoice& choice);

}  // namespace tessera::cli
