// A cache of compiled PTX: a file is compiled again only if the file, or a header that it includes,
// has changed. The folder is TESSERA_CACHE, else XDG_CACHE_HOME/tessera, else ~/.cache/tessera;
// TESSERA_CACHE=off turns the cache off. If anything goes wrong with the cache, the file is
// compiled as if the cache were off.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tessera::checking {

class CompiledCache {
 public:
  // `words` are the words of the compiler's command line.
  explicit CompiledCache(const std::vector<std::string>& words);
  std::optional<std::string> find() const;
  // Stores the PTX. `rule` is what the compiler wrote with -MD: it names all files that were read.
  void keep(const std::string& ptx, const std::string& rule) const;

 private:
  std::string path_;  // empty: there is no cache
};

}  // namespace tessera::checking
