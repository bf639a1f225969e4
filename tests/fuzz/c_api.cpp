// What a fuzzer calls with each input: libFuzzer's name for it, so that it runs there, too.
#include <span>

#include "tests/fuzz/session.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  tessera::fuzz::Input input(std::span(bytes, count));
  tessera::fuzz::Session(input).run();
  return 0;
}
