#include "vgpu/observe/count/sectors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "vgpu/observe/count/bank_model.h"

namespace tessera::vgpu {
namespace {

constexpr std::uint64_t kLinesATagWavefront = 4;

// Counts sectors of ranges of bytes, which must be added in ascending order without overlap.
class Sectors {
 public:
  void add(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t at = begin; at < end;) {
      const std::uint64_t sector = at / kSectorBytes;
      const std::uint64_t stop = std::min(end, (sector + 1) * kSectorBytes);
      if (sector != sector_) open(sector);
      filled_ += stop - at;
      at = stop;
    }
    request_.counts.distinct_bytes += end - begin;
  }

  Request finish() && {
    close();
    request_.counts.tag_wavefronts =
        (request_.counts.lines + kLinesATagWavefront - 1) / kLinesATagWavefront;
    return std::move(request_);
  }

 private:
  void open(std::uint64_t sector) {
    close();
    const std::uint64_t line = sector * kSectorBytes / kLineBytes;
    request_.counts.lines += line != line_;
    line_ = line;
    sector_ = sector;
    ++request_.counts.sectors;
    const auto at = static_cast<std::int64_t>(sector);
    if (!request_.runs.empty() && request_.runs.back().first + request_.runs.back().count == at) {
      ++request_.runs.back().count;
    } else {
      request_.runs.push_back({at, 1});
    }
  }
  void close() {
    if (sector_ != kNone && filled_ < kSectorBytes) ++request_.counts.partial_sectors;
    filled_ = 0;
  }

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  Request request_;
  std::uint64_t sector_ = kNone, line_ = kNone, filled_ = 0;
};

}  // namespace

Request count_request(const LaneAccess& access) {
  std::array<std::uint64_t, 32> begins;
  auto last = begins.begin();
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    *last++ = access.address[std::countr_zero(left)];
  }
  std::sort(begins.begin(), last);
  const auto distinct_end = std::unique(begins.begin(), last);
  Sectors sectors;
  for (auto at = begins.begin(); at != distinct_end; ++at) sectors.add(*at, *at + access.bytes);
  Request request = std::move(sectors).finish();
  request.counts.data_wavefronts = std::max(
      request.counts.tag_wavefronts, count_banks(BankModel::kPlain, access, false).wavefronts);
  request.counts.requests = 1;
  request.counts.lanes = static_cast<std::uint64_t>(std::popcount(access.mask));
  request.counts.requested_bytes = request.counts.lanes * access.bytes;
  return request;
}

Request count_span(std::uint64_t address, std::uint64_t bytes) {
  Sectors sectors;
  sectors.add(address, address + bytes);
  Request request = std::move(sectors).finish();
  request.counts.requested_bytes = bytes;
  return request;
}

}  // namespace tessera::vgpu
