// Options that several commands share. They are read as text and converted here, so that a wrong
// value gets the same message in all commands.
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
  std::string kernel_argument;  // the argument that names the kernel; empty: --kernel
  std::string m, n, k, shapes;
  std::string layout, order, lda, ldb, ldc, ldd, alpha, beta, epilogue;
  std::string batch, stride_a, stride_b, stride_c, stride_d, pointers;
  std::string split = "model", repack = "model", remainder = "model", packed;

  bool gives_shapes() const { return !m.empty() || !n.empty() || !k.empty() || !shapes.empty(); }
};

struct DeviceOptions {
  std::string device;   // "cuda", "cuda:1", "virtual"; empty: the first GPU, if any
  std::string threads;  // threads of the virtual GPU
  std::string sms;      // SMs of the virtual GPU, for plans of persistent grids
  std::string vendor_library;
};

struct Shape {
  std::int64_t m, n, k;
};
// The default sizes on the virtual GPU and on a GPU.
inline constexpr Shape kVirtualShape = {512, 128, 256}, kGpuShape = {4096, 4096, 4096};

// The number that --threads gives; 0 (all) if the option is not given.
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

// The types of the problems for which 'best' chooses kernels: those of --type, else f32.
Types types_for_best(const ProblemOptions& options);

// The kernel that the library chooses for this problem on a GPU with these limits.
KernelChoice best_kernel_for(const Problem& problem, const gemm::DeviceLimits& limits,
                             const gemm::PlanOptions& how = {});

// The kernels that --kernel and --type select together; never empty. Throws kBadArgument for
// 'best', which needs a problem.
std::vector<KernelChoice> kernels_of(const ProblemOptions& options);
// The kernels for a command with one problem. 'best' means the library's choice within `limits`.
std::vector<KernelChoice> kernels_of(const ProblemOptions& options, const Shape& otherwise,
                                     const gemm::DeviceLimits& limits, const char* command);

// Kernels, and the types of their problems: the kernels' own types or, with --type, the given
// types, also for kernels whose output is sums for a later epilogue.
struct KernelsOfType {
  Types types;
  std::vector<KernelChoice> kernels;
};
std::vector<KernelsOfType> kernels_by_type(const ProblemOptions& options);

// A strided batch without gaps between products: each matrix takes `ld` elements per line.
Batch dense_batch(const Problem& problem, std::int64_t count);

// All shapes that -m, -n, -k and --shapes name; `otherwise` if none of these options is given.
std::vector<Shape> shapes_of(const ProblemOptions& options, const Shape& otherwise);
std::vector<std::string> layouts_of(const ProblemOptions& options);  // default: by suite, or "NN"
std::vector<Order> orders_of(const ProblemOptions& options);         // default: column-major

// All combinations of shapes, layouts and orders for one type; checked, with leading dimensions.
std::vector<Problem> problems_of(const ProblemOptions& options, const Types& types,
                                 const Shape& otherwise);

// The one problem of the options. Throws kBadArgument for several: `command` takes one problem.
Problem one_problem_of(const ProblemOptions& options, const Types& types, const Shape& otherwise,
                       const char* command);

// "12_warp_tile", or "12_warp_tile/staged" for a variant that is not the default one.
std::string name_of(const KernelChoice& choice);

}  // namespace tessera::cli
