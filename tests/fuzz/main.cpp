// Runs the fuzzer without libFuzzer: inputs that were kept, then random ones for some seconds, each
// made from the seed and its number. What stops it is written to a file, with the command that
// repeats it.
//   fuzz_c_api [--seconds S] [--seed N] [--first I] [FILE...]
//   fuzz_c_api --faults      no inputs, but every allocation in turn fails, and all of the driver's
//   calls fuzz_c_api --no-driver   libcuda.so.1 is no library, another one, or too old
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <sanitizer/common_interface_defs.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/faults.h"
#include "tests/support/beside.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count);

namespace {

struct Options {
  double seconds = 10;
  unsigned long seed = 1, first = 0;
  std::vector<std::string> files;
};

// WHY: never destroyed. A leak is reported after the end of main().
std::vector<std::uint8_t>& current = *new std::vector<std::uint8_t>;
std::string& whence = *new std::string;

void keep_current() {
  const std::string path = "fuzz_c_api.finding";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(current.data()), static_cast<long>(current.size()));
  std::fprintf(stderr, "found by %s; again with: fuzz_c_api --seconds 0 %s\n", whence.c_str(),
               path.c_str());
}

void on_abort(int) {
  keep_current();
  _exit(1);
}

void run(std::vector<std::uint8_t> bytes, std::string from) {
  current = std::move(bytes);
  whence = std::move(from);
  LLVMFuzzerTestOneInput(current.data(), current.size());
}

std::vector<std::uint8_t> input_of(unsigned long seed, unsigned long number) {
  std::seed_seq both{seed, number};
  std::mt19937 random(both);
  std::vector<std::uint8_t> bytes(64 + random() % 1000);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "0";
    if (word == "--seconds") {
      options.seconds = std::atof(value), ++i;
    } else if (word == "--seed") {
      options.seed = std::strtoul(value, nullptr, 10), ++i;
    } else if (word == "--first") {
      options.first = std::strtoul(value, nullptr, 10), ++i;
    } else {
      options.files.push_back(word);
    }
  }
  return options;
}

// This program again, in a process whose libcuda.so.1 is the one in a folder.
int start_with(const std::filesystem::path& folder, const char* words) {
  const std::string variables = "FAKE_CUDA_DRIVER=11040 LD_LIBRARY_PATH=" + folder.string();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const int status = std::system((variables + " '" + self + "' --says '" + words + "'").c_str());
  std::printf("%s: %s\n", words, status == 0 ? "said" : "NOT SAID");
  return status == 0 ? 0 : 1;
}

int without_a_driver() {
  const std::filesystem::path folder = tessera::beside_test("tests/no_driver");
  std::filesystem::create_directories(folder);
  const std::filesystem::path library = folder / "libcuda.so.1";
  std::filesystem::remove(library);
  std::ofstream(library) << "";
  int failed = start_with(folder, "no NVIDIA driver: libcuda.so.1 cannot be loaded");
  std::filesystem::remove(library);
  Dl_info c_library{};
  dladdr(reinterpret_cast<void*>(&gnu_get_libc_version), &c_library);
  std::filesystem::create_symlink(std::filesystem::canonical(c_library.dli_fname), library);
  failed += start_with(folder, "it does not export cuInit");
  const auto fake = std::filesystem::path(tessera::fake_driver()).parent_path();
  return failed + start_with(fake, "it supports CUDA 11.4, and at least CUDA 12.0 is needed");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--no-driver") return without_a_driver();
  if (argc == 3 && std::string(argv[1]) == "--says") {
    return tessera::fuzz::use_no_driver(argv[2]), 0;
  }
  // The library finds the driver by its name, so start again with the stand-in in the library path.
  const std::string folder = std::filesystem::path(tessera::fake_driver()).parent_path();
  const char* path = std::getenv("LD_LIBRARY_PATH");
  if (!path || !std::string(path).starts_with(folder)) {
    setenv("LD_LIBRARY_PATH", (folder + ":" + (path ? path : "")).c_str(), 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
  }
  if (argc == 2 && std::string(argv[1]) == "--faults") {
    setenv("FAKE_CUDA_ACCEPT", "1", 1);
    setenv("FAKE_CUDA_MEMORY", "100000000000", 1);
    tessera::fuzz::fail_every_allocation();
    tessera::fuzz::fail_every_driver_call();
    tessera::fuzz::reject_every_image();
    return 0;
  }
  const Options options = options_of(argc, argv);
  __sanitizer_set_death_callback(keep_current);
  std::signal(SIGABRT, on_abort);
  for (const std::string& file : options.files) {
    std::ifstream in(file, std::ios::binary);
    run({std::istreambuf_iterator<char>(in), {}}, file);
  }
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  unsigned long number = options.first;
  for (; Clock::now() < end; ++number) {
    run(input_of(options.seed, number),
        "--seed " + std::to_string(options.seed) + " --first " + std::to_string(number));
  }
  std::printf("%zu kept inputs and %lu random ones of seed %lu, no finding\n", options.files.size(),
              number - options.first, options.seed);
  return 0;
}
