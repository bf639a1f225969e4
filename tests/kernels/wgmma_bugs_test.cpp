// Mistakes of one line in the kernels of the wgmma family: each is planted in the PTX of a config
// that is right without it, and the virtual GPU says what is wrong, however the threads run.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "tests/kernels/wgmma_launch.h"
#include "tests/kernels/wgmma_product.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

// Rows of kWgmmaRows: stores through two panels; two CTAs that share tiles, with alternating
// warpgroups; one warpgroup; operands from registers.
constexpr int kTwoPanels = 0, kPair = 3, kOneGroup = 7, kFromRegisters = 11;
constexpr int kLast = -1;

// In the `nth` line, from 0 on, that matches.
struct Edit {
  const char* pattern;
  int nth;
  const char* put;  // in the place of the match; $1 ... are its groups
};

struct Mistake {
  const char* name;
  int row;
  std::vector<Edit> edits;
  std::vector<std::string> checks;  // one of them must report it
  bool adds = false;                // to C, which is D
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

constexpr const char* kWait = R"(mbarrier\.try_wait\.parity\S+\s+P_OUT, \[(%r\d+)\], (%r\d+);)";
// In the order that nvcc writes them: a producer's of a batch of listed matrices, of a strided
// batch, and of one product, then a consumer's.
constexpr int kOfProducer = 2, kOfConsumer = 3;
constexpr const char* kWaitForNobody = "setp.eq.u32 P_OUT, 0, 0;";
constexpr const char* kWaitForTheOtherPhase =
    "{ .reg .b32 other; xor.b32 other, $2, 1; "
    "mbarrier.try_wait.parity.shared::cta.b64 P_OUT, [$1], other; }";

std::vector<Mistake> mistakes_of_the_ring() {
  return {
      {"BarriersAreNotFencedBeforeARelaxedArrival",
       kPair,
       {{"fence.mbarrier_init.*", 0, ""},
        {"fence.proxy.async.shared.*", 0, ""},
        {"barrier.cluster.arrive.*", 0, "barrier.cluster.arrive.relaxed.aligned;"}},
       {"missing-init-fence"}},
      {"PartnersDoNotWaitForBarriers",
       kPair,
       {{"barrier.cluster.arrive.*", 0, ""}, {"barrier.cluster.wait.*", 0, ""}},
       {"missing-init-fence", "barrier", "race"}},
      {"LoadedWaitsForTwoArrivals",
       kOneGroup,
       {{R"((mbarrier.init.*\]), %r\d+;)", 0, "$1, 2;"}},
       {"deadlock"}},
      {"ConsumedWaitsForThreeOfFourWarps",
       kOneGroup,
       {{R"((mbarrier.init.*\]), %r\d+;)", 1, "$1, 3;"}},
       {"race", "deadlock", "barrier"}},
      {"ConsumedWaitsForFiveOfFourWarps",
       kOneGroup,
       {{R"((mbarrier.init.*\]), %r\d+;)", 1, "$1, 5;"}},
       {"deadlock"}},
      {"FewerBytesAreExpectedThanCome",
       kOneGroup,
       {{R"((arrive.expect_tx.*\]), %r\d+;)", kLast, "$1, 8192;"}},
       {"race", "deadlock"}},
      {"MoreBytesAreExpectedThanCome",
       kOneGroup,
       {{R"((arrive.expect_tx.*\]), %r\d+;)", kLast, "$1, 65536;"}},
       {"deadlock"}},
      {"TheProducerWaitsForNobody",
       kOneGroup,
       {{kWait, kOfProducer, kWaitForNobody}},
       {"race", "deadlock", "barrier"}},
      {"TheConsumerWaitsForNobody",
       kOneGroup,
       {{kWait, kOfConsumer, kWaitForNobody}},
       {"race", "deadlock", "barrier"}},
      {"TheProducerWaitsForTheOtherPhase",
       kOneGroup,
       {{kWait, kOfProducer, kWaitForTheOtherPhase}},
       {"deadlock"}},
      {"AStageIsNeverReleased",
       kOneGroup,
       {{"mbarrier.arrive.release.cta.*", 0, ""}},
       {"deadlock"}},
      {"OnlyOneOfTwoLoadersHearsOfARelease",
       kPair,
       {{R"((mapa.*), %r\d+;)", 0, "$1, 0;"}},
       {"race", "deadlock"}},
      {"AMulticastReachesItsSenderAlone",
       kPair,
       {{R"(\.multicast::cluster (.*), %rs\d+;)", 0, " $1;"}},
       {"deadlock"}},
      {"APartnerLeavesEarly",
       kPair,
       {{"barrier.cluster.arrive.*", kLast, ""}, {"barrier.cluster.wait.*", kLast, ""}},
       {"exited-cta", "out-of-bounds"}},
  };
}

std::vector<Mistake> mistakes_of_products() {
  return {
      {"SumsAreNotFenced", kOneGroup, {{"wgmma.fence.*", 0, ""}}, {"missing-wgmma-fence"}},
      {"AStageIsReleasedWhileItIsRead",
       kOneGroup,
       {{"(wgmma.wait_group.*) 1;", 0, "$1 7;"}},
       {"race"}},
      {"SumsAreStoredBeforeTheLastWait",
       kOneGroup,
       {{"wgmma.wait_group.* 0;", 0, ""}},
       {"wgmma-register-in-flight"}},
      {"ProductsAreNotCommitted",
       kOneGroup,
       {{"wgmma.commit_group.*", 0, ""}},
       {"race", "wgmma-register-in-flight"}},
      {"FragmentsAreNotFenced",
       kFromRegisters,
       {{"wgmma.fence.*", 1, ""}},
       {"missing-wgmma-fence"}},
      {"FragmentsAreReplacedInFlight",
       kFromRegisters,
       {{"(wgmma.wait_group.*) 1;", 0, "$1 7;"}, {"(wgmma.wait_group.*) 1;", 0, "$1 7;"}},
       {"wgmma-register-in-flight", "race"}},
      {"ATurnIsNeverPassedOn", kPair, {{R"(\tbarrier\.arrive.*)", 0, ""}}, {"deadlock"}},
      {"ATurnIsNotWaitedFor",
       kPair,
       {{R"(\tbarrier\.sync.*)", 0, ""}},
       {"race", "barrier", "deadlock"}},
  };
}

std::vector<Mistake> mistakes_of_stores() {
  return {
      {"APanelIsNotFenced",
       kOneGroup,
       {{"fence.proxy.async.shared.*", 1, ""}},
       {"missing-proxy-fence"}},
      {"APanelIsFilledWhileItLeaves",
       kOneGroup,
       {{"cp.async.bulk.wait_group.read.*", 1, ""}},
       {"race"}},
  };
}

// In one group ldmatrix reads C, and what it reads of other lanes waits for them; in a pair it is
// ordinary loads.
std::vector<Mistake> mistakes_of_adding() {
  return {
      {"CIsCopiedToAPanelThatStillLeaves",
       kOneGroup,
       {{"cp.async.bulk.wait_group.read.*", 0, ""}},
       {"race"},
       true},
      {"CopiesOfCAreNotWaitedFor", kOneGroup, {{"cp.async.wait_group.*", 0, ""}}, {"race"}, true},
      {"CopiesOfOtherLanesAreNotWaitedFor",
       kPair,
       {{"bar.warp.sync.*", 1, ""}},
       {"lockstep"},
       true},
      {"APanelOfCIsReplacedWhileItIsRead", kPair, {{"bar.warp.sync.*", 2, ""}}, {"lockstep"}, true},
      {"OneOfTwoPanelsIsNotWaitedFor",
       kTwoPanels,
       {{"(cp.async.wait_group) 1;", 0, "$1 2;"}},
       {"race"},
       true},
      {"TheLastPanelIsNotWaitedFor",
       kTwoPanels,
       {{"(cp.async.wait_group) 0;", 0, "$1 1;"}},
       {"race"},
       true},
      {"DIsCopiedToWithoutAFenceAfterC",
       kOneGroup,
       {{"fence.proxy.async.global.*", 0, ""}},
       {"missing-proxy-fence", "race"},
       true},
  };
}

std::vector<Mistake> all_mistakes() {
  std::vector<Mistake> all;
  for (const auto& some : {mistakes_of_the_ring(), mistakes_of_products(), mistakes_of_stores(),
                           mistakes_of_adding()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The PTX of one entry: without the others it is parsed quickly.
std::vector<std::string> lines_of_entry(int row) {
  const std::string begin = ".visible .entry wgmma_" + std::to_string(row) + "(";
  std::vector<std::string> kept;
  bool is_kept = true;
  for (const std::string& line : lines_of(kernel_image("wgmma_gemm").ptx)) {
    if (line.starts_with(".visible .entry ")) is_kept = line == begin;
    if (line.starts_with("\t.file")) is_kept = true;  // the names that debug lines use
    if (is_kept) kept.push_back(line);
  }
  return kept;
}

// False where nothing matches.
bool apply(const Edit& edit, std::vector<std::string>& lines) {
  const std::regex pattern(edit.pattern);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (std::regex_search(lines[i], pattern)) found.push_back(i);
  }
  const std::size_t nth = edit.nth == kLast ? found.size() - 1 : edit.nth;
  if (nth >= found.size()) return false;
  std::string& line = lines[found[nth]];
  line = std::regex_replace(line, pattern, edit.put, std::regex_constants::format_first_only);
  return true;
}

// Kept for as long as the program runs: devices know an image by where its text is.
const std::string& text_with(const Mistake& mistake) {
  static std::map<std::string, std::string> texts;
  std::string& text = texts[mistake.name + std::to_string(mistake.row)];
  if (!text.empty()) return text;
  std::vector<std::string> lines = lines_of_entry(mistake.row);
  for (const Edit& edit : mistake.edits) {
    EXPECT_TRUE(apply(edit, lines)) << "no line for " << edit.pattern;
  }
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// More k tiles than stages, more tiles than CTAs, and nothing whole.
std::vector<vgpu::Finding> findings_of(const Mistake& mistake,
                                       const vgpu::Observation& observation) {
  const int row = mistake.row;
  Device& device = test_device();
  const wgmma::Config& config = kWgmmaRows[row].config;
  ProductCase ragged{
      {config.block.m * config.cluster.m + 24, config.block.n * config.cluster.n + 40,
       config.block.k * (config.stages + 1) + 8},
      1,
      mistake.adds ? 1.F : 0.F};
  ragged.in_place = mistake.adds;
  const Product product(device, config, ragged);
  const DeviceBytes out(device, product.before());
  const Launch launch = wgmma_launch("wgmma_" + std::to_string(row), config, product.params(out),
                                     {.group = 2, .along_m = true, .ctas = config.ctas()});
  observe(device, observation);
  const CodeImage image{.name = mistake.name, .ptx = text_with(mistake), .cubin_arch = "sm_90a"};
  return launch_and_check(device, device.load(image), launch);
}

class WgmmaMistake : public testing::TestWithParam<Mistake> {};

TEST_P(WgmmaMistake, IsReported) {
  if (test_on_cuda()) GTEST_SKIP() << "broken kernels run on the virtual GPU";
  const Mistake& mistake = GetParam();
  const std::vector<vgpu::Observation> all = checked_schedules();
  for (const vgpu::Observation& observation : {all.front(), all.back()}) {  // eager, lazy
    const auto findings = findings_of(mistake, observation);
    EXPECT_TRUE(std::ranges::any_of(findings,
                                    [&](const vgpu::Finding& finding) {
                                      return std::ranges::count(mistake.checks, finding.check) > 0;
                                    }))
        << name_of(observation) << ": " << mistake.checks.front() << " was expected; found:\n"
        << described(findings);
  }
}

INSTANTIATE_TEST_SUITE_P(All, WgmmaMistake, testing::ValuesIn(all_mistakes()),
                         [](const testing::TestParamInfo<Mistake>& info) {
                           return std::string(info.param.name);
                         });

// What is planted is all that is wrong.
TEST(WgmmaMistakes, WithoutThemNothingIsReported) {
  if (test_on_cuda()) GTEST_SKIP() << "the virtual GPU's findings";
  for (const Mistake& none :
       {Mistake{"none in a pair", kPair, {}, {}}, Mistake{"none in one group", kOneGroup, {}, {}},
        Mistake{"none from registers", kFromRegisters, {}, {}},
        Mistake{"none in adding", kOneGroup, {}, {}, true},
        Mistake{"none in two panels", kTwoPanels, {}, {}, true}}) {
    EXPECT_EQ(described(findings_of(none, checked_schedules().front())), "") << none.name;
  }
  EXPECT_GE(all_mistakes().size(), 20u);
}

}  // namespace
}  // namespace tessera
