// A table of costs whose numbers can be set by name. A fit varies them, and read() sets them from a
// file with a table other than the library's.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gemm/cost/cost_table.h"

namespace tessera::lab {

class TunableTable {
 public:
  // Starts as a copy of `from`.
  explicit TunableTable(const gemm::CostTable& from);
  TunableTable(const TunableTable&) = delete;
  TunableTable& operator=(const TunableTable&) = delete;

  // Sets a coefficient, "wgmma.start", or a rate, "wgmma_bf16/128x256x64_s4_coop". Throws
  // kBadArgument.
  void set(const std::string& name, double value);
  // Sets all numbers of a file such as src/gemm/cost/tuning/h100.inc. Throws a kBadArgument that
  // names `option`.
  void read(const std::string& path, const std::string& option);

  const std::vector<std::string>& names() const { return names_; }
  double value(const std::string& name) const { return *places_.at(name); }
  const gemm::CostTable& table() const { return table_; }

 private:
  void add(const std::string& name, double& place);

  std::vector<gemm::Rate> rates_;
  gemm::CostTable table_;
  std::vector<std::string> names_;
  std::map<std::string, double*> places_;
};

}  // namespace tessera::lab
