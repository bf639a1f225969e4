// The C interface: opaque handles, structs that state their size, and a status with a message. All
// arguments are checked here or in called functions; no exception leaves the interface.
#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "device/cuda/cuda_device.h"
#include "gemm/c_api/explain.h"
#include "gemm/c_api/objects.h"
#include "gemm/c_api/packed.h"
#include "gemm/c_api/run.h"

namespace tessera::gemm::c_api {
namespace {

std::string& last_message() {
  thread_local std::string message;
  return message;
}

tessera_status said(tessera_status status, const char* message) noexcept {
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

// Runs f, and turns an exception into a status and a message. Every function
// of the interface uses it.
template <class F>
tessera_status guarded(F f) noexcept {
  try {
    f();
    return TESSERA_OK;
  } catch (const OutOfMemory& error) {
    return said(TESSERA_OUT_OF_MEMORY, error.what());
  } catch (const StatusError& error) {
    return said(code_of(error.status().code), error.what());
  } catch (const std::bad_alloc&) {
    return said(TESSERA_OUT_OF_MEMORY, "not enough host memory");
  } catch (const std::exception& error) {
    return said(TESSERA_FAILED, error.what());
  } catch (...) {
    return said(TESSERA_FAILED, "an unknown error");
  }
}

void require_usable(const tessera_handle_s& owner) {
  if (owner.has_gpu()) require_no_fork();
}

// Runs f with the object of a handle. Refusals are also written to the handle's log.
template <class F>
tessera_status with_handle(tessera_handle handle, F f) noexcept {
  std::shared_ptr<tessera_handle_s> owner;
  const tessera_status status = guarded([&] {
    owner = handles().find(handle, "handle");
    require_usable(*owner);
    f(owner);
  });
  if (status != TESSERA_OK && owner) guarded([&] { owner->say(last_message()); });
  return status;
}

template <class F>
tessera_status with_plan(tessera_plan plan, F f) noexcept {
  std::shared_ptr<tessera_plan_s> found;
  const tessera_status status = guarded([&] {
    found = plans().find(plan, "plan");
    require_usable(*found->owner);
    f(*found);
  });
  if (status != TESSERA_OK && found) guarded([&] { found->owner->say(last_message()); });
  return status;
}

// WHY leak the object in the child of a fork: its destructor would call the driver,
// which does not work there.
template <class T>
void forget(std::shared_ptr<T> object, bool has_gpu) {
  if (has_gpu && is_forked_child()) new std::shared_ptr<T>(std::move(object));
}

// Refuses a named kernel if the operands may be in host memory, where the CPU may multiply them.
void require_device_memory(const tessera_handle_s& owner, const Asked& asked,
                           const Options& options) {
  if (!options.plan.kernel || (owner.has_gpu() && asked.memory == Memory::kDevice)) return;
  throw refused("kernel is '" + options.plan.kernel->kernel->name +
                "', but kernels are named for operands in the memory of a GPU alone");
}

Explained explained(const tessera_handle_s& owner, const tessera_problem* problem,
                    const tessera_plan_options* options) {
  const Asked asked = asked_of(owner, problem);
  const Options wanted = options_of(options);
  require_device_memory(owner, asked, wanted);
  return explain(owner, asked, wanted);
}

// Problem i of an array of structs, each as large as the first one states.
const tessera_problem* problem_at(const tessera_problem* problems, std::size_t i) {
  const std::size_t size = size_of_struct(problems, sizeof *problems, "problems", false);
  return reinterpret_cast<const tessera_problem*>(reinterpret_cast<const unsigned char*>(problems) +
                                                  i * size);
}

void write_choices(const Explained& all, tessera_choice* choices, std::size_t count) {
  const std::size_t size = size_of_choices(choices);
  auto* to = reinterpret_cast<unsigned char*>(choices);
  for (std::size_t i = 0; i < std::min(count, all.choices.size()); ++i, to += size) {
    write_struct(to, &all.choices[i], sizeof(tessera_choice), size);
  }
}

void write_device(const DeviceInfo& info, tessera_device& device, std::size_t size) {
  tessera_device out{};
  const auto put = [](char* to, std::size_t bytes, const std::string& text) {
    std::memcpy(to, text.data(), std::min(text.size(), bytes - 1));
  };
  put(out.name, sizeof out.name, info.name);
  put(out.pci_bus_id, sizeof out.pci_bus_id, info.pci_bus_id);
  out.compute_capability = info.sm;
  out.sms = info.sms;
  out.memory_bytes = info.memory_bytes;
  write_struct(&device, &out, sizeof out, size);
}

}  // namespace
}  // namespace tessera::gemm::c_api

using namespace tessera;
using namespace tessera::gemm;
using namespace tessera::gemm::c_api;

extern "C" {

const char* tessera_version(void) { return TESSERA_VERSION; }

int32_t tessera_version_number(void) { return TESSERA_VERSION_NUMBER; }

const char* tessera_activation_name(int32_t activation) {
  const auto which = static_cast<tessera::Activation>(activation);
  return tessera::is_known(which) ? tessera::row_of(which).name : nullptr;
}

const char* tessera_last_message(void) { return last_message().c_str(); }

tessera_status tessera_device_count(int32_t* count) {
  return guarded([&] {
    given(count, "count") = 0;
    begin_driver_use();
    try {
      *count = static_cast<std::int32_t>(list_cuda_devices().size());
    } catch (const StatusError& error) {
      if (error.status().code != StatusCode::kUnavailable) throw;
      said(TESSERA_OK, error.what());  // keeps the reason: no driver or no GPU
    }
  });
}

tessera_status tessera_device_info(int32_t gpu, tessera_device* device) {
  return guarded([&] {
    const std::size_t size = size_of_struct(device, sizeof *device, "device", false);
    begin_driver_use();
    const auto all = list_cuda_devices();
    if (gpu < 0 || static_cast<std::size_t>(gpu) >= all.size()) {
      throw refused("gpu is " + std::to_string(gpu) + ", but must be 0 to " +
                    std::to_string(static_cast<std::int64_t>(all.size()) - 1));
    }
    write_device(all[static_cast<std::size_t>(gpu)], *device, size);
  });
}

tessera_status tessera_create(tessera_handle* handle, const tessera_place* place) {
  return guarded([&] {
    given(handle, "handle") = nullptr;
    *handle = handles().add(make_handle(place));
  });
}

tessera_status tessera_destroy(tessera_handle handle) {
  return guarded([&] {
    if (!handle) return;
    auto owner = handles().remove(handle, "handle");
    const bool has_gpu = owner->has_gpu();
    forget(std::move(owner), has_gpu);
  });
}

tessera_status tessera_set_log(tessera_handle handle, tessera_log log, void* user) {
  return with_handle(handle, [&](const auto& owner) {
    const std::lock_guard lock(owner->log_mutex);
    owner->log = log;
    owner->log_user = user;
  });
}

tessera_status tessera_gemm(tessera_handle handle, const tessera_problem* problem, double alpha,
                            const void* a, const void* b, double beta, const void* c, void* d,
                            void* stream) {
  return with_handle(handle, [&](const auto& owner) {
    tessera_arguments in{};
    in.size = sizeof in;
    in.alpha = alpha;
    in.a = a;
    in.b = b;
    in.beta = beta;
    in.c = c;
    in.d = d;
    in.stream = stream;
    const Asked asked = asked_of(*owner, problem);
    run_once(*owner, asked, {}, arguments_of(&in, asked.problem));
  });
}

tessera_status tessera_gemm_with(tessera_handle handle, const tessera_problem* problem,
                                 const tessera_plan_options* options,
                                 const tessera_arguments* arguments) {
  return with_handle(handle, [&](const auto& owner) {
    const Asked asked = asked_of(*owner, problem);
    const Options wanted = options_of(options);
    require_device_memory(*owner, asked, wanted);
    run_once(*owner, asked, wanted.plan, arguments_of(arguments, asked.problem));
  });
}

tessera_status tessera_plan_create(tessera_plan* plan, tessera_handle handle,
                                   const tessera_problem* problem,
                                   const tessera_plan_options* options) {
  return with_handle(handle, [&](const auto& owner) {
    given(plan, "plan") = nullptr;
    const Asked asked = asked_of(*owner, problem);
    const Options wanted = options_of(options);
    require_device_memory(*owner, asked, wanted);
    *plan = plans().add(make_plan(owner, asked, wanted));
  });
}

tessera_status tessera_plan_workspace(tessera_plan plan, size_t* bytes) {
  return with_plan(plan, [&](const tessera_plan_s& found) {
    given(bytes, "bytes") = 0;
    *bytes = static_cast<std::size_t>(workspace_of(found));
  });
}

tessera_status tessera_plan_run(tessera_plan plan, const tessera_arguments* arguments) {
  return with_plan(plan, [&](const tessera_plan_s& found) {
    run_plan(found, arguments_of(arguments, found.asked.problem));
  });
}

tessera_status tessera_plan_destroy(tessera_plan plan) {
  return guarded([&] {
    if (!plan) return;
    auto found = plans().remove(plan, "plan");
    const bool has_gpu = found->owner->has_gpu();
    forget(std::move(found), has_gpu);
  });
}

tessera_status tessera_warm_up(tessera_handle handle, const tessera_problem* problems, size_t count,
                               const tessera_plan_options* options, void* stream) {
  return with_handle(handle, [&](const auto& owner) {
    const Options wanted = options_of(options);
    std::vector<Asked> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(asked_of(*owner, problem_at(problems, i)));
      require_device_memory(*owner, all.back(), wanted);
    }
    c_api::warm_up(*owner, all, wanted, stream);
  });
}

tessera_status tessera_packed_bytes(tessera_handle handle, const tessera_problem* problem,
                                    int32_t operand, size_t* bytes) {
  return with_handle(handle, [&](const auto& owner) {
    given(bytes, "bytes") = 0;
    const Asked asked = asked_of(*owner, problem);
    *bytes = static_cast<std::size_t>(c_api::packing_of(*owner, asked, operand_of(operand)).bytes);
  });
}

tessera_status tessera_pack(tessera_packed* packed, tessera_handle handle,
                            const tessera_problem* problem, int32_t operand, const void* matrix,
                            void* memory, size_t bytes, void* stream) {
  return with_handle(handle, [&](const auto& owner) {
    given(packed, "packed") = nullptr;
    const Asked asked = asked_of(*owner, problem);
    *packed = packed_operands().add(
        c_api::pack(*owner, asked, operand_of(operand), matrix, memory, bytes, stream));
  });
}

tessera_status tessera_packed_destroy(tessera_packed packed) {
  return guarded([&] {
    if (packed) packed_operands().remove(packed, "packed");
  });
}

tessera_status tessera_explain(tessera_handle handle, const tessera_problem* problem,
                               const tessera_plan_options* options,
                               tessera_explanation* explanation, tessera_choice* choices,
                               size_t count) {
  return with_handle(handle, [&](const auto& owner) {
    const std::size_t size = size_of_struct(explanation, sizeof *explanation, "explanation", false);
    if (count > 0) size_of_choices(choices);
    const Explained all = explained(*owner, problem, options);
    write_struct(explanation, &all.summary, sizeof all.summary, size);
    if (count > 0) write_choices(all, choices, count);
  });
}

tessera_status tessera_explain_text(tessera_handle handle, const tessera_problem* problem,
                                    const tessera_plan_options* options, char* text, size_t bytes,
                                    size_t* needed) {
  return with_handle(handle, [&](const auto& owner) {
    if (bytes > 0) given(text, "text") = '\0';
    if (needed) *needed = 0;
    const std::string all = text_of(explained(*owner, problem, options));
    if (needed) *needed = all.size() + 1;
    if (bytes == 0) return;
    const std::size_t kept = std::min(bytes - 1, all.size());
    std::memcpy(text, all.data(), kept);
    text[kept] = '\0';
  });
}

}  // extern "C"
