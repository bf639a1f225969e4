// The C interface: opaque handles, sized structs, a status and a sentence. Whatever a caller gives
// is checked here or below; nothing is thrown across it.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "base/status.h"
#include "device/cuda/cuda_device.h"
#include "gemm/multiply.h"
#include "tessera/gemm.h"

namespace tessera::gemm {
namespace {

constexpr std::size_t kLargestStruct = 4096;  // of any later version

// A caller's struct of this version or a later one, whose further fields must be 0 then.
template <class Struct>
Struct read(const Struct* given, const char* name) {
  const auto refused = [&](const std::string& why) {
    return StatusError(Status::bad_argument(why));
  };
  if (!given) throw refused(std::string(name) + " is null, but must be given");
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  const std::string said = "size of " + std::string(name) + " is " + std::to_string(size);
  if (size < sizeof(Struct) || size > kLargestStruct) {
    throw refused(said + ", but must be sizeof the struct, " + std::to_string(sizeof(Struct)));
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (std::any_of(bytes + sizeof(Struct), bytes + size, [](unsigned char b) { return b != 0; })) {
    throw refused(said + ", but this version knows " + std::to_string(sizeof(Struct)) +
                  " bytes, and those behind must be 0");
  }
  Struct copy;
  std::memcpy(&copy, given, sizeof copy);
  return copy;
}

// The value of a C enum, by its place in a table.
template <class Values>
auto value_of(const Values& values, const char* name, std::int32_t number, std::int32_t first) {
  const std::int64_t place = static_cast<std::int64_t>(number) - first;
  if (place >= 0 && place < static_cast<std::int64_t>(values.size())) {
    return values[static_cast<std::size_t>(place)];
  }
  throw StatusError(
      Status::bad_argument(std::string(name) + " is " + std::to_string(number) + ", but must be " +
                           std::to_string(first) + " to " +
                           std::to_string(first + static_cast<int>(values.size()) - 1)));
}

ElementType type_of(const char* name, std::int32_t number) {
  constexpr std::array kTypes = {ElementType::kF64,  ElementType::kF32,  ElementType::kF16,
                                 ElementType::kBf16, ElementType::kE4m3, ElementType::kE5m2,
                                 ElementType::kS8,   ElementType::kS32};
  return value_of(kTypes, name, number, TESSERA_F64);
}

ComputeType compute_of(std::int32_t number, ElementType a) {
  constexpr std::array kComputes = {ComputeType::kF64, ComputeType::kF32, ComputeType::kTf32,
                                    ComputeType::kF16, ComputeType::kS32};
  if (number != TESSERA_COMPUTE_USUAL) {
    return value_of(kComputes, "compute", number, TESSERA_COMPUTE_F64);
  }
  if (!is_float(a)) return ComputeType::kS32;
  return size_of(a) == size_of(ElementType::kF64) ? ComputeType::kF64 : ComputeType::kF32;
}

Problem problem_of(const tessera_problem* given) {
  const tessera_problem in = read(given, "problem");
  const auto like_a = [&](std::int32_t type) { return type == TESSERA_AS_A ? in.type_a : type; };
  constexpr std::array kOrders = {Order::kColumnMajor, Order::kRowMajor};
  constexpr std::array kOps = {Op::kNone, Op::kTranspose};
  Problem problem{.m = in.m, .n = in.n, .k = in.k};
  problem.types.a = type_of("type_a", in.type_a);
  problem.types.b = type_of("type_b", like_a(in.type_b));
  problem.types.c = type_of("type_c", like_a(in.type_c));
  problem.types.d = type_of("type_d", like_a(in.type_d));
  problem.types.compute = compute_of(in.compute, problem.types.a);
  problem.order = value_of(kOrders, "order", in.order, TESSERA_COLUMN_MAJOR);
  problem.op_a = value_of(kOps, "op_a", in.op_a, TESSERA_N);
  problem.op_b = value_of(kOps, "op_b", in.op_b, TESSERA_N);
  problem.lda = in.lda;
  problem.ldb = in.ldb;
  problem.ldc = in.ldc;
  problem.ldd = in.ldd;
  return problem;
}

Operands operands_of(const void* a, const void* b, const void* c, const void* d) {
  const auto address = [](const void* p) { return reinterpret_cast<std::uint64_t>(p); };
  return {address(a), address(b), address(c), address(d)};
}

void require_zero(const char* name, std::int32_t value) {
  if (value == 0) return;
  throw StatusError(
      Status::bad_argument(std::string(name) + " is " + std::to_string(value) + ", but must be 0"));
}

std::unique_ptr<Device> device_at(const tessera_place* given) {
  tessera_place place{sizeof place, TESSERA_CURRENT_CONTEXT, 0};
  if (given) place = read(given, "place");
  require_zero("reserved", place.reserved);
  if (place.gpu == TESSERA_CURRENT_CONTEXT) return make_cuda_device_in_context();
  return make_cuda_device(place.gpu);
}

}  // namespace
}  // namespace tessera::gemm

struct tessera_handle_s {
  explicit tessera_handle_s(std::unique_ptr<tessera::Device> on)
      : device(std::move(on)), gemm(*device) {}
  std::unique_ptr<tessera::Device> device;
  tessera::gemm::Handle gemm;
};

// One plan for each of what alpha and beta may be, zero or not.
struct tessera_plan_s {
  std::shared_ptr<tessera_handle_s> owner;
  std::array<std::shared_ptr<const tessera::gemm::Prepared>, 4> prepared;

  static std::size_t place_of(double alpha, double beta) {
    return (alpha != 0 ? 1u : 0u) + (beta != 0 ? 2u : 0u);
  }
};

namespace tessera::gemm {
namespace {

// What callers hold, so that one that was destroyed is known as such, and none is destroyed while a
// call uses it.
template <class T>
class Registry {
 public:
  T* add(std::shared_ptr<T> object) {
    const std::unique_lock lock(mutex_);
    T* const name = object.get();
    live_.emplace(name, std::move(object));
    return name;
  }
  std::shared_ptr<T> find(T* name, const char* what) const {
    const std::shared_lock lock(mutex_);
    if (const auto known = live_.find(name); known != live_.end()) return known->second;
    throw StatusError(Status::bad_argument(
        std::string(what) +
        (name ? " is none that was made and not yet destroyed" : " is null, but must be given")));
  }
  std::shared_ptr<T> remove(T* name, const char* what) {
    std::shared_ptr<T> found = find(name, what);
    const std::unique_lock lock(mutex_);
    live_.erase(name);
    return found;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<const T*, std::shared_ptr<T>> live_;
};

// WHY: never destroyed. At the end of a process the driver may be gone before them.
Registry<tessera_handle_s>& handles() {
  static auto& all = *new Registry<tessera_handle_s>;
  return all;
}
Registry<tessera_plan_s>& plans() {
  static auto& all = *new Registry<tessera_plan_s>;
  return all;
}

std::string& last_message() {
  thread_local std::string message;
  return message;
}

tessera_status said(tessera_status status, const char* message) {
  try {
    last_message() = message;
  } catch (...) {
    last_message().clear();
  }
  return status;
}

tessera_status code_of(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return TESSERA_OK;
    case StatusCode::kBadArgument:
      return TESSERA_BAD_ARGUMENT;
    case StatusCode::kUnavailable:
      return TESSERA_UNAVAILABLE;
    case StatusCode::kUnsupported:
      return TESSERA_UNSUPPORTED;
    case StatusCode::kFailed:
      break;
  }
  return TESSERA_FAILED;
}

// Every call goes through here.
template <class F>
tessera_status guarded(F f) noexcept {
  try {
    f();
    return TESSERA_OK;
  } catch (const StatusError& error) {
    return said(code_of(error.status().code), error.what());
  } catch (const std::bad_alloc&) {
    return said(TESSERA_UNAVAILABLE, "not enough host memory");
  } catch (const std::exception& error) {
    return said(TESSERA_FAILED, error.what());
  } catch (...) {
    return said(TESSERA_FAILED, "an unknown error");
  }
}

template <class T>
T& given(T* out, const char* name) {
  if (out) return *out;
  throw StatusError(Status::bad_argument(std::string(name) + " is null, but must be given"));
}

Alignment alignment_of(std::int32_t bytes) {
  if (bytes == 0) bytes = kMostAlignment;
  if (bytes < 0 || !std::has_single_bit(static_cast<std::uint32_t>(bytes))) {
    throw StatusError(Status::bad_argument("alignment is " + std::to_string(bytes) +
                                           ", but must be 0 or a power of two"));
  }
  const int least = std::min<int>(bytes, kMostAlignment);
  return {least, least, least, least};
}

PlanOptions options_of(const tessera_plan_options& given) {
  require_zero("reserved", given.reserved);
  PlanOptions options;
  constexpr std::size_t most = kAnyWorkspace;
  if (given.workspace_limit != 0) {
    options.workspace_limit = static_cast<std::int64_t>(std::min(given.workspace_limit, most));
  }
  return options;
}

std::string explained(const Plan& plan) {
  std::string text;
  for (const Offer& offer : plan.offers) {
    const bool is_taken = &offer == &plan.offers.front();
    text += (is_taken ? "runs " : "instead of ") + offer.kernel->name + "/" + offer.row->variant +
            ": " + std::to_string(offer.cost.total()) + " us by the model, workspace " +
            std::to_string(offer.workspace_bytes) + " bytes, " + offer.decision_text() +
            (offer.cost.memory_bound() ? ", bound by device memory\n" : ", bound by arithmetic\n");
  }
  return text;
}

std::int64_t workspace_of(const tessera_plan_s& plan) {
  std::int64_t most = 0;
  for (const auto& one : plan.prepared) most = std::max(most, one->plan().workspace_bytes());
  return most;
}

}  // namespace
}  // namespace tessera::gemm

using namespace tessera;
using namespace tessera::gemm;

extern "C" {

const char* tessera_version(void) { return TESSERA_VERSION; }

const char* tessera_last_message(void) { return last_message().c_str(); }

tessera_status tessera_create(tessera_handle* handle, const tessera_place* place) {
  return guarded([&] {
    given(handle, "handle") = nullptr;
    *handle = handles().add(std::make_shared<tessera_handle_s>(device_at(place)));
  });
}

tessera_status tessera_destroy(tessera_handle handle) {
  return guarded([&] {
    if (handle) handles().remove(handle, "handle");
  });
}

tessera_status tessera_gemm(tessera_handle handle, const tessera_problem* problem, double alpha,
                            const void* a, const void* b, double beta, const void* c, void* d,
                            void* stream) {
  return guarded([&] {
    const auto owner = handles().find(handle, "handle");
    Problem one = problem_of(problem);
    one.alpha = alpha;
    one.beta = beta;
    multiply(owner->gemm, one, operands_of(a, b, c, d), {}, stream);
  });
}

tessera_status tessera_plan_create(tessera_plan* plan, tessera_handle handle,
                                   const tessera_problem* problem,
                                   const tessera_plan_options* options) {
  return guarded([&] {
    given(plan, "plan") = nullptr;
    auto made = std::make_shared<tessera_plan_s>();
    made->owner = handles().find(handle, "handle");
    tessera_plan_options wanted{sizeof wanted, 0, 0, 0};
    if (options) wanted = read(options, "options");
    Problem one = problem_of(problem);
    for (const double alpha : {0.0, 1.0}) {
      for (const double beta : {0.0, 1.0}) {
        one.alpha = alpha;
        one.beta = beta;
        made->prepared[tessera_plan_s::place_of(alpha, beta)] =
            made->owner->gemm.prepared(one, alignment_of(wanted.alignment), options_of(wanted));
      }
    }
    *plan = plans().add(std::move(made));
  });
}

tessera_status tessera_plan_workspace(tessera_plan plan, size_t* bytes) {
  return guarded([&] {
    given(bytes, "bytes") = 0;
    *bytes = static_cast<std::size_t>(workspace_of(*plans().find(plan, "plan")));
  });
}

tessera_status tessera_plan_run(tessera_plan plan, double alpha, const void* a, const void* b,
                                double beta, const void* c, void* d, void* workspace,
                                size_t workspace_bytes, void* stream) {
  return guarded([&] {
    const auto found = plans().find(plan, "plan");
    constexpr std::size_t most = kAnyWorkspace;
    execute(*found->prepared[tessera_plan_s::place_of(alpha, beta)],
            {operands_of(a, b, c, d), alpha, beta, reinterpret_cast<DeviceAddress>(workspace),
             static_cast<std::int64_t>(std::min(workspace_bytes, most))},
            stream);
  });
}

tessera_status tessera_plan_destroy(tessera_plan plan) {
  return guarded([&] {
    if (plan) plans().remove(plan, "plan");
  });
}

tessera_status tessera_explain(tessera_handle handle, const tessera_problem* problem, char* text,
                               size_t bytes, size_t* needed) {
  return guarded([&] {
    if (bytes > 0) given(text, "text") = '\0';
    if (needed) *needed = 0;
    const auto owner = handles().find(handle, "handle");
    const Plan plan = gemm::plan(problem_of(problem), {}, limits_of(owner->device->info()));
    const std::string all = explained(plan);
    if (needed) *needed = all.size() + 1;
    if (bytes == 0) return;
    const std::size_t kept = std::min(bytes - 1, all.size());
    std::memcpy(text, all.data(), kept);
    text[kept] = '\0';
  });
}

}  // extern "C"
