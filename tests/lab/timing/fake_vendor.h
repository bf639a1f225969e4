// A vendor's library for testing the lab itself: its calls take a known time and compute nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/timing/vendor.h"
#include "tests/lab/timing/fake_device.h"

namespace tessera::lab {

// Candidate i takes milliseconds[i] of the fake device's clock; a negative time is a call that
// fails.
class FakeVendor : public Vendor {
 public:
  FakeVendor(FakeDevice& device, std::vector<double> milliseconds)
      : device_(device), milliseconds_(std::move(milliseconds)) {}
  std::string version() const override { return "fake 1.0"; }
  std::int64_t workspace_bytes() const override { return 12345; }
  std::vector<VendorCall> calls(const Problem& problem) override {
    std::vector<VendorCall> out;
    for (std::size_t i = 0; i < milliseconds_.size(); ++i) {
      const double ms = milliseconds_[i];
      const auto call = [this, ms](const Operands&) {
        if (ms < 0) throw StatusError(Status::unavailable("status 15"));
        device_.advance(ms);
      };
      out.push_back({"candidate " + std::to_string(i), i == 0 && problem.beta != 0, i == 0, call});
    }
    return out;
  }

 private:
  FakeDevice& device_;
  std::vector<double> milliseconds_;
};

}  // namespace tessera::lab
