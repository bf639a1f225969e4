// What the stand-in driver keeps between its calls, and the rules that they share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace fake {

enum Result {
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidContext = 201,
  kInvalidHandle = 400,
  kContextIsDestroyed = 709,
  kCaptureUnsupported = 900,
};

inline std::recursive_mutex mutex;
inline std::string recorded;   // one call a line
inline bool is_quiet = false;  // for who measures the time of others: launches do nothing
inline int calls_made = 0, launches_made = 0, failing_call = 0, failing_result = 0;
inline bool is_lost_then = false;  // calls after the failing one fail, too
inline float clock_ms = 0;
inline std::map<void*, float> recorded_at;

// Contexts by handle, with their GPU and how often they are retained. Primary ones stay.
struct Context {
  int gpu = 0, retained = 0;
  bool is_destroyed = false;
};
inline std::map<void*, Context> contexts;
// Memory, streams, events and modules: what is left at the end is a leak.
struct Owned {
  void* context;
  std::size_t bytes;  // of memory
  bool is_host = false;
};
inline std::map<void*, Owned> owned;
// Functions live as long as their module.
struct Function {
  void *context, *module;
};
inline std::map<void*, Function> functions;
inline std::map<void*, std::uint64_t> captured;  // streams, each with the number of its capture
inline std::uint64_t captures_begun = 0;
// An object that graphs share, and what happens to it when none is left.
struct UserObject {
  void* what;
  void (*destroy)(void*);
  std::uint64_t capture = 0;  // of the graph that has it
};
inline std::map<void*, UserObject> user_objects;
inline void destroy_object(void* object) {
  const UserObject one = user_objects.at(object);
  user_objects.erase(object);
  std::free(object);
  one.destroy(one.what);
}
// Copies that were asked for and not yet made, where FAKE_CUDA_LAZY is set: as late as a GPU may
// make them, so that one that nobody waits for is seen.
struct Copy {
  void* stream;
  std::function<void()> make;
};
inline std::vector<Copy> pending;
inline std::map<void*, void*> stream_of_event;
inline thread_local std::vector<void*> current;
inline thread_local int capture_mode = 0;  // global, of this thread

inline void* primary_of(int gpu) { return reinterpret_cast<void*>(std::uintptr_t{16} * (gpu + 1)); }

inline std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

inline std::size_t memory_bytes() { return std::stoull(setting("FAKE_CUDA_MEMORY", "1000000")); }

inline std::size_t allocated_bytes() {
  std::size_t sum = 0;
  for (const auto& [handle, what] : owned) sum += what.is_host ? 0 : what.bytes;
  return sum;
}

// Counts the call and returns the result that it was told, else 0.
inline int count(const std::string& call) {
  ++calls_made;
  const bool is_lost = is_lost_then && failing_call > 0 && calls_made > failing_call;
  if (calls_made == failing_call || is_lost) return failing_result;
  launches_made += call.starts_with("cuLaunchKernel");
  const std::string failures = "," + setting("FAKE_CUDA_FAIL", "") + ",";
  const auto at = failures.find("," + call + "=");
  return at == std::string::npos ? 0 : std::atoi(failures.c_str() + at + call.size() + 2);
}

// Notes it, too.
inline int note(const std::string& call, const std::string& detail = "") {
  if (is_quiet) return 0;
  const std::lock_guard lock(mutex);
  recorded += call + (detail.empty() ? "" : " " + detail) + "\n";
  return count(call);
}

inline void* current_context() { return current.empty() ? nullptr : current.back(); }

inline int check_context() {
  const auto context = contexts.find(current_context());
  if (context == contexts.end()) return kInvalidContext;
  return context->second.is_destroyed ? kContextIsDestroyed : 0;
}

// The check for calls that may wait for a GPU or change its memory. They are illegal while a stream
// is captured, and end the capture, unless this thread has relaxed its capture mode.
inline int check_safe() { return captured.empty() || capture_mode == 2 ? 0 : kCaptureUnsupported; }

// A call in the current context.
inline int note_in_context(const std::string& call, const std::string& detail = "") {
  const int result = note(call, detail);
  return result ? result : check_context();
}

inline int note_unsafe(const std::string& call, const std::string& detail = "") {
  const int result = note_in_context(call, detail);
  return result ? result : check_safe();
}

inline void* new_handle(std::size_t bytes = 0) {
  // HW: a real driver aligns to 256 bytes at least (CUDA C++ Programming Guide, device memory).
  // What reaches past a memory is in none, wherever malloc puts the next one.
  const std::size_t gap = bytes ? 1 << 20 : 0;
  void* handle = std::aligned_alloc(256, (bytes + 256) / 256 * 256 + gap);
  owned[handle] = {current_context(), bytes};
  return handle;
}

inline int free_handle(const char* call, void* handle) {
  const int result = note_in_context(call);
  const std::lock_guard lock(mutex);
  if (owned.erase(handle) == 0) return result ? result : kInvalidHandle;
  std::free(handle);
  return result;
}

// The allocation that an address is in, or null.
inline const Owned* memory_at(std::uint64_t address) {
  for (const auto& [first, what] : owned) {
    const std::uint64_t begin = reinterpret_cast<std::uint64_t>(first);
    if (address >= begin && address < begin + what.bytes) return &what;
  }
  return nullptr;
}

// Makes the copies up to the last one of this stream, in the order in which they were asked for.
inline void make_copies_of(void* stream) {
  const auto last = std::find_if(pending.rbegin(), pending.rend(),
                                 [&](const Copy& copy) { return copy.stream == stream; });
  const auto end = last.base();
  for (auto copy = pending.begin(); copy != end; ++copy) copy->make();
  pending.erase(pending.begin(), end);
}

inline int check_stream(void* stream) {
  const auto known = owned.find(stream);
  const bool fits = !stream || (known != owned.end() && known->second.context == current_context());
  return fits ? 0 : kInvalidHandle;
}

inline int check_launch(void* function, void* stream) {
  if (const int result = check_context()) return result;
  if (functions.at(function).context != current_context()) return kInvalidHandle;
  return check_stream(stream);
}

inline std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

// The bytes of the parameter buffer of a launch's "extra" list, in hexadecimal; of a list of
// parameters, whose sizes nobody tells, the first byte of each (our device ends it with a null).
inline std::string parameters_of(void** list, void** extra) {
  if (list) {
    std::string text = "list";
    for (; *list; ++list) text += " " + hexadecimal(static_cast<unsigned char*>(*list), 1);
    return text;
  }
  if (!extra) return "-";
  const unsigned char* bytes = nullptr;
  std::size_t count = 0;
  for (; *extra != nullptr; extra += 2) {
    if (extra[0] == reinterpret_cast<void*>(1)) bytes = static_cast<unsigned char*>(extra[1]);
    if (extra[0] == reinterpret_cast<void*>(2)) count = *static_cast<std::size_t*>(extra[1]);
  }
  return hexadecimal(bytes, count);
}

}  // namespace fake
