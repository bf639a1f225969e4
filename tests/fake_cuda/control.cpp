// What tests tell the stand-in driver, and ask of it: names that no driver has.
#include <cstdlib>

#include "tests/fake_cuda/state.h"

using namespace fake;

extern "C" {

const char* fake_cuda_calls() { return recorded.c_str(); }
void fake_cuda_quiet(int quiet) { is_quiet = quiet != 0; }
void fake_cuda_clear() { recorded.clear(); }
std::size_t fake_cuda_allocated() { return allocated_bytes(); }
// What was made and not given back: memory, streams, events, modules, retained contexts.
std::size_t fake_cuda_live() {
  std::size_t live = owned.size() + user_objects.size();
  for (const auto& [handle, context] : contexts) live += static_cast<std::size_t>(context.retained);
  return live;
}
// Call number `call` from now on fails with this result; 0: none does.
void fake_cuda_fail_at(int call, int result) {
  calls_made = launches_made = 0;
  failing_call = call;
  failing_result = result;
  is_lost_then = false;
}
// The GPU is lost at call number `call`: that one and all after it fail.
void fake_cuda_lose_at(int call, int result) {
  fake_cuda_fail_at(call, result);
  is_lost_then = true;
}
int fake_cuda_calls_made() { return calls_made; }
int fake_cuda_launches_made() { return launches_made; }
// Copies that nobody has waited for yet.
std::size_t fake_cuda_pending() { return pending.size(); }
// A context as another library of the program would make it; current in this thread if asked.
void* fake_cuda_make_context(int gpu, int make_current) {
  void* context = std::malloc(1);
  contexts[context] = {gpu};
  if (make_current) current.push_back(context);
  return context;
}
void fake_cuda_destroy_context(void* context) {
  contexts[context].is_destroyed = true;
  for (auto at = owned.begin(); at != owned.end();) {
    if (at->second.context != context) {
      ++at;
      continue;
    }
    std::free(at->first);
    at = owned.erase(at);
  }
}
void fake_cuda_leave_contexts() { current.clear(); }
void* fake_cuda_current() { return current_context(); }
// Begins a capture in the global mode, or ends it.
void fake_cuda_capture(void* stream, int begins) {
  if (!begins) {
    captured.erase(stream);
    return;
  }
  captured[stream] = ++captures_begun;
}
// Destroys the graphs of all captures so far.
void fake_cuda_destroy_graphs() {
  std::vector<void*> gone;
  for (const auto& [object, one] : user_objects) {
    if (one.capture != 0) gone.push_back(object);
  }
  for (void* object : gone) destroy_object(object);
}

}  // extern "C"
