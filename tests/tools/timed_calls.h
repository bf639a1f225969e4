// Calls that programs time in turn, and the options of these programs.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "tessera/gemm.h"

namespace tessera {

struct Candidate {
  std::string name;
  std::function<void()> call;
  std::vector<double> us = {};  // of each call

  // A quantile of the times: 0.5 for the median.
  double at(double share) {
    std::sort(us.begin(), us.end());
    return us[static_cast<std::size_t>(share * static_cast<double>(us.size() - 1))];
  }
};

inline void demand(tessera_status status) {
  if (status != TESSERA_OK) throw StatusError(Status::failed(tessera_last_message()));
}

// `take(name, value)` for each pair of words of a command line; false: there is no such option.
template <class Take>
void for_each_option(int argc, char** argv, Take take) {
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw StatusError(Status::bad_argument(name + " needs a value"));
    if (!take(name, std::string(argv[i + 1]))) {
      throw StatusError(Status::bad_argument("there is no option " + name));
    }
  }
}

}  // namespace tessera
