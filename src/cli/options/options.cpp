#include "cli/options/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/numbers.h"
#include "cli/options/parser.h"
#include "cli/options/shapes.h"
#include "gemm/plan/plan.h"

namespace tessera::cli {
namespace {

constexpr int kMostShapes = 100000;  // per call; a range with more shapes was mistyped
constexpr const char* kTypeHelp =
    "only kernels of this type: f64, f32, tf32 (f32, multiplied with 11 bits), f16x3 (f32 in two "
    "f16 terms), f16, bf16 (summed in f32), e4m3 (D bf16), s8 (D s32), or five, A,B,C,D,compute: "
    "bf16,bf16,f32,f32,f32";
constexpr const char* kSizeHelp = "a size, a list a,b or a range lo:hi:step or lo:hi:x2";

// The leading dimension that the option gives; 0 (the smallest legal one) without the option.
std::int64_t leading_dimension(const char* argument, const std::string& text) {
  return text.empty() ? 0 : parse_integer(argument, text, 1);
}

Problem problem_of(const ProblemOptions& options, const Types& types, const Shape& shape) {
  Problem problem;
  problem.m = shape.m;
  problem.n = shape.n;
  problem.k = shape.k;
  problem.types = types;
  problem.lda = leading_dimension("--lda", options.lda);
  problem.ldb = leading_dimension("--ldb", options.ldb);
  problem.ldc = leading_dimension("--ldc", options.ldc);
  problem.ldd = leading_dimension("--ldd", options.ldd);
  if (!options.alpha.empty()) problem.alpha = parse_real("--alpha", options.alpha);
  if (!options.beta.empty()) problem.beta = parse_real("--beta", options.beta);
  if (!options.epilogue.empty()) problem.epilogue = parse_epilogue(options.epilogue);
  return problem;
}

// The batch of the options. Without strides, the products follow each other without gaps.
Batch batch_of(const ProblemOptions& options, const Problem& problem) {
  const auto& o = options;
  if (o.batch.empty()) {
    for (const auto& [name, text] : {std::pair{"--stride-a", &o.stride_a},
                                     {"--stride-b", &o.stride_b},
                                     {"--stride-c", &o.stride_c},
                                     {"--stride-d", &o.stride_d},
                                     {"--pointers", &o.pointers}}) {
      if (text->empty()) continue;
      throw StatusError(Status::bad_argument(
          fmt::format("{} is '{}', but needs --batch; add --batch COUNT", name, *text)));
    }
    return {};
  }
  Batch batch = dense_batch(problem, parse_integer("--batch", o.batch, 0));
  const auto read = [](const char* argument, const std::string& text, std::int64_t& stride) {
    if (!text.empty()) stride = parse_integer(argument, text, 0);
  };
  read("--stride-a", o.stride_a, batch.stride_a);
  read("--stride-b", o.stride_b, batch.stride_b);
  read("--stride-c", o.stride_c, batch.stride_c);
  read("--stride-d", o.stride_d, batch.stride_d);
  if (o.pointers.empty()) return batch;
  if (!o.stride_a.empty() || !o.stride_b.empty() || !o.stride_c.empty() || !o.stride_d.empty()) {
    throw StatusError(Status::bad_argument(fmt::format(
        "--pointers is '{}', but cannot be combined with strides; leave either out", o.pointers)));
  }
  return {.kind = BatchKind::kPointers,
          .count = batch.count,
          .alignment = parse_integer("--pointers", o.pointers, 1)};
}

}  // namespace

Batch dense_batch(const Problem& problem, std::int64_t count) {
  const auto whole_lines = [](const MatrixView& view) {
    return view.row == 1 ? view.cols * view.col : view.rows * view.row;
  };
  return {.kind = BatchKind::kStrided,
          .count = count,
          .stride_a = whole_lines(view_a(problem)),
          .stride_b = whole_lines(view_b(problem)),
          .stride_c = whole_lines(view_c(problem)),
          .stride_d = whole_lines(view_d(problem)),
          .stride_x = whole_lines(view_x(problem))};
}

void add_batch_options(Parser& parser, ProblemOptions& options) {
  parser.add_option("--batch", options.batch, "products of this shape in one call").type_name("N");
  for (const auto& [name, text, operand] : {std::tuple{"--stride-a", &options.stride_a, "A"},
                                            {"--stride-b", &options.stride_b, "B"},
                                            {"--stride-c", &options.stride_c, "C"},
                                            {"--stride-d", &options.stride_d, "D"}}) {
    parser
        .add_option(name, *text,
                    fmt::format("elements from one {0} of a batch to the next (default: no gap; 0: "
                                "all products share {0})",
                                operand))
        .type_name("N");
  }
  parser
      .add_option("--pointers", options.pointers,
                  "a batch of addresses in device memory, each a multiple of this many bytes")
      .type_name("BYTES");
}

int host_threads_of(const DeviceOptions& options) {
  if (options.threads.empty()) return 0;
  return static_cast<int>(parse_integer("--threads", options.threads, 1, 4096));
}

void add_kernel_options(Parser& parser, ProblemOptions& options) {
  parser
      .add_option(
          "--kernel", options.kernel,
          fmt::format(
              "name, number, glob, list, 'rungs', 'library', 'all' or 'best', which is what the "
              "library takes (default {}); add /VARIANT or /all for variants, and :DECISION, as "
              "the "
              "plan in 'bench --why --json -', to plan it so",
              options.kernel))
      .type_name("K");
  add_type_option(parser, options);
}

void add_type_option(Parser& parser, ProblemOptions& options) {
  parser.add_option("--type", options.type, kTypeHelp).type_name("T");
}

void add_shape_options(Parser& parser, ProblemOptions& options) {
  parser.add_option("-m", options.m, std::string("rows of D: ") + kSizeHelp).type_name("M");
  parser.add_option("-n", options.n, "columns of D (default: as -m)").type_name("N");
  parser.add_option("-k", options.k, "columns of op(A), rows of op(B) (default: as -m)")
      .type_name("K");
  parser
      .add_option("--shapes,--suite", options.shapes,
                  "file with a line 'm n k' for each shape, or a suite: " + names_of_suites())
      .type_name("FILE");
  parser.add_option("--layout", options.layout, "op A and op B: NN, NT, TN, TT, a list or 'all'")
      .type_name("AB");
  parser.add_option("--order", options.order, "col (default), row or 'all'").type_name("O");
  parser.add_option("--lda", options.lda, "leading dimension of A (default: smallest)")
      .type_name("LD");
  parser.add_option("--ldb", options.ldb, "leading dimension of B").type_name("LD");
  parser.add_option("--ldc", options.ldc, "leading dimension of C").type_name("LD");
  parser.add_option("--ldd", options.ldd, "leading dimension of D").type_name("LD");
}

void add_plan_options(Parser& parser, ProblemOptions& options) {
  parser
      .add_option(
          "--split", options.split,
          "split tiles of the last wave along k: model (default: where it pays), never, always")
      .type_name("POLICY");
  parser
      .add_option("--repack", options.repack,
                  "repack operands that TMA cannot load, in a launch before: model, never, always")
      .type_name("POLICY");
  parser
      .add_option("--remainder", options.remainder,
                  "launches of smaller tiles where whole tiles do not fit: model, never, always")
      .type_name("POLICY");
  parser
      .add_option("--packed", options.packed,
                  "operands that are packed beforehand, as weights are: a, b or ab (type f16x3)")
      .type_name("OPERANDS");
}

gemm::PlanOptions plan_options_of(const ProblemOptions& options) {
  const auto policy = [](const char* argument, const std::string& text) {
    if (text == "model") return gemm::Policy::kModel;
    if (text == "never") return gemm::Policy::kNever;
    if (text == "always") return gemm::Policy::kAlways;
    throw StatusError(Status::bad_argument(
        fmt::format("{} is '{}', but must be model, never or always", argument, text)));
  };
  const std::string& packed = options.packed;
  if (!packed.empty() && packed != "a" && packed != "b" && packed != "ab") {
    throw StatusError(
        Status::bad_argument(fmt::format("--packed is '{}', but must be a, b or ab", packed)));
  }
  return {.split = policy("--split", options.split),
          .repack = policy("--repack", options.repack),
          .remainder = policy("--remainder", options.remainder),
          .packed = {packed.starts_with("a"), packed.ends_with("b")}};
}

void add_scale_options(Parser& parser, ProblemOptions& options) {
  parser.add_option("--alpha", options.alpha, "factor of A B (default 1)").type_name("X");
  parser.add_option("--beta", options.beta, "factor of C (default 0)").type_name("X");
  parser
      .add_option("--epilogue", options.epilogue,
                  "what follows, joined by +: scale_row or scale_col, bias_row or bias_col, and " +
                      activation_names() + " (default none)")
      .type_name("E");
}

void add_device_options(Parser& parser, DeviceOptions& options) {
  parser
      .add_option(
          "--device", options.device,
          "cuda, cuda:N (GPU number N, from 0) or virtual (default: cuda if there is a GPU)")
      .type_name("D");
  add_threads_option(parser, options);
}

void add_threads_option(Parser& parser, DeviceOptions& options) {
  parser.add_option("--threads", options.threads, "host threads of the virtual GPU (default: all)")
      .type_name("N");
}

void add_multiprocessors_option(Parser& parser, DeviceOptions& options) {
  parser
      .add_option("--sms", options.sms,
                  "SMs of the virtual GPU, for kernels with a persistent grid (default 132)")
      .type_name("N");
}

void add_vendor_option(Parser& parser, DeviceOptions& options) {
  parser
      .add_option("--vendor-lib", options.vendor_library,
                  "path of libcublas or of its folder (default: searched)")
      .type_name("PATH");
}

void add_seed_option(Parser& parser, std::string& seed) {
  parser.add_option("--seed", seed, "seed of the data (default 1)").type_name("S");
}

std::vector<Shape> shapes_of(const ProblemOptions& options, const Shape& otherwise) {
  if (!options.gives_shapes()) return {otherwise};
  const bool gives_sizes = !options.m.empty() || !options.n.empty() || !options.k.empty();
  if (!options.shapes.empty()) {
    if (!gives_sizes) return named_shapes(options.shapes);
    throw StatusError(Status::bad_argument(
        fmt::format("--shapes is '{}', but cannot be combined with -m, -n or -k; leave either out",
                    options.shapes)));
  }
  if (options.m.empty() || options.n.empty() != options.k.empty()) {
    throw StatusError(Status::bad_argument(
        fmt::format("-m is '{}', -n is '{}' and -k is '{}', but must be given all three, or -m "
                    "alone for squares",
                    options.m, options.n, options.k)));
  }
  const std::vector<std::int64_t> all_m = parse_sizes("-m", options.m);
  std::vector<Shape> shapes;
  if (options.n.empty()) {
    for (const std::int64_t m : all_m) shapes.push_back({m, m, m});
    return shapes;
  }
  const std::vector<std::int64_t> all_n = parse_sizes("-n", options.n);
  const std::vector<std::int64_t> all_k = parse_sizes("-k", options.k);
  const double count = static_cast<double>(all_m.size()) * all_n.size() * all_k.size();
  if (count > kMostShapes) {
    throw StatusError(Status::bad_argument(
        fmt::format("-m is '{}', -n is '{}' and -k is '{}', which name {:.0f} shapes, but may name "
                    "at most {}; give shorter ranges",
                    options.m, options.n, options.k, count, kMostShapes)));
  }
  for (const std::int64_t m : all_m) {
    for (const std::int64_t n : all_n) {
      for (const std::int64_t k : all_k) shapes.push_back({m, n, k});
    }
  }
  return shapes;
}

std::vector<std::string> layouts_of(const ProblemOptions& options) {
  const std::string text =
      options.layout.empty() ? layouts_of_suite(options.shapes) : options.layout;
  if (text == "all") return {"NN", "NT", "TN", "TT"};
  std::vector<std::string> layouts = split(text, ',');
  for (const std::string& layout : layouts) {
    Problem probe;
    set_layout(probe, layout);
  }
  return layouts;
}

std::vector<Order> orders_of(const ProblemOptions& options) {
  if (options.order.empty()) return {Order::kColumnMajor};
  if (options.order == "all") return {Order::kColumnMajor, Order::kRowMajor};
  return {parse_order(options.order)};
}

std::vector<Problem> problems_of(const ProblemOptions& options, const Types& types,
                                 const Shape& otherwise) {
  std::vector<Problem> problems;
  for (const Shape& shape : shapes_of(options, otherwise)) {
    for (const std::string& layout : layouts_of(options)) {
      for (const Order order : orders_of(options)) {
        Problem problem = problem_of(options, types, shape);
        problem.order = order;
        set_layout(problem, layout);
        problem = with_default_ld(problem);
        problem.batch = batch_of(options, problem);
        require(check(problem));
        problems.push_back(problem);
      }
    }
  }
  return problems;
}

Problem one_problem_of(const ProblemOptions& options, const Types& types, const Shape& otherwise,
                       const char* command) {
  const std::vector<Problem> problems = problems_of(options, types, otherwise);
  if (problems.size() == 1) return problems.front();
  throw StatusError(Status::bad_argument(fmt::format(
      "-m, -n, -k, --layout and --order name {} problems, but '{}' takes one; 'bench' takes many",
      problems.size(), command)));
}

}  // namespace tessera::cli
