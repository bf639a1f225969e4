// tex: finds the texels of the coordinates, and computes the results from the texels. The rules are
// those of the CUDA programming guide, "Texture Fetching".
#include "vgpu/exec/texture/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "vgpu/async/site.h"
#include "vgpu/exec/warp/warp.h"

namespace tessera::vgpu {
namespace {

constexpr int kMostTexels = 8;  // one fetch reads at most two texels in each of three dimensions
using Channels = std::array<std::uint32_t, 4>;

float half_value(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits} >> 15 << 31, exponent = bits >> 10 & 31;
  const std::uint32_t fraction = bits & 1023;
  if (exponent == 0) {
    const float tiny = std::ldexp(static_cast<float>(fraction), -24);
    return sign ? -tiny : tiny;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

// Returns the bits of one channel for the destination register: those of a float if the texture
// holds floats or normalised integers, else those of an integer.
std::uint32_t channel_value(const Texture& texture, const std::byte* from) {
  const auto read = [&](auto value) {
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  const auto whole = [&](auto value, float most) {
    if (!texture.as_fraction) return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    return std::bit_cast<std::uint32_t>(std::max(static_cast<float>(value) / most, -1.0f));
  };
  switch (texture.type) {
    case TexelType::kU8:
      return whole(read(std::uint8_t{}), 255);
    case TexelType::kS8:
      return whole(read(std::int8_t{}), 127);
    case TexelType::kU16:
      return whole(read(std::uint16_t{}), 65535);
    case TexelType::kS16:
      return whole(read(std::int16_t{}), 32767);
    case TexelType::kF16:
      return std::bit_cast<std::uint32_t>(half_value(read(std::uint16_t{})));
    default:
      return read(std::uint32_t{});
  }
}

bool is_float(const Texture& texture) {
  return texture.type >= TexelType::kF16 || texture.as_fraction;
}

// Returns all four channels of a texel. Of the channels that the texture lacks, the second and the
// third are 0, and the fourth is 1.
Channels texel_value(const Texture& texture, const std::byte* from) {
  Channels value = {0, 0, 0, is_float(texture) ? std::bit_cast<std::uint32_t>(1.0f) : 1};
  for (std::uint32_t c = 0; c < texture.channels; ++c) {
    value[c] = channel_value(texture, from + c * bytes_of(texture.type));
  }
  return value;
}

// Returns the index of the texel to read, by the addressing mode if `index` is outside the texture;
// nullopt if the border is read.
std::optional<std::int64_t> inside(const Texture& texture, std::int64_t index,
                                   std::int64_t extent) {
  if (index >= 0 && index < extent) return index;
  // Unnormalised coordinates never wrap: the driver replaces the wrap and mirror modes by clamp.
  const bool repeats = texture.normalised && texture.outside >= TextureAddress::kWrap;
  if (texture.outside == TextureAddress::kBorder) return std::nullopt;
  if (!repeats) return index < 0 ? 0 : extent - 1;
  const std::int64_t period = texture.outside == TextureAddress::kMirror ? 2 * extent : extent;
  const std::int64_t at = (index % period + period) % period;
  return at < extent ? at : period - 1 - at;
}

// The texels next to a coordinate in one dimension, and their weights.
struct Neighbours {
  int count = 1;
  std::array<std::int64_t, 2> index = {};
  std::array<float, 2> weight = {1, 0};
};

Neighbours neighbours(const Texture& texture, float coordinate, std::uint32_t extent) {
  double place = coordinate;
  if (texture.normalised) place *= extent;
  if (std::isnan(place)) place = 0;
  place = std::clamp(place, -1e9, 1e9);
  Neighbours all;
  if (!texture.filters) {
    all.index[0] = static_cast<std::int64_t>(std::floor(place));
    return all;
  }
  // HW: the weight has 8 fractional bits (CUDA programming guide, linear filtering). Rounding it to
  // nearest is a model.
  const double steps = std::floor((place - 0.5) * 256 + 0.5);
  const double below = std::floor(steps / 256);
  const auto weight = static_cast<float>(steps / 256 - below);
  all.count = 2;
  all.index = {static_cast<std::int64_t>(below), static_cast<std::int64_t>(below) + 1};
  all.weight = {1 - weight, weight};
  return all;
}

// The texels that one lane reads: their addresses and weights. The address of a border texel is 0.
struct Fetch {
  int count = 0;
  bool filters = false;
  std::array<std::uint64_t, kMostTexels> address = {};  // 0: border
  std::array<float, kMostTexels> weight = {};
};

class Fetcher {
 public:
  Fetcher(Lanes& lanes, const Op& op) : lanes_(lanes), op_(op) {}

  void run() {
    for_each_lane(lanes_.mask, [&](int lane) { find(lane); });
    tell();
    for_each_lane(lanes_.mask, [&](int lane) { read(lane); });
  }

 private:
  int rank() const { return static_cast<int>(op_.flags >> kTextureRankShift); }

  void find(int lane) {
    const Site site = site_of(lanes_, op_, lane);
    const std::uint64_t handle = register_of<std::uint64_t>(lanes_, op_, 4, lane);
    Texture& texture = texture_[lane];
    constexpr const char* kNone = "there is no texture object at this handle";
    if (handle == 0 || handle % alignof(Texture) != 0) {
      site.fault_at(FaultKind::kOutOfBounds, kNone, handle);
    }
    std::memcpy(&texture, global_place(site, handle, sizeof texture, alignof(Texture)),
                sizeof texture);
    if (texture.magic != kTextureMagic) site.fault_at(FaultKind::kOutOfBounds, kNone, handle);
    if (texture.rank != rank()) {
      site.fault(FaultKind::kOutOfBounds, std::to_string(rank()) +
                                              " coordinates for a texture of " +
                                              std::to_string(texture.rank) + " dimensions");
    }
    if (is_float(texture) != ((op_.flags & kFloatResults) != 0)) {
      site.fault(FaultKind::kMisaligned, is_float(texture)
                                             ? "a texture of floats is read as integers"
                                             : "a texture of integers is read as floats");
    }
    Fetch& fetch = fetch_[lane];
    fetch = {};
    std::array<Neighbours, kTextureRank> at;
    for (int d = 0; d < rank(); ++d)
      at[static_cast<std::size_t>(d)] = in_dimension(texture, d, lane);
    fetch.filters = at[0].count == 2;
    for (int z = 0; z < at[2].count; ++z) {
      for (int y = 0; y < at[1].count; ++y) {
        for (int x = 0; x < at[0].count; ++x) add(texture, at, {x, y, z}, fetch);
      }
    }
  }

  Neighbours in_dimension(const Texture& texture, int d, int lane) const {
    if ((op_.flags & kIntegerCoordinates) == 0) {
      return neighbours(texture, register_of<float>(lanes_, op_, 5 + d, lane), texture.extents[d]);
    }
    Neighbours one;
    one.index[0] = register_of<std::int32_t>(lanes_, op_, 5 + d, lane);
    return one;
  }

  void add(const Texture& texture, const std::array<Neighbours, kTextureRank>& at,
           const std::array<int, kTextureRank>& corner, Fetch& fetch) const {
    std::int64_t texel = 0, row = 1;
    float weight = 1;
    bool is_border = false;
    for (std::size_t d = 0; d < static_cast<std::size_t>(rank()); ++d) {
      const auto which = static_cast<std::size_t>(corner[d]);
      const std::int64_t index = at[d].index[which], extent = texture.extents[d];
      // HW: in every addressing mode, a fetch by integer coordinates outside the texture returns
      // zeros.
      const bool by_integers = (op_.flags & kIntegerCoordinates) != 0;
      const auto place = by_integers && (index < 0 || index >= extent)
                             ? std::nullopt
                             : inside(texture, index, extent);
      is_border |= !place;
      texel += place.value_or(0) * row;
      row *= extent;
      weight *= at[d].weight[which];
    }
    const auto k = static_cast<std::size_t>(fetch.count++);
    const std::uint32_t bytes = bytes_of(texture.type) * texture.channels;
    fetch.address[k] = is_border ? 0 : texture.address + static_cast<std::uint64_t>(texel) * bytes;
    fetch.weight[k] = weight;
  }

  // Reports the fetch to the observer as loads from global memory, one load per texel.
  void tell() const {
    if (!lanes_.observer) return;
    for (std::size_t k = 0; k < kMostTexels; ++k) {
      std::uint32_t mask = 0;
      alignas(64) std::uint64_t address[kLanes];
      for_each_lane(lanes_.mask, [&](int lane) {
        const bool reads = static_cast<int>(k) < fetch_[lane].count && fetch_[lane].address[k] != 0;
        mask |= static_cast<std::uint32_t>(reads) << lane;
      });
      if (mask == 0) continue;
      const int first = __builtin_ctz(mask);
      for (int lane = 0; lane < kLanes; ++lane) {
        address[lane] = fetch_[mask >> lane & 1 ? lane : first].address[k];
      }
      WarpAccess access;
      access.by = lanes_.warp->actor(op_, mask);
      access.window = Window::kGlobal;
      access.bytes =
          static_cast<std::uint8_t>(bytes_of(texture_[first].type) * texture_[first].channels);
      access.address = address;
      lanes_.observer->access(access);
    }
  }

  void read(int lane) {
    const Site site = site_of(lanes_, op_, lane);
    const Texture& texture = texture_[lane];
    const Fetch& fetch = fetch_[lane];
    const std::uint32_t bytes = bytes_of(texture.type) * texture.channels;
    std::array<float, 4> sum = {};
    Channels value = {};
    for (std::size_t k = 0; k < static_cast<std::size_t>(fetch.count); ++k) {
      value = {};
      if (fetch.address[k] != 0) {
        value = texel_value(texture,
                            global_place(site, fetch.address[k], bytes, bytes_of(texture.type)));
      }
      for (std::size_t c = 0; c < 4; ++c) {
        sum[c] += fetch.weight[k] * std::bit_cast<float>(value[c]);
      }
    }
    for (int c = 0; c < 4; ++c) {
      const auto at = static_cast<std::size_t>(c);
      register_of<std::uint32_t>(lanes_, op_, c, lane) =
          fetch.filters ? std::bit_cast<std::uint32_t>(sum[at]) : value[at];
    }
  }

  Lanes& lanes_;
  const Op& op_;
  std::array<Texture, kLanes> texture_;
  std::array<Fetch, kLanes> fetch_;
};

}  // namespace

void texture_fetch(const Op* first, const Op* last, Lanes& lanes) {
  for (; first != last; ++first) Fetcher(lanes, *first).run();
}

}  // namespace tessera::vgpu
