#include "tests/gemm/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> count = 0;

}  // namespace

namespace tessera {

long allocations() { return count; }

}  // namespace tessera

void* operator new(std::size_t bytes) {
  ++count;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
