// PTX of earlier calls: a file is compiled again only if it, or a header that it includes, has
// changed. In TESSERA_CACHE, else XDG_CACHE_HOME/tessera, else ~/.cache/tessera; TESSERA_CACHE=off
// turns it off. If anything goes wrong with the cache, the file is compiled as if there were none.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tessera::checking {

class CompiledCache {
 public:
  // The words of the compiler's call.
  explicit CompiledCache(const std::vector<std::string>& words);
  std::optional<std::string> find() const;
  // `rule`: what the compiler wrote with -MD, which names all the files that it read.
  void keep(const std::string& ptx, const std::string& rule) const;

 private:
  std::string path_;  // empty: there is no cache
};

}  // namespace tessera::checking
