// Each config of each kernel meets, in every layout that it takes: whole tiles at aligned bases and
// rows, several iterations past the depth of its ring; ragged tiles; operands that are misaligned,
// one by one; alpha and beta other than 0 and 1. A table counts which of these ran, and a config
// with an empty cell fails.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "gemm/plan/plan.h"
#include "lab/verify/verify.h"
#include "tests/support/kernel_choice.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

enum Path { kWholeAligned, kPastTheRing, kRagged, kMisaligned, kAlphaAndBeta, kPaths };
constexpr std::array<const char*, kPaths> kNames = {"whole tiles, aligned", "past the ring",
                                                    "ragged tiles", "misaligned operands",
                                                    "alpha and beta"};

// "128x256x64_s4": the depth of its ring; 12, the deepest of all, where it names none.
int stages_of(const std::string& variant) {
  const std::size_t at = variant.find("_s");
  const int named = at == variant.npos ? 0 : std::atoi(variant.c_str() + at + 2);
  return named > 0 ? named : 12;
}

struct Asked {
  Problem problem;
  lab::Misalign misalign;
};

bool is_of_integers(const Kernel& kernel) { return !is_float(kernel.types.d); }

// Row-major, so that the kernel's rows are those of D.
Asked whole_tiles(const KernelRow& row, const Kernel& kernel, const char* layout) {
  Problem p{.m = row.block.m,
            .n = kernel.family == "vector" ? 1 : row.block.n,
            .k = (stages_of(row.variant) + 2) * row.block.k,
            .types = kernel.types,
            .order = Order::kRowMajor,
            .alpha = is_of_integers(kernel) ? -2 : -1.5,
            .beta = is_of_integers(kernel) ? 3 : 0.5};
  set_layout(p, layout);
  return {with_default_ld(p), {}};
}

// Rungs from 34 on, but 43: rows and bases of A and B at multiples of 16 bytes.
bool needs_alignment(const Kernel& kernel) {
  return kernel.family == "warpgroups" && kernel.rows.front().repack_entry.empty();
}

Asked ragged_tiles(const KernelRow& row, const Kernel& kernel, const char* layout, int i) {
  Problem p{.m = row.block.m + 3,
            .n = kernel.family == "vector" ? 1 : row.block.n / 2 + 5,
            .k = row.block.k + 7,
            .types = kernel.types,
            .order = Order::kRowMajor,
            .alpha = 2,
            .beta = -1};
  set_layout(p, layout);
  p = with_default_ld(p);
  p.ldb += 1, p.ldd += 3;
  if (needs_alignment(kernel)) {
    for (std::int64_t* ld : {&p.lda, &p.ldb}) *ld = (*ld + 7) / 8 * 8;
    return {p, {0, 0, 0, 1 + i}};
  }
  constexpr lab::Misalign kOne[] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 1}, {1, 3, 0, 2}};
  return {p, kOne[i]};
}

// What ran; a layout that the kernel refuses by name counts as refused.
struct Cells {
  std::array<int, kPaths> ran = {}, refused = {};
};

bool is_refused(const Asked& asked, const KernelChoice& choice) {
  try {
    gemm::plan(asked.problem, {}, gemm::limits_of(test_device().info()), {.kernel = choice});
    return false;
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kUnsupported) << error.what();
    EXPECT_NE(error.status().message.find(choice.kernel->name), std::string::npos) << error.what();
    return true;
  }
}

std::vector<Path> paths_of(const Asked& asked, const KernelRow& row) {
  const Problem& p = asked.problem;
  std::vector<Path> paths;
  const bool is_vector = p.n == 1;
  const bool is_whole =
      p.m % row.block.m == 0 && (is_vector || p.n % row.block.n == 0) && p.k % row.block.k == 0;
  if (is_whole && !asked.misalign.any()) paths.push_back(kWholeAligned);
  if (p.k > stages_of(row.variant) * row.block.k) paths.push_back(kPastTheRing);
  if (!is_whole) paths.push_back(kRagged);
  if (asked.misalign.any()) paths.push_back(kMisaligned);
  const auto is_plain = [](double value) { return value == 0 || value == 1; };
  if (!is_plain(p.alpha) && !is_plain(p.beta)) paths.push_back(kAlphaAndBeta);
  return paths;
}

class Coverage : public testing::TestWithParam<KernelChoice> {
 protected:
  const Kernel& kernel() const { return *GetParam().kernel; }

  void ask(const Asked& asked, const KernelRow& row, Cells& cells) const {
    const bool refused = is_refused(asked, GetParam());
    for (const Path path : paths_of(asked, row)) ++(refused ? cells.refused : cells.ran)[path];
    if (refused) return;
    const lab::VerifyResult result =
        lab::verify(test_device(), GetParam(), asked.problem, {.misalign = asked.misalign});
    EXPECT_TRUE(result.ok()) << layout_of(asked.problem) << " " << asked.problem.m << " x "
                             << asked.problem.n << " x " << asked.problem.k << ", misaligned by "
                             << text_of(asked.misalign) << ": " << result.reason;
  }
};

TEST_P(Coverage, HasNoEmptyCell) {
  const KernelRow& row = rows_of(kernel(), GetParam().variant).front();
  Cells cells;
  int i = 0;
  for (const char* layout : kLayouts) {
    Cells of_layout;
    ask(whole_tiles(row, kernel(), layout), row, of_layout);
    ask(ragged_tiles(row, kernel(), layout, i++), row, of_layout);
    for (int path = 0; path < kPaths; ++path) {
      EXPECT_GT(of_layout.ran[path] + of_layout.refused[path], 0)
          << layout << ": " << kNames[path] << " is an empty cell";
      cells.ran[path] += of_layout.ran[path];
      cells.refused[path] += of_layout.refused[path];
    }
  }
  for (int path = 0; path < kPaths; ++path) {
    EXPECT_GT(cells.ran[path], 0) << kNames[path] << " ran in no layout";
    std::printf("%s/%s: %s: %d ran, %d refused\n", kernel().name.c_str(),
                GetParam().variant.c_str(), kNames[path], cells.ran[path], cells.refused[path]);
  }
}

std::vector<KernelChoice> configs() {
  std::vector<KernelChoice> all = choose_kernels("all/all");
  std::erase_if(all, [](const KernelChoice& choice) { return choice.kernel->is_patched(); });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Catalog, Coverage, testing::ValuesIn(configs()), test_name);

// The table itself: what a case counts for.
TEST(CoveragePaths, AreOfTheCase) {
  const Kernel& kernel = *choose_kernels("12").front().kernel;
  const KernelRow& row = kernel.rows.front();
  Asked whole = whole_tiles(row, kernel, "NT");
  EXPECT_EQ(paths_of(whole, row), (std::vector<Path>{kWholeAligned, kPastTheRing, kAlphaAndBeta}));
  whole.misalign = {0, 0, 0, 1};
  whole.problem.beta = 1;
  EXPECT_EQ(paths_of(whole, row), (std::vector<Path>{kPastTheRing, kMisaligned}));
  EXPECT_EQ(paths_of(ragged_tiles(row, kernel, "NN", 0), row),
            (std::vector<Path>{kRagged, kMisaligned, kAlphaAndBeta}));
  EXPECT_EQ(stages_of("128x256x64_s4_coop"), 4);
  EXPECT_EQ(stages_of("128x128"), 12);
}

}  // namespace
}  // namespace tessera
