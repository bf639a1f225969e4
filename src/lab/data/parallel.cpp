#include "lab/data/parallel.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::lab {

int host_threads() {
  static const int count = std::max(1u, std::thread::hardware_concurrency());
  return count;
}

void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  const std::int64_t pieces =
      std::clamp<std::int64_t>(count / std::max<std::int64_t>(1, grain), 1, host_threads());
  if (pieces == 1) return body(0, count);
  std::exception_ptr failure;
  std::mutex guard;
  const auto piece = [&](std::int64_t i) {
    try {
      body(count * i / pieces, count * (i + 1) / pieces);
    } catch (...) {
      const std::lock_guard lock(guard);
      failure = std::current_exception();
    }
  };
  std::vector<std::jthread> threads;
  for (std::int64_t i = 1; i < pieces; ++i) threads.emplace_back(piece, i);
  piece(0);
  threads.clear();  // joins
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tessera::lab
