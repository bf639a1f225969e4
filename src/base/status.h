// The one status type. Its message is one sentence that names the argument, its value and the rule
// that it breaks. Inside the library a status that is not ok is thrown as StatusError; the command
// line and the C API turn it back into a value. Nothing aborts.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace tessera {

enum class StatusCode {
  kOk,
  kBadArgument,  // the caller's fault: exit code 2
  kUnavailable,  // no GPU, no library, driver too old, not enough memory: exit code 2
  kUnsupported,  // this kernel does not support this problem; reported before launch
  kFailed,       // a check failed (verification, a fault on the virtual GPU): exit code 1
};

struct Status {
  StatusCode code = StatusCode::kOk;
  std::string message;

  bool ok() const { return code == StatusCode::kOk; }
  static Status bad_argument(std::string m) { return {StatusCode::kBadArgument, std::move(m)}; }
  static Status unavailable(std::string m) { return {StatusCode::kUnavailable, std::move(m)}; }
  static Status unsupported(std::string m) { return {StatusCode::kUnsupported, std::move(m)}; }
  static Status failed(std::string m) { return {StatusCode::kFailed, std::move(m)}; }
};

class StatusError : public std::runtime_error {
 public:
  explicit StatusError(Status status)
      : std::runtime_error(status.message), status_(std::move(status)) {}
  const Status& status() const { return status_; }

 private:
  Status status_;
};

// Throws StatusError unless the status is ok.
inline void require(Status status) {
  if (!status.ok()) throw StatusError(std::move(status));
}

}  // namespace tessera
