#include "cli/files/file_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/elements.h"
#include "device/virtual/observer.h"
#include "gemm/call/multiply.h"
#include "gemm/plan/plan.h"
#include "lab/data/host_memory.h"
#include "lab/verify/products.h"

namespace tessera::cli {
namespace {

// Multiply-adds per panel, which take at least a tenth of a second on the virtual GPU with one
// core. WHY not more: the bar moves, and Ctrl-C stops the work, only between panels.
constexpr double kPanelMultiplyAdds = 1e8;
// The host's BLAS is about a hundred times as fast as the virtual GPU.
constexpr double kHostPanelMultiplyAdds = 1e10;
constexpr std::int64_t kPanelRows = 128;  // panels start at multiples of 128 rows, for alignment

[[noreturn]] void refuse(const std::string& message) {
  throw StatusError(Status::bad_argument(message));
}

std::string shape_of(const NpyHeader& header) {
  return fmt::format("{} x {}", header.rows, header.cols);
}

void check_types(const FileProduct& product) {
  const ElementType type = product.a.header().type;
  const auto check_one = [type](const char* name, const NpyHeader& header) {
    if (header.type == type) return;
    refuse(fmt::format(
        "{} holds {}, but must hold {} as A does; NumPy's astype() converts one of them", name,
        name_of(header.type), name_of(type)));
  };
  check_one("B", product.b.header());
  if (product.c) check_one("C", product.c->header());
}

void check_shapes(const FileProduct& product) {
  const NpyHeader& a = product.a.header();
  const NpyHeader& b = product.b.header();
  if (a.cols != b.rows) {
    refuse(fmt::format("A is {} and B is {}, but A must have as many columns as B has rows{}",
                       shape_of(a), shape_of(b),
                       a.rows == b.rows   ? "; is the transpose of A (a.T) meant?"
                       : a.cols == b.cols ? "; is the transpose of B (b.T) meant?"
                                          : ""));
  }
  if (product.c && (product.c->header().rows != a.rows || product.c->header().cols != b.cols)) {
    refuse(fmt::format("C is {}, but must be {} x {} as A B is", shape_of(product.c->header()),
                       a.rows, b.cols));
  }
}

// The view of a file's matrix, with strides in elements.
MatrixView view_of(const NpyHeader& header) {
  if (header.fortran_order) return {header.rows, header.cols, 1, header.rows};
  return {header.rows, header.cols, header.cols, 1};
}

// Rows [first, first + count) of a file's matrix as float64: row-major, without gaps.
std::vector<double> rows_as_doubles(const NpyFile& file, std::int64_t first, std::int64_t count) {
  const MatrixView view = view_of(file.header());
  const ElementType type = file.header().type;
  std::vector<double> values(static_cast<std::size_t>(count * view.cols));
  for (std::int64_t r = 0; r < count; ++r) {
    for (std::int64_t c = 0; c < view.cols; ++c) {
      const std::int64_t at = (first + r) * view.row + c * view.col;
      values[r * view.cols + c] = load_element(type, file.data() + size_of(type) * at);
    }
  }
  return values;
}

void store(NpyFile& file, std::int64_t r, std::int64_t c, double value) {
  const MatrixView view = view_of(file.header());
  const std::int64_t at = r * view.row + c * view.col;
  store_element(file.header().type, value, file.data() + size_of(file.header().type) * at);
}

// C in the storage order of D, so that D can start as a copy of C.
NpyFile c_in_order_of(const NpyFile& c, bool fortran_order) {
  NpyFile turned = NpyFile::make(c.header().type, c.header().rows, c.header().cols, fortran_order);
  for (std::int64_t r = 0; r < c.header().rows; ++r) {
    const std::vector<double> row = rows_as_doubles(c, r, 1);
    for (std::int64_t col = 0; col < c.header().cols; ++col) store(turned, r, col, row[col]);
  }
  return turned;
}

std::int64_t rows_of_a_panel(const Problem& problem, double multiply_adds) {
  const double of_a_row = std::max(1.0, static_cast<double>(problem.n) * problem.k);
  const double rows = std::clamp(multiply_adds / of_a_row, 1.0, 1.0 * problem.m + kPanelRows);
  return (static_cast<std::int64_t>(rows) + kPanelRows - 1) / kPanelRows * kPanelRows;
}

// Calls body(first row, rows) for each panel. Returns false if the user stopped the work.
bool for_each_panel(const FileProduct& product, const Problem& problem, std::int64_t panel,
                    const std::function<void(std::int64_t, std::int64_t)>& body) {
  for (std::int64_t first = 0; first < problem.m; first += panel) {
    if (product.stop && product.stop()) return false;
    if (product.progress) product.progress(first, problem.m);
    body(first, std::min(panel, problem.m - first));
  }
  return true;
}

// The numbers of `data`, rounded to another type.
std::vector<char> in_type(const char* data, std::size_t count, ElementType from, ElementType to) {
  std::vector<char> converted(count * size_of(to));
  for (std::size_t i = 0; i < count; ++i) {
    store_element(to, load_element(from, data + i * size_of(from)), &converted[i * size_of(to)]);
  }
  return converted;
}

DeviceBuffer upload(Device& device, const NpyFile& file, ElementType type) {
  const NpyHeader& header = file.header();
  const auto count = static_cast<std::size_t>(header.rows) * header.cols;
  DeviceBuffer buffer(device, count * size_of(type));
  if (header.type == type) {
    device.copy_in(buffer.address(), file.data(), buffer.bytes());
  } else {
    device.copy_in(buffer.address(), in_type(file.data(), count, header.type, type).data(),
                   buffer.bytes());
  }
  return buffer;
}

void download(Device& device, const DeviceBuffer& buffer, ElementType type, NpyFile& file) {
  if (file.header().type == type) {
    return device.copy_out(file.data(), buffer.address(), buffer.bytes());
  }
  std::vector<char> data(buffer.bytes());
  device.copy_out(data.data(), buffer.address(), buffer.bytes());
  const std::vector<char> converted =
      in_type(data.data(), data.size() / size_of(type), type, file.header().type);
  std::copy(converted.begin(), converted.end(), file.data());
}

// The operands in device memory. D starts as a copy of C, and is computed in place.
struct Uploaded {
  DeviceBuffer a, b, d;
};

Uploaded upload_operands(const FileProduct& product, const Types& types, Device& device,
                         const NpyFile& d) {
  Uploaded uploaded{upload(device, product.a, types.a), upload(device, product.b, types.b), {}};
  const bool reads_c = product.c && product.beta != 0;
  if (reads_c && product.c->header().fortran_order != d.header().fortran_order) {
    uploaded.d = upload(device, c_in_order_of(*product.c, d.header().fortran_order), types.d);
  } else {
    uploaded.d = upload(device, reads_c ? *product.c : d, types.d);
  }
  return uploaded;
}

// The operands of a panel that starts at row `first`.
Operands operands_at(const Problem& problem, const Uploaded& uploaded, std::int64_t first) {
  const std::uint64_t of_a = size_of(problem.types.a), of_d = size_of(problem.types.d);
  const std::uint64_t d = uploaded.d.address() + of_d * first * view_d(problem).row;
  return {uploaded.a.address() + of_a * first * view_a(problem).row, uploaded.b.address(), d, d};
}

// The reason for the plan of the whole product, whose panels are planned in the same way.
std::string why(const gemm::Plan& plan, const gemm::PlanOptions& options) {
  const auto us = [&](std::size_t i) {
    return fmt::format("{:.3g} us", plan.offers[i].cost.total());
  };
  const bool is_family = options.kernel && options.kernel->variant.empty();
  if (options.kernel && !is_family) return fmt::format("named; {} by model", us(0));
  if (plan.offers.size() == 1) return fmt::format("the only one that takes it; {} by model", us(0));
  return fmt::format("fastest of {} {}by model: {}, next {}/{} {}", plan.offers.size(),
                     is_family ? "variants " : "", us(0), plan.offers[1].kernel->name,
                     plan.offers[1].row->variant, us(1));
}

}  // namespace

Problem problem_of(const FileProduct& product) {
  check_types(product);
  check_shapes(product);
  const NpyHeader& a = product.a.header();
  const NpyHeader& b = product.b.header();
  const bool column_major = a.fortran_order && b.fortran_order;
  Problem problem;
  problem.m = a.rows;
  problem.n = b.cols;
  problem.k = a.cols;
  problem.types = product.types ? *product.types : types_for(a.type);
  problem.order = column_major ? Order::kColumnMajor : Order::kRowMajor;
  problem.op_a = a.fortran_order == column_major ? Op::kNone : Op::kTranspose;
  problem.op_b = b.fortran_order == column_major ? Op::kNone : Op::kTranspose;
  problem.alpha = product.alpha;
  problem.beta = product.beta;
  problem = with_default_ld(problem);
  require(check(problem));
  return problem;
}

ProductResult multiply_on_device(const FileProduct& product, Device& device,
                                 const gemm::PlanOptions& options) {
  const Problem problem = problem_of(product);
  const bool fortran_order = problem.order == Order::kColumnMajor;
  ProductResult result{NpyFile::make(product.a.header().type, problem.m, problem.n, fortran_order),
                       "", true};
  if (result.d.header().data_bytes() == 0) return result;
  const Uploaded uploaded = upload_operands(product, problem.types, device, result.d);
  gemm::Handle handle(device);
  const bool is_virtual = device.info().kind == DeviceKind::kVirtual;
  const std::int64_t panel = is_virtual ? rows_of_a_panel(problem, kPanelMultiplyAdds) : problem.m;
  result.complete =
      for_each_panel(product, problem, panel, [&](std::int64_t first, std::int64_t rows) {
        Problem part = problem;
        part.m = rows;
        const Operands operands = operands_at(problem, uploaded, first);
        multiply(handle, part, operands, options);
        device.synchronize();
        take_counts(device);
        const auto used = handle.prepared(part, gemm::alignment_of(operands), options);
        result.code = used->code();
        result.kernel = {&used->plan().kernel(), used->plan().row().variant};
        if (first > 0) return;
        result.why = why(gemm::plan(problem, gemm::alignment_of(operands),
                                    gemm::limits_of(device.info()), options),
                         options);
      });
  download(device, uploaded.d, problem.types.d, result.d);
  return result;
}

ProductResult multiply_on_host(const FileProduct& product) {
  const Problem problem = problem_of(product);
  const lab::OpenBlas* blas = lab::OpenBlas::load();
  const bool fortran_order = problem.order == Order::kColumnMajor;
  ProductResult result{NpyFile::make(problem.types.d, problem.m, problem.n, fortran_order),
                       blas ? blas->version() : "our own loop (OpenBLAS cannot be loaded)", true};
  lab::require_host_memory(8.0 * problem.k * problem.n, "B in float64");
  const std::vector<double> b = rows_as_doubles(product.b, 0, problem.k);
  const std::int64_t panel = rows_of_a_panel(problem, kHostPanelMultiplyAdds);
  result.complete =
      for_each_panel(product, problem, panel, [&](std::int64_t first, std::int64_t rows) {
        const lab::Extents size{rows, problem.n, problem.k};
        const std::vector<double> a = rows_as_doubles(product.a, first, rows);
        std::vector<double> d(static_cast<std::size_t>(rows * problem.n));
        const bool done = blas && lab::multiply_by(*blas, size, a.data(), b.data(), d.data());
        if (!done) lab::multiply_blocked(size, a.data(), b.data(), d.data());
        const bool reads_c = product.c && problem.beta != 0;
        for (std::int64_t r = 0; r < rows; ++r) {
          const auto c =
              reads_c ? rows_as_doubles(*product.c, first + r, 1) : std::vector<double>();
          for (std::int64_t col = 0; col < problem.n; ++col) {
            const double product_part =
                problem.alpha == 0 ? 0 : problem.alpha * d[r * problem.n + col];
            store(result.d, first + r, col,
                  reads_c ? product_part + problem.beta * c[col] : product_part);
          }
        }
      });
  return result;
}

}  // namespace tessera::cli
