// The cubin reader on the images of this build: what it finds agrees with ptxas' own
// report and with the PTX that ptxas read.
#include "sass/container/cubin.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <regex>
#include <stdexcept>

#include "catalog/catalog.h"
#include "sass/decode/operation.h"
#include "sass/report/ptx_counts.h"
#include "tests/sass/programs.h"

namespace tessera::sass {
namespace {

TEST(Cubin, EveryEntryOfTheCatalogIsFound) {
  ASSERT_FALSE(all_kernels().empty());
  for (const Kernel& kernel : all_kernels()) {
    for (const KernelRow& row : kernel.rows) {
      const CubinFile cubin = read_cubin(image_of(kernel, row.entry).cubin);
      EXPECT_EQ(cubin.sm, 90);
      const CubinKernel* found = cubin.find(row.entry);
      ASSERT_NE(found, nullptr) << row.entry;
      EXPECT_EQ(found->max_threads, row.threads * row.threads_y) << row.entry;
      EXPECT_GT(found->registers, 0) << row.entry;
      EXPECT_GT(found->histogram.at("EXIT"), 0) << row.entry;
    }
    for (const HelperEntry& helper : kernel.helpers) {
      const CubinFile cubin = read_cubin(image_of(kernel, helper.entry).cubin);
      EXPECT_TRUE(cubin.find(helper.entry)) << helper.entry;
    }
  }
}

// ptxas reports in several lines a kernel; collected here by name.
struct Resources {
  int registers = 0;
  std::uint64_t shared = 0, stack = 0;
};
std::map<std::string, Resources> resources_in(std::istream& report) {
  static const std::regex kEntry("Compiling entry function '([^']+)'"),
      kStack("(\\d+) bytes stack");
  static const std::regex kRegisters("Used (\\d+) registers"), kShared("(\\d+) bytes smem");
  std::map<std::string, Resources> found;
  std::smatch match;
  std::string name;
  for (std::string line; std::getline(report, line);) {
    if (std::regex_search(line, match, kEntry)) name = match[1];
    if (std::regex_search(line, match, kStack)) found[name].stack = std::stoull(match[1]);
    if (std::regex_search(line, match, kShared)) found[name].shared = std::stoull(match[1]);
    if (std::regex_search(line, match, kRegisters)) found[name].registers = std::stoi(match[1]);
  }
  return found;
}

TEST(Cubin, ResourcesAreThoseThatPtxasReports) {
  const auto images = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "images";
  if (!std::filesystem::exists(images)) GTEST_SKIP() << "the build's images did not travel along";
  for (const CodeImage* image : images_of_catalog()) {
    const std::string name(image->name);
    const bool is_copy = !std::filesystem::exists(images / (name + ".cu"));  // of a patched rung
    const std::string compiled = is_copy ? "15_producer_warp__256x128x8" : name;
    std::ifstream report(images / (compiled + ".resources.txt"));
    const auto resources = resources_in(report);
    const CubinFile cubin = read_cubin(best_cubin(*image));
    EXPECT_EQ(resources.size(), cubin.kernels.size()) << name;
    for (const auto& [name, expected] : resources) {
      const CubinKernel* found = cubin.find(name);
      ASSERT_NE(found, nullptr) << name;
      EXPECT_EQ(found->registers, expected.registers) << name;
      EXPECT_EQ(found->shared_bytes, expected.shared) << name;
      EXPECT_EQ(found->local_bytes, expected.stack) << name;
    }
  }
}

// ptxas writes a part of the epilogue twice: vectors of D are staged there.
bool ptxas_repeats_epilogue(const std::string& entry) {
  return entry.starts_with("wgmma_tf32__") && entry.ends_with("_am_bk_tma");
}

// In kernels for few vectors, and for BF16 with FP32, ptxas emits separate loops for the layouts,
// with their sums once each.
bool ptxas_parts_loops(const std::string& entry) {
  return entry.starts_with("simt_f32_vector__") || entry.starts_with("vector_") ||
         entry.starts_with("mixed_");
}

// The PTX loads the columns of a B along k one k at a time; ptxas loads four k together, and the
// first of them twice.
bool ptxas_joins_loads(const std::string& entry) {
  return entry.starts_with("simt_f32_direct__") && entry.ends_with("_am_bk_tma");
}

// One load or store of a 16x16 fragment is several accesses of the machine's.
bool is_by_wmma(const std::string& entry) { return entry.starts_with("rung_31_wmma__"); }

// In each output's GELU, ptxas contracts a product and a difference to one FMA, as PTX allows.
bool ptxas_contracts(const std::string& entry) {
  return entry.find("_fused_") != entry.npos && entry.ends_with("_tma");
}

// ptxas unrolls the loop over a thread's two rows, which shuffles.
bool ptxas_unrolls(const std::string& entry) { return entry.ends_with("__terms"); }

// Where ptxas merges accesses: rung 22 reads its tiles along k, so pairs of doubles become one
// load; staged outputs of rung 12 are neighbours, so four stores become one. And where it splits
// them: a store before the loop and at its end, of portable kernels with an A along m.
bool ptxas_merges(const std::string& entry) {
  if (ptxas_repeats_epilogue(entry) || ptxas_parts_loops(entry) || is_by_wmma(entry)) return true;
  if (ptxas_joins_loads(entry) || ptxas_contracts(entry)) return true;
  if (ptxas_unrolls(entry)) return true;
  for (const char* name :
       {"f32_sm75__128x64_am_bn", "f32_sm75__128x64_am_bk", "f32_sm75__64x64_am_bk",
        "f64_sm75__64x64_am_bk", "f64_sm75__32x32_am_bk"}) {
    if (entry == "simt_" + std::string(name)) return true;
  }
  if (entry.starts_with("rung_22_packed_shared__")) return entry.find("__pack_") == entry.npos;
  return entry.starts_with("rung_12_warp_tile__staged_");
}

TEST(Cubin, CountsEqualThePtxButWherePtxasMerges) {
  for (const CodeImage* image : images_of_catalog()) {
    const CubinFile cubin = read_cubin(image->cubin);
    const std::vector<PtxKernel> ptx = count_ptx(image->ptx);
    EXPECT_EQ(ptx.size(), cubin.kernels.size()) << image->name;
    for (const PtxKernel& entry : ptx) {
      const CubinKernel* machine = cubin.find(entry.name);
      ASSERT_NE(machine, nullptr) << entry.name;
      const std::vector<std::string> found = differences(entry, *machine);
      EXPECT_EQ(!found.empty(), ptxas_merges(entry.name))
          << entry.name << (found.empty() ? ": now the same" : ": " + found[0]);
    }
  }
}

// Bytes that one run through the code moves: merging changes widths but not their sum.
int bytes_of(const Histogram& histogram, const std::string& kind) {
  int bits = 0;
  for (const auto& [name, count] : histogram) {
    if (name.starts_with(kind)) bits += count * std::stoi(name.substr(kind.size()));
  }
  return bits / 8;
}

TEST(Cubin, MergedAccessesMoveTheSameBytes) {
  for (const CodeImage* image : images_of_catalog()) {
    const CubinFile cubin = read_cubin(image->cubin);
    for (const PtxKernel& entry : count_ptx(image->ptx)) {
      if (is_by_wmma(entry.name)) continue;
      for (const std::string kind : {"LDS.", "STS.", "LDG.", "STG."}) {
        const bool is_load = kind.starts_with("LD");
        if (ptxas_parts_loops(entry.name) && is_load) continue;
        if (ptxas_joins_loads(entry.name) && kind == "LDS.") continue;
        if (ptxas_repeats_epilogue(entry.name) && kind == "STS.") continue;  // counted below
        EXPECT_EQ(bytes_of(entry.histogram, kind),
                  bytes_of(cubin.find(entry.name)->histogram, kind))
            << entry.name << " " << kind;
      }
    }
  }
}

// Vectors of D are staged again, and nothing else is.
TEST(Cubin, ARepeatedEpilogueRepeatsNothingElse) {
  int repeated = 0;
  for (const CodeImage* image : images_of_catalog()) {
    const CubinFile cubin = read_cubin(image->cubin);
    for (const PtxKernel& entry : count_ptx(image->ptx)) {
      if (!ptxas_repeats_epilogue(entry.name)) continue;
      const Histogram& machine = cubin.find(entry.name)->histogram;
      EXPECT_GT(machine.at("STS.128"), entry.histogram.at("STS.128")) << entry.name;
      for (const std::string& found : differences(entry, *cubin.find(entry.name))) {
        EXPECT_NE(found.find("STS.128:"), found.npos) << entry.name << ": " << found;
      }
      ++repeated;
    }
  }
  EXPECT_GE(repeated, 3);
}

TEST(Cubin, EveryImageSurvivesBeingTakenApartAndPutTogether) {
  for (const CodeImage* image : images_of_catalog()) {
    const auto bytes = image->cubin;
    std::vector<std::byte> file(bytes.begin(), bytes.end());
    for (const CubinKernel& entry : read_cubin(file).kernels) {
      std::vector<Instruction> code;
      for (const Instruction& instruction : entry.code) {
        code.push_back(with_control(instruction, control_of(instruction)));
      }
      std::fill_n(file.begin() + static_cast<long>(entry.code_offset), 16 * code.size(),
                  std::byte{});
      file = with_code(file, entry, code);
    }
    EXPECT_TRUE(std::equal(file.begin(), file.end(), bytes.begin(), bytes.end())) << image->name;
  }
}

std::vector<std::byte> some_cubin();

// CUDA 12 numbers its format 7 and keeps the architecture in another byte; the rest is the same.
TEST(Cubin, ReadsTheFormatOfCuda12) {
  std::vector<std::byte> file = some_cubin();
  const CubinFile now = read_cubin(file);
  file[8] = std::byte{7};
  file[48] = std::byte{90};
  file[49] = std::byte{5};
  const CubinFile old = read_cubin(file);
  EXPECT_EQ(now.abi, 8);
  EXPECT_EQ(old.abi, 7);
  EXPECT_EQ(old.sm, 90);
  EXPECT_EQ(old.kernels.size(), now.kernels.size());
  EXPECT_EQ(old.kernels[0].registers, now.kernels[0].registers);
}

std::vector<std::byte> some_cubin() {
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.name != "07_vector_access") continue;
    const auto bytes = image_of(kernel, kernel.rows.front().entry).cubin;
    return {bytes.begin(), bytes.end()};
  }
  return {};
}

TEST(Cubin, TruncatedFilesAreErrors) {
  const std::vector<std::byte> file = some_cubin();
  ASSERT_GT(file.size(), 1000u);
  EXPECT_THROW(read_cubin({}), std::runtime_error);
  for (std::size_t size = 1; size < file.size(); size += 37) {
    // A copy of just that size, so that a sanitizer sees reads behind it.
    const std::vector<std::byte> part(file.begin(), file.begin() + static_cast<long>(size));
    EXPECT_THROW(read_cubin(part), std::runtime_error) << size;
  }
}

TEST(Cubin, DamageIsAnErrorOrAnotherCubinButNeverACrash) {
  const std::vector<std::byte> file = some_cubin();
  std::mt19937 random(7);
  int errors = 0;
  for (int i = 0; i < 1500; ++i) {
    std::vector<std::byte> damaged = file;
    const std::size_t header = i % 2 ? 64 : damaged.size();  // every other one in the ELF header
    for (int flips = 0; flips < 1 + i % 8; ++flips) {
      damaged[random() % header] ^= static_cast<std::byte>(1 << random() % 8);
    }
    try {
      read_cubin(damaged);
    } catch (const std::runtime_error& error) {
      EXPECT_STRNE(error.what(), "");
      ++errors;
    }
  }
  EXPECT_GT(errors, 100);
}

TEST(Cubin, ErrorsSayWhatIsWrong) {
  const auto message = [](std::vector<std::byte> file) -> std::string {
    try {
      read_cubin(file);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "none";
  };
  std::vector<std::byte> file = some_cubin();
  file[8] = std::byte{6};
  EXPECT_EQ(message(file),
            "Not a cubin: ABI version 6; only 7 (CUDA 12) and 8 (CUDA 13) are known.");
  file[18] = std::byte{62};
  EXPECT_EQ(message(file), "Not a cubin: the machine is not CUDA.");
  file[0] = std::byte{0};
  EXPECT_EQ(message(file), "Not a cubin: no ELF64 header.");
}

}  // namespace
}  // namespace tessera::sass
