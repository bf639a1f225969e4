#include "vgpu/observe/count/bank_model.h"

#include <algorithm>
#include <array>

namespace tessera::vgpu {
namespace {

constexpr int kWarp = 32;
constexpr std::uint32_t kBanks = 32;

// The distinct words of one pass, by bank. A pass of 128 bytes has 32 words. A merged pass should
// not have more distinct words, but this is not guaranteed, so there is room for twice as many.
class Banks {
 public:
  void add(std::uint64_t word) {
    const auto bank = static_cast<std::size_t>(word % kBanks);
    const auto begin = words_[bank].begin(), end = begin + count_[bank];
    if (std::find(begin, end, word) == end) words_[bank][count_[bank]++] = word;
  }
  std::uint32_t busiest() const { return *std::max_element(count_.begin(), count_.end()); }

 private:
  std::array<std::array<std::uint64_t, 2 * kWarp>, kBanks> words_;
  std::array<std::uint32_t, kBanks> count_{};
};

// Returns the wavefronts of lanes [first, first + lanes); 0 if none of these lanes is active.
std::uint32_t wavefronts(const LaneAccess& access, int first, int lanes) {
  Banks banks;
  for (int l = first; l < first + lanes; ++l) {
    if (!(access.mask >> l & 1)) continue;
    const std::uint64_t begin = access.address[l] / kWordBytes;
    const std::uint64_t end = (access.address[l] + access.bytes - 1) / kWordBytes;
    for (std::uint64_t word = begin; word <= end; ++word) banks.add(word);
  }
  return banks.busiest();
}

// Whether every active lane has the address of the lane whose number differs in this bit, if that
// lane is active.
bool agree(const LaneAccess& access, int bit) {
  for (int l = 0; l < kWarp; ++l) {
    const bool both = (access.mask >> l & 1) && (access.mask >> (l ^ bit) & 1);
    if (both && access.address[l] != access.address[l ^ bit]) return false;
  }
  return true;
}

}  // namespace

int lanes_together(BankModel model, const LaneAccess& access, bool merges) {
  const int lanes = kWarp / static_cast<int>(std::max(access.bytes / kWordBytes, 1u));
  // HW: NVIDIA developer forum, thread 77228, on compute capability 7.0 to 7.5: if lanes agree in
  // pairs, their registers are returned packed, two per cycle. An H200 does this for loads of 64
  // and 128 bits in every pattern that tools/calibrate tries, and for no store
  // (results/calibration/h200_calibration.json).
  const bool is_wide = lanes < kWarp;
  const bool pairs = model == BankModel::kPair && merges && is_wide;
  return pairs && (agree(access, 1) || agree(access, 2)) ? 2 * lanes : lanes;
}

BankCounts count_banks(BankModel model, const LaneAccess& access, bool merges) {
  const int lanes = lanes_together(model, access, merges);
  BankCounts counts;
  for (int first = 0; first < kWarp; first += lanes) {
    const std::uint32_t taken = wavefronts(access, first, lanes);
    counts.passes += taken != 0;
    counts.wavefronts += taken;
  }
  return counts;
}

}  // namespace tessera::vgpu
