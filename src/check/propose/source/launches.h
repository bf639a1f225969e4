// Finds the launches of a program's kernels: by <<<>>> and by functions of the runtime.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "check/words/tokens.h"

namespace tessera::checking {

class HostSource;

struct LaunchSite {
  std::string kernel;
  std::vector<TokenRange> template_arguments, arguments;
  std::vector<TokenRange> shape;    // grid, block, bytes of shared memory; empty words: not told
  std::vector<TokenRange> cluster;  // extents of the cluster, if the launch has one
  const Token* at = nullptr;
  // The call of the surrounding function that names the kernel; null if the launch itself names the
  // kernel.
  const Token* call = nullptr;
  bool has_arguments_of_call = false;  // the launch's arguments are words of `call`
  std::string by;                      // "cudaLaunchKernel"; empty: <<<>>>
  int line = 0;
  std::string file;

  std::string text() const;  // "add<<<(n + 255) / 256, 256>>>"
};

// Returns the launches in this source. `made` keeps words that are put together for launches.
std::vector<LaunchSite> find_launches(const HostSource& source,
                                      std::deque<std::vector<Token>>& made);

}  // namespace tessera::checking
