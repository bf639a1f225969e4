// How plans say which tiles are whole and which are split: "1848 tiles, 200 tiles split in 264
// runs".
#pragma once

#include <string>

#include "kernels/schedule/stream_k.h"

namespace tessera::gemm {

inline std::string tiles_text(int count) {
  return std::to_string(count) + (count == 1 ? " tile" : " tiles");
}

inline std::string schedule_text(const schedule::StreamK& s) {
  const std::string whole = s.whole_tiles == 0 ? "" : tiles_text(s.whole_tiles);
  if (s.split_tiles() == 0) return whole;
  return whole + (whole.empty() ? "" : ", ") + tiles_text(s.split_tiles()) + " split in " +
         std::to_string(s.runs) + " runs";
}

}  // namespace tessera::gemm
