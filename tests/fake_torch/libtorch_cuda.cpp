// The stand-in's part for CUDA: the stream that a test has set.
#include <cstdint>

namespace {
void* stream = nullptr;
}

extern "C" {
int32_t aoti_torch_get_current_cuda_stream(int32_t, void** to) { return *to = stream, 0; }
void fake_torch_set_stream(void* to) { stream = to; }
}
